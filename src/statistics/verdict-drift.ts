/** Whether a judge still gives the same verdicts on a fixed set of items. The traffic plays no part in it. */
import { notEstimable, usualConfidence, type Estimate, type Estimated, type EstimateOptions, type NotEstimable } from './estimate.ts';
import { mcNemar, pairedDifference } from './paired-difference.ts';
import { proportion } from './proportion.ts';

/** The verdicts on one item, then and now. */
export interface AskedAgain {
  readonly before: boolean;
  readonly after: boolean;
}

export interface VerdictDrift {
  readonly kind: 'estimated';
  /** `passes_more` and `passes_less`: the set's pass rate moved by more than chance explains at this look's level. */
  readonly word: 'passes_more' | 'passes_less' | 'no_change_shown';
  /** Pass rate now less pass rate then, within −1..1. */
  readonly change: Estimated;
  /** Share of the items whose verdict is another one, in either direction. A judge that wavers flips without drifting. */
  readonly flipped: Estimate;
  /** Mid-p of McNemar's test. */
  readonly p: number;
  /** The level that p was held against. */
  readonly level: number;
}

/**
 * Compared with one and the same earlier answer at each look; `sequentialLevel` says what is controlled over the looks. Verdicts that waver
 * with equal probability both ways are no drift. Not estimable of no items.
 */
export function verdictDrift(items: Iterable<AskedAgain>, options: SequentialTestOptions = {}): VerdictDrift | NotEstimable {
  const counts = { both: 0, onlyFirst: 0, onlySecond: 0, neither: 0 };
  for (const { before, after } of items) counts[before ? (after ? 'both' : 'onlyFirst') : after ? 'onlySecond' : 'neither']++;
  const change = pairedDifference(counts, options);
  if (change.kind === 'not_estimable') return notEstimable('no_observations');
  const { midP } = mcNemar(counts);
  const level = sequentialLevel(options);
  const word =
    midP >= level || counts.onlyFirst === counts.onlySecond
      ? 'no_change_shown'
      : counts.onlySecond > counts.onlyFirst
        ? 'passes_more'
        : 'passes_less';
  return {
    kind: 'estimated',
    word,
    change,
    flipped: proportion({ hits: counts.onlyFirst + counts.onlySecond, of: change.n }, options),
    p: midP,
    level,
  };
}

/**
 * A repeated test finds something by chance sooner or later. So each look of a schedule gets a part of the level. The probability of one
 * false alarm or more, over all looks together, stays below the whole, whatever the dependence of the looks (Bonferroni's inequality). The
 * price is power: the test detects a change only when it is larger, or lasts longer.
 */
export interface SequentialTestOptions extends EstimateOptions {
  /** The look's place in a schedule; the only look when left out. */
  readonly schedule?: Schedule;
}

export interface Schedule {
  /** Which look this is, from 1. */
  readonly look: number;
  /** How many are planned; those beyond get nothing. Without a plan look k gets 1 / (k (k + 1)) of the level, for ever. */
  readonly planned?: number;
}

/** The level, 0..1, below which the p-value of this look shows a change: 1 − confidence, or the part of it that the look gets. */
export function sequentialLevel({ confidence = usualConfidence, schedule }: SequentialTestOptions): number {
  const level = 1 - confidence;
  if (schedule === undefined) return level;
  const { look, planned } = schedule;
  if (!(look >= 1)) return 0;
  if (planned !== undefined) return look <= planned ? level / planned : 0;
  return level / (look * (look + 1));
}
