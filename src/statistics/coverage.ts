/** Which share of the traffic a rate speaks for. The rest is reported, never guessed. */
import { notEstimable, type NotEstimable } from './estimate.ts';

export interface CoverageCounts {
  /** Runs that the evaluator applied to, whether chosen or not. */
  readonly eligible: number;
  /** Those among them that could not be chosen: probability 0, as when the budget was spent. Counted, not estimated. */
  readonly unreachable: number;
  /** Σ 1 / p of the chosen runs with a verdict. */
  readonly scoredWeight: number;
  /** Σ 1 / p of the chosen runs whose judge failed or was not called. */
  readonly failedWeight: number;
  /** Σ 1 / p of the chosen runs whose judge has not answered yet. */
  readonly waitingWeight: number;
}

/** The four shares make 1. */
export interface Coverage {
  readonly kind: 'estimated';
  /** Share of the eligible runs that the rate speaks for, 0..1. */
  readonly covered: number;
  readonly uncovered: number;
  /** Parts of `uncovered`. */
  readonly unreachable: number;
  readonly failed: number;
  readonly waiting: number;
  /**
   * Σ 1 / p of all chosen runs over the runs that could be chosen: 1 but for chance. Far from it, runs or probabilities were lost on the
   * way. Undefined when no run could be chosen.
   */
  readonly balance: number | undefined;
}

/** Not estimable when no run was eligible. */
export function coverage({ eligible, unreachable, scoredWeight, failedWeight, waitingWeight }: CoverageCounts): Coverage | NotEstimable {
  if (!(eligible > 0)) return notEstimable('no_observations');
  const reachable = Math.max(0, eligible - unreachable) / eligible;
  const chosenWeight = scoredWeight + failedWeight + waitingWeight;
  const part = (weight: number): number => (chosenWeight > 0 ? (reachable * weight) / chosenWeight : 0);
  const covered = part(scoredWeight);
  return {
    kind: 'estimated',
    covered,
    uncovered: 1 - covered,
    unreachable: 1 - reachable,
    failed: part(failedWeight),
    // Runs could be chosen but none was: nothing is known of them yet, so they wait.
    waiting: chosenWeight > 0 ? part(waitingWeight) : reachable,
    balance: reachable > 0 ? chosenWeight / (eligible * reachable) : undefined,
  };
}
