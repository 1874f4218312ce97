/** Which judge evaluators a batch has chosen, or why not. Of each run and evaluator the newest revision counts. */
import type { RunDecision, ScoredRun } from '../model/scored-run.ts';
import type { NewJudgeJob } from '../model/judge-work.ts';
import type { Decision } from '../model/verdict.ts';

/** The part of an item that carries choices. */
type ChoiceItem<Run> = Pick<ScoredRun, 'decisions' | 'jobs' | 'answered'> & { readonly run: Run };

export interface ChosenPair<Run> {
  readonly run: Run;
  readonly name: string;
  readonly what: { readonly kind: 'job'; readonly job: NewJudgeJob } | { readonly kind: 'decision'; readonly decision: RunDecision };
}

/**
 * Separates choices from final decisions: a replayed run may be chosen differently, by another rate or budget. The first written choice of a
 * revision stays.
 */
export function chosenPairs<Run extends { readonly revision: number }>(
  items: readonly ChoiceItem<Run>[],
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

/** Every other decision is final. */
export function spoken({ answered, decisions }: Pick<ScoredRun, 'decisions' | 'answered'>): readonly RunDecision[] {
  return answered === true ? decisions : decisions.filter((decision) => !isChoice(decision));
}

/** Decisions of a pair that no judge was asked about. */
const unasked: ReadonlySet<Decision> = new Set(['filtered', 'sampled_out', 'over_budget', 'overload']);

function isChoice({ evaluatorKind, decision }: RunDecision): boolean {
  return evaluatorKind !== 'rule' && unasked.has(decision);
}
