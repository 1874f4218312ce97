/** Summary of a pairwise judge: how often B wins against A, and how much the place of an answer decides. */
import type { PairLabel } from '../../evaluators/judging/pairwise.ts';
import { type Estimate, type Estimated, notEstimable, type NotEstimable, usualConfidence } from '../statistics/estimate.ts';
import { scoreDifference } from '../statistics/paired-scores.ts';

/** `failed`: the judge gave no usable answer. `not_asked`: a budget had no room. `no_text`: the answer of a run is not stored. */
export type PairOutcome = PairLabel | 'failed' | 'not_asked' | 'no_text';

export interface JudgedPair {
  readonly exampleId: string;
  readonly repeat: number;
  readonly outcome: PairOutcome;
  readonly explanation: string;
}

export interface PairwiseSummary {
  readonly criterion: string;
  readonly judge: string;
  readonly pairs: readonly JudgedPair[];
  readonly counts: { readonly [outcome in PairOutcome]: number };
  /** Share of pairs that B wins; a tie counts half, and so does a pair whose orders disagree. Every example counts the same. */
  readonly winRate: Estimate;
  /** Two-sided test of the win rate 0.5; `undefined` when it is not estimable. */
  readonly p: number | undefined;
  readonly word: 'better' | 'worse' | 'no_difference_shown' | 'not_comparable';
  /** Share of pairs that the first place decides less those that the second place decides. */
  readonly positionBias: Estimate;
  readonly isBiased: boolean;
}

export function pairwiseSummary(criterion: string, judge: string, pairs: readonly JudgedPair[]): PairwiseSummary {
  const wins = differenceOf(pairs, { a: -1, b: 1, tie: 0, first: 0, second: 0 });
  const bias = differenceOf(pairs, { a: 0, b: 0, tie: 0, first: 1, second: -1 });
  const counts = { a: 0, b: 0, tie: 0, first: 0, second: 0, failed: 0, not_asked: 0, no_text: 0 };
  for (const { outcome } of pairs) counts[outcome]++;
  return {
    criterion,
    judge,
    pairs,
    counts,
    winRate: wins.kind === 'estimated' ? asRate(wins) : wins,
    p: wins.kind === 'estimated' ? wins.p : undefined,
    word:
      wins.kind === 'not_estimable'
        ? 'not_comparable'
        : wins.p >= 1 - usualConfidence || (wins.low <= 0 && wins.high >= 0)
          ? 'no_difference_shown'
          : wins.low > 0
            ? 'better'
            : 'worse',
    positionBias: bias,
    isBiased: bias.kind === 'estimated' && (bias.low > 0 || bias.high < 0),
  };
}

/** Runs of one example resemble one another, so their mean is one observation. */
function differenceOf(
  pairs: readonly JudgedPair[],
  values: { readonly [label in PairLabel]: number },
): ReturnType<typeof scoreDifference> | NotEstimable {
  const judged = pairs.flatMap(({ exampleId, outcome }) => (isJudged(outcome) ? [{ exampleId, value: values[outcome] }] : []));
  const means = [...Map.groupBy(judged, ({ exampleId }) => exampleId).values()].map(
    (own) => own.reduce((sum, { value }) => sum + value, 0) / own.length,
  );
  if (means.length < 2) return notEstimable(means.length === 0 ? 'no_common_example' : 'one_common_example');
  return scoreDifference(means);
}

export function isJudged(outcome: PairOutcome): outcome is PairLabel {
  return outcome !== 'failed' && outcome !== 'not_asked' && outcome !== 'no_text';
}

/** A difference from −1 to 1 as a share. */
function asRate({ kind, point, low, high, standardError, n, effectiveN, confidence }: Estimated): Estimated {
  const half = (value: number): number => (value + 1) / 2;
  return { kind, point: half(point), low: half(low), high: half(high), standardError: standardError / 2, n, effectiveN, confidence };
}
