/** Details of cases that we do not follow, each with the reason. Everything else of such a case is compared as usual. */

export interface Disputed {
  readonly file: string;
  readonly id: string;
  /** Members of the details that are not compared. */
  readonly details: readonly string[];
  readonly reason: string;
}

export const disputed: readonly Disputed[] = [
  {
    file: 'task_completion',
    id: 'more-verdicts',
    details: ['completed'],
    reason:
      'The original counts three completed tasks of one asked task. The recommended result of extra-verdict-masks counts only the first verdict for each asked task, and both cannot hold: three verdicts on one task complete one task.',
  },
  {
    file: 'tool_argument_hallucination',
    id: 'more-verdicts',
    details: ['grounded'],
    reason:
      'The original counts two grounded calls where one was made. Verdicts belong to calls here, so that two verdicts on one call ground one call; the score is the same.',
  },
];
