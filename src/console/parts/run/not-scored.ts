/** Why an evaluator has no verdict on a run, and what would bring one. */

export interface RunDecision {
  readonly name: string;
  readonly evaluator: string;
  readonly decision: string;
  readonly reason: string | null;
  readonly missing?: { readonly name: string; readonly todo: string | null; readonly places: readonly string[] } | null;
}

export interface NotScored {
  readonly name: string;
  readonly evaluator: string;
  /** One or two words. */
  readonly word: string;
  readonly reason: string;
  /** `undefined` when there is nothing to do. */
  readonly todo: string | undefined;
  /** Places where the spans would carry the missing data. */
  readonly places: readonly string[];
}

/** Decisions without a scored verdict, those with something to do first. `explanations`: of verdicts, by name. */
export function notScored(decisions: readonly RunDecision[], explanations: ReadonlyMap<string, string>): readonly NotScored[] {
  return decisions
    .flatMap((one) => (one.decision === 'scored' ? [] : [entryOf(one, explanations.get(one.name) ?? '')]))
    .toSorted((one, other) => Number(other.todo !== undefined) - Number(one.todo !== undefined));
}

function entryOf({ name, evaluator, decision, reason, missing }: RunDecision, explanation: string): NotScored {
  const text = textOf(decision, reason ?? '');
  const whole = explanation.trim() === '' ? text.reason : explanation;
  return { name, evaluator, word: text.word, reason: whole, todo: missing?.todo ?? text.todo, places: missing?.places ?? [] };
}

interface Text {
  readonly word: string;
  readonly reason: string;
  readonly todo?: string | undefined;
}

function textOf(decision: string, reason: string): Text {
  switch (decision) {
    case 'skipped':
      return {
        word: 'skipped',
        ...((Object.hasOwn(skipped, reason) ? skipped[reason] : undefined) ?? { reason: `The evaluator skipped the run: ${reason}.` }),
      };
    case 'filtered':
      return { word: 'not for this run', reason: 'The entry of the evaluator has a condition (when), and the run does not meet it.' };
    case 'sampled_out':
      return {
        word: 'sampled out',
        reason: 'The run is not in the sample of this evaluator.',
        todo: 'Raise sample.rate of its entry, or raise the rate for runs like this one with sample.raise.',
      };
    case 'over_budget':
      return {
        word: 'over budget',
        reason: `A budget had no room for the question${reason === '' ? '' : ` (${reason})`}.`,
        todo: 'Raise the budget of the judge or of the evaluator, or lower the sample rate.',
      };
    case 'overload':
      return {
        word: 'overload',
        reason: Object.hasOwn(overloads, reason)
          ? (overloads[reason] ?? '')
          : `The service had no room for the evaluation${reason === '' ? '' : ` (${reason})`}.`,
      };
    case 'failed':
      return {
        word: 'failed',
        reason: `The evaluation failed: ${reason === '' ? 'no reason is known' : reason}.`,
        todo: 'Read the error, and check the judge or the endpoint.',
      };
    default:
      return { word: decision, reason: reason === '' ? 'No reason is known.' : reason };
  }
}

const overloads: { readonly [reason: string]: string } = {
  queue_full: 'The queue of the judge was full.',
  judge_down: 'The judge did not answer, and the service stopped asking it for a while.',
  stopping: 'The service stopped before the judge answered.',
};

const nothing = (reason: string): Omit<Text, 'word'> => ({ reason });

/** Reasons without data that spans or the configuration could bring; the API names the others under `missing`. */
const skipped: { readonly [reason: string]: Omit<Text, 'word'> } = {
  no_tool_calls: nothing('The agent called no tool.'),
  no_plan: nothing('The run has no plan to judge.'),
  no_errors: nothing('Nothing failed in the run.'),
  no_such_target: nothing('The run has no part of the kind that this evaluator judges.'),
  filtered: nothing('The evaluator leaves such runs out.'),
  part_of_another_run: nothing('The run is part of another one, which has the verdicts.'),
  no_expectation: nothing('The run has no expectation.'),
  no_tasks: nothing('The run has no tasks.'),
  no_tool_definitions: nothing('The spans carry no definitions of tools.'),
  no_input: nothing('The spans carry no input of the user.'),
  no_final_response: nothing('The spans carry no final answer.'),
  tool_calls_not_carried: nothing('The spans carry no tool calls.'),
  arguments_not_carried: nothing('The spans carry no arguments of tool calls.'),
  results_not_carried: nothing('The spans carry no results of tool calls.'),
  truncated: nothing('A part that decides was cut short before it came.'),
  no_price: nothing('The model of the run has no price.'),
  no_tokens: nothing('The spans carry no numbers of tokens.'),
  no_times: nothing('The start or the end of the run is unknown.'),
  schema_not_applied: {
    reason: 'A part of a tool’s schema cannot be applied.',
    todo: 'Correct the schema of the tool; the details name the part.',
  },
  too_large: nothing('The run exceeds a limit of the evaluator.'),
  learning: nothing('The normal process of the agent is still being learnt.'),
  no_model: { reason: 'No learnt process is at hand.', todo: 'Name a learnt process under options.model, or let runs come.' },
  incomplete: nothing('The run is not complete.'),
};
