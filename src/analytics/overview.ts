/** The figures of each agent in a period against the period before: the worst first. */
import { emptySketch, type QuantileSketch } from '../model/quantile-sketch.ts';
import type { RollupRow } from '../model/store/rollup-store.ts';
import type { Micros } from '../model/timestamp.ts';
import { type Estimate, type Estimated, type NotEstimable, usualConfidence } from '../statistics/estimate.ts';
import { independentDifference } from '../statistics/independent-difference.ts';
import { mergedSketch } from '../statistics/quantile-sketch.ts';
import { tooFewUsual, weightedRate } from '../statistics/weighted-rate.ts';

type RunRow = RollupRow<'run'>;
type EvaluatorRow = RollupRow<'evaluator'>;

export interface OverviewRows {
  /** Sorted by agent and step. */
  readonly runs: readonly RunRow[];
  /** Sorted by agent and evaluator. */
  readonly evaluators: readonly EvaluatorRow[];
  readonly before: { readonly runs: readonly RunRow[]; readonly evaluators: readonly EvaluatorRow[] };
}

export interface AgentOverview {
  /** Empty: runs without an agent. */
  readonly agent: string;
  readonly runs: number;
  /** Runs with a failed verdict. */
  readonly failedRuns: number;
  /** Runs that ended in an error. */
  readonly errorRuns: number;
  readonly pausedRuns: number;
  readonly runsBefore: number;
  readonly evaluators: readonly EvaluatorOverview[];
  readonly took: QuantileSketch;
  /** `undefined`: no run has a known number of tokens. */
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  /** `undefined`: no run has a known cost. */
  readonly costUsd: number | undefined;
  readonly costedRuns: number;
  readonly toolCalls: number;
  readonly toolErrors: number;
  readonly steps: readonly { readonly at: Micros; readonly runs: number; readonly failedRuns: number }[];
}

export interface EvaluatorOverview {
  readonly evaluator: string;
  readonly passed: number;
  readonly failed: number;
  readonly rate: Estimate;
  /** `undefined`: it had no verdict with a pass or fail. */
  readonly before: Estimate | undefined;
  /** The difference of the rates; `undefined` unless its interval excludes zero, also as one of all that are compared here. */
  readonly change: Estimated | undefined;
}

export function agentOverviews({ runs, evaluators, before }: OverviewRows): readonly AgentOverview[] {
  const evaluatorsOf = Map.groupBy(evaluators, ({ agent }) => agent);
  const runsBefore = new Map(before.runs.map(({ agent, counts }) => [agent, counts.runs]));
  const evaluatorsBefore = new Map(before.evaluators.map((row) => [keyOf(row), row]));
  const compared = evaluators.filter((row) => isRated(row) && isRated(evaluatorsBefore.get(keyOf(row)))).length;
  const overviews = [...Map.groupBy(runs, ({ agent }) => agent)].map(([agent, steps]): AgentOverview => {
    const sum = (name: keyof RunRow['counts']): number => steps.reduce((total, { counts }) => total + counts[name], 0);
    return {
      agent,
      runs: sum('runs'),
      failedRuns: sum('failed'),
      errorRuns: sum('errors'),
      pausedRuns: sum('paused'),
      runsBefore: runsBefore.get(agent) ?? 0,
      evaluators: (evaluatorsOf.get(agent) ?? [])
        .filter(isRated)
        .map((row) =>
          evaluatorOverview(
            { row, agentRuns: sum('runs') },
            { row: evaluatorsBefore.get(keyOf(row)), agentRuns: runsBefore.get(agent) ?? 0 },
            compared,
          ),
        )
        .toSorted((one, other) => dropOf(one) - dropOf(other) || pointOf(one.rate) - pointOf(other.rate)),
      took: steps.map(({ sketches }) => sketches.took).reduce(mergedSketch, emptySketch),
      inputTokens: sum('tokened') === 0 ? undefined : sum('inputTokens'),
      outputTokens: sum('tokened') === 0 ? undefined : sum('outputTokens'),
      costUsd: sum('costed') === 0 ? undefined : sum('cost'),
      costedRuns: sum('costed'),
      toolCalls: sum('toolCalls'),
      toolErrors: sum('toolErrors'),
      steps: steps.map(({ at, counts }) => ({ at, runs: counts.runs, failedRuns: counts.failed })),
    };
  });
  return overviews.toSorted(worstFirst);
}

function keyOf({ agent, name }: EvaluatorRow): string {
  return JSON.stringify([agent, name]);
}

function isRated(row: EvaluatorRow | undefined): boolean {
  return row !== undefined && row.counts.pass + row.counts.fail > 0;
}

/** `compared`: changes that are looked at together. Each has a part of the usual chance of a false one (Bonferroni). */
function evaluatorOverview(
  { row: { name, counts }, agentRuns }: { readonly row: EvaluatorRow; readonly agentRuns: number },
  before: { readonly row: EvaluatorRow | undefined; readonly agentRuns: number },
  compared: number,
): EvaluatorOverview {
  const now = { ...counts, agentRuns };
  const earlier = before.row === undefined || !isRated(before.row) ? undefined : { ...before.row.counts, agentRuns: before.agentRuns };
  const confidence = 1 - (1 - usualConfidence) / Math.max(1, compared);
  const change = earlier === undefined ? undefined : independentDifference(rateOf(now, confidence), rateOf(earlier, confidence));
  const isShown = change?.kind === 'estimated' && (change.low > 0 || change.high < 0);
  return {
    evaluator: name,
    passed: counts.pass,
    failed: counts.fail,
    rate: rateOf(now),
    before: earlier === undefined ? undefined : rateOf(earlier),
    change: isShown ? change : undefined,
  };
}

/**
 * Weighted by one over the sample probability. Verdicts of one session count together, as if all of them were copies of one: the variance is that
 * of independent ones, times the mean number of verdicts in the session of a verdict.
 */
function rateOf(counts: EvaluatorRow['counts'] & { readonly agentRuns: number }, confidence = usualConfidence): Estimate {
  const { pass, fail, raw, weight, weightSquares, passedWeight, passedSquares, pairs, raised } = counts;
  const n = pass + fail;
  const design = 1 + pairs / (n + raw);
  const scarce = raised === 0 ? undefined : scarcityOf(counts, (n - raised) / design);
  if (scarce !== undefined) return scarce;
  return weightedRate(
    {
      n,
      refused: 0,
      weightSquares: design * weightSquares,
      moments: {
        alone: Math.round(n / design),
        totals: [passedWeight, weight],
        products: [design * passedSquares, design * passedSquares, design * weightSquares],
        groups: [],
      },
    },
    { confidence },
  );
}

/**
 * Runs of the agent that the evaluator skips are taken out by their share. Where a condition leaves others out, and where no budget reached them, the
 * agent has many more runs than the verdicts represent, and these are taken instead.
 */
function scarcityOf(
  { pass, fail, raw, skipped, error, raisedRuns, usualRuns, agentRuns }: EvaluatorRow['counts'] & { readonly agentRuns: number },
  usual: number,
): NotEstimable | undefined {
  const scored = (agentRuns * (pass + fail)) / (pass + fail + raw + skipped + error);
  const stoodFor = raisedRuns + usualRuns;
  return tooFewUsual({ runs: scored > 2 * stoodFor ? stoodFor : scored, raisedWeight: raisedRuns, usual, usualWeight: usualRuns });
}

/** The largest shown drop first, then the largest share of failed runs, then the most runs. */
function worstFirst(one: AgentOverview, other: AgentOverview): number {
  const worstDrop = ({ evaluators }: AgentOverview): number => Math.min(0, ...evaluators.map(dropOf));
  const failedShare = ({ runs, failedRuns }: AgentOverview): number => (runs === 0 ? 0 : failedRuns / runs);
  return worstDrop(one) - worstDrop(other) || failedShare(other) - failedShare(one) || other.runs - one.runs;
}

function dropOf({ change }: EvaluatorOverview): number {
  return change === undefined ? 0 : Math.min(0, change.point);
}

function pointOf(rate: Estimate): number {
  return rate.kind === 'estimated' ? rate.point : 1;
}
