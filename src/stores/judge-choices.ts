/** What a batch says of evaluators that ask, before anybody has answered: they were chosen, or why not. Of each run and evaluator the newest revision counts. */
import type { RunDecision, ScoredRun } from '../model/scored-run.ts';
import type { NewJudgeJob } from '../model/judge-work.ts';
import type { Decision } from '../model/verdict.ts';

/** What it is told of in; of the run only its revision matters here. */
type Telling<Run> = Pick<ScoredRun, 'decisions' | 'jobs' | 'answered'> & { readonly run: Run };

export interface ChosenPair<Run> {
  readonly run: Run;
  readonly name: string;
  readonly what: { readonly kind: 'job'; readonly job: NewJudgeJob } | { readonly kind: 'decision'; readonly decision: RunDecision };
}

/**
 * Told apart from what is known for good: a run that is read again after a crash may be chosen differently, by another rate or another budget. What was
 * written first of a revision stays.
 */
export function chosenPairs<Run extends { readonly revision: number }>(
  items: readonly Telling<Run>[],
  keyText: (run: Run) => string,
): readonly ChosenPair<Run>[] {
  const newest = new Map<string, ChosenPair<Run>>();
  for (const item of items) {
    if (item.answered === true) continue;
    const { run, jobs = [], decisions } = item;
    const own: readonly ChosenPair<Run>[] = [
      ...jobs.map((job) => ({ run, name: job.name, what: { kind: 'job', job } as const })),
      ...decisions.filter(isChoice).map((decision) => ({ run, name: decision.name, what: { kind: 'decision', decision } as const })),
    ];
    for (const pair of own) {
      const key = `${keyText(run)} ${pair.name}`;
      if ((newest.get(key)?.run.revision ?? 0) < run.revision) newest.set(key, pair);
    }
  }
  return [...newest.values()];
}

/** Everything else is said for good. */
export function spoken({ answered, decisions }: Pick<ScoredRun, 'decisions' | 'answered'>): readonly RunDecision[] {
  return answered === true ? decisions : decisions.filter((decision) => !isChoice(decision));
}

/** How a pair ends without being asked about. */
const unasked: ReadonlySet<Decision> = new Set(['filtered', 'sampled_out', 'over_budget', 'overload']);

function isChoice({ evaluatorKind, decision }: RunDecision): boolean {
  return evaluatorKind !== 'rule' && unasked.has(decision);
}
