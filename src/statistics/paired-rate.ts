/**
 * Two verdicts on each of many runs, before and after a change: both rates and their difference, in memory that does not grow with the runs.
 *
 * Each run counts 1 / p, where p is the probability that both verdicts exist. Runs of one session resemble one another, so variances are
 * linearised over sessions as in `weighted-rate.ts`. The interval of the difference joins those of the two rates and their correlation
 * (MOVER: Zou and Donner, Statistics in Medicine 27, 2008). Unweighted pass rates without sessions take Newcombe's method 10, which is the
 * same construction from counts. The test of pass rates is McNemar's exact one. Weights and sessions reduce the discordant runs by the
 * design effect (Rao and Scott, Journal of the American Statistical Association 76, 1981). The test of scores is the paired t-test.
 */
import { mcNemar, pairedDifference } from './comparison.ts';
import { studentBelow } from './distributions.ts';
import { notEstimable, usualConfidence, type Estimate, type Estimated, type EstimateOptions, type NotEstimable } from './estimate.ts';
import { moments, totalVariance, unitCount, unitSquares, type MomentsData } from './moments.ts';
import { cappedHeaviest, cappedMax, usualRunsMin, weightedRate, type CappedWeights, type RateSumsData } from './weighted-rate.ts';

export interface PairedObservation {
  /** 0..1; 1 passed, 0 failed, or a score. */
  readonly before: number;
  readonly after: number;
  /** Above 0, at most 1. */
  readonly probability: number;
  /** The part of the probability that is of samplers before the service; absent: 1. */
  readonly upstream?: number;
  /** True when the probability was raised for this run. */
  readonly isRaised?: boolean;
  /** Id of the session: its runs resemble one another. */
  readonly session?: string;
}

/** Can be stored as JSON. */
export interface PairedSumsData {
  readonly n: number;
  /** Observations that could not be counted: a value or a probability out of its range. */
  readonly refused: number;
  /** Number of runs by the direction of the change. */
  readonly better: number;
  readonly worse: number;
  /** All values are 0 or 1. */
  readonly isBinary: boolean;
  /** Σ w² over runs. */
  readonly weightSquares: number;
  /** Σ w·d² over runs. */
  readonly differenceSquares: number;
  /** Σ w over the runs that became worse, and better. */
  readonly worseWeight: number;
  readonly betterWeight: number;
  /** Rows of w·before, w·after and w. */
  readonly moments: MomentsData;
  /** Runs that passed both times; with `n`, `better` and `worse` it gives all four counts. */
  readonly bothPassed: number;
  /** Σ 1 / upstream over runs. */
  readonly claims: number;
  /** Runs whose probability was raised. */
  readonly raised: number;
  /** The observations with the largest claims of samplers before the service, which are in no sum, as their cap is known at the end. Lightest last. */
  readonly heaviest: readonly PairedObservation[];
}

export interface PairedSums {
  add(observation: PairedObservation): void;
  data(): PairedSumsData;
}

const weightAt = 2;

/** `from`: sums that were stored. */
export function pairedSums(from?: PairedSumsData): PairedSums {
  const sums = plainSums();
  if (from !== undefined) sums.merge(from);
  const heaviest: PairedObservation[] = [...(from?.heaviest ?? [])];
  return {
    add(observation) {
      if (!isCountable(observation)) return sums.refuse();
      const claimed = observation.upstream ?? 1;
      if (claimed >= 1) return sums.add(observation);
      const place = heaviest.findLastIndex(({ upstream = 1 }) => upstream <= claimed) + 1;
      if (place < cappedMax) heaviest.splice(place, 0, observation);
      const lighter = place < cappedMax ? (heaviest.length > cappedMax ? heaviest.pop() : undefined) : observation;
      if (lighter !== undefined) sums.add(lighter);
      return undefined;
    },
    data: () => ({ ...sums.data(), heaviest: [...heaviest] }),
  };
}

function isCountable({ before, after, probability, upstream = 1 }: PairedObservation): boolean {
  return [before, after].every((value) => value >= 0 && value <= 1) && probability > 0 && probability <= 1 && upstream > 0;
}

type PlainData = Omit<PairedSumsData, 'heaviest'>;

function plainSums() {
  let [n, refused, better, worse, bothPassed] = [0, 0, 0, 0, 0];
  let [weightSquares, differenceSquares, worseWeight, betterWeight] = [0, 0, 0, 0];
  let [claims, raised] = [0, 0];
  let isBinary = true;
  const rows = moments(3);
  return {
    refuse: () => void refused++,
    /** No claim counts for more than `claimMax`. */
    add({ before, after, session, probability, upstream = 1, isRaised = false }: PairedObservation, claimMax = Infinity): void {
      const weight = Math.min(1, claimMax * upstream) / probability;
      const difference = after - before;
      n++;
      claims += 1 / upstream;
      if (isRaised) raised++;
      if (difference > 0) betterWeight += weight;
      if (difference < 0) worseWeight += weight;
      if (difference > 0) better++;
      if (difference < 0) worse++;
      if (before === 1 && after === 1) bothPassed++;
      isBinary &&= [before, after].every((value) => value === 0 || value === 1);
      weightSquares += weight * weight;
      differenceSquares += weight * difference * difference;
      rows.add([weight * before, weight * after, weight], session);
    },
    merge(other: PlainData): void {
      n += other.n;
      refused += other.refused;
      better += other.better;
      worse += other.worse;
      bothPassed += other.bothPassed;
      // Sums that a former release stored have neither.
      claims += (other as Partial<PlainData>).claims ?? other.n;
      raised += (other as Partial<PlainData>).raised ?? 0;
      weightSquares += other.weightSquares;
      differenceSquares += other.differenceSquares;
      worseWeight += other.worseWeight;
      betterWeight += other.betterWeight;
      isBinary &&= other.isBinary;
      rows.merge(other.moments);
    },
    data: (): PlainData => ({
      n,
      refused,
      better,
      worse,
      bothPassed,
      claims,
      raised,
      isBinary,
      weightSquares,
      differenceSquares,
      worseWeight,
      betterWeight,
      moments: rows.data(),
    }),
  };
}

export interface PairedRates {
  readonly before: Estimate;
  readonly after: Estimate;
  /** After less before, within −1..1. */
  readonly difference: Estimated | NotEstimable;
  /** Two-sided: probability of a difference at least this large if nothing had changed. */
  readonly p: number;
  readonly n: number;
  readonly better: number;
  readonly worse: number;
  readonly refused: number;
  readonly weights: CappedWeights;
}

export function pairedRates(data: PairedSumsData, { confidence = usualConfidence }: EstimateOptions = {}): PairedRates {
  const { sums, weights } = withCappedClaims(data);
  const before = weightedRate(ofSide(sums, 0), { confidence });
  const after = weightedRate(ofSide(sums, 1), { confidence });
  const { n, better, worse, refused } = sums;
  const counted = { n, better, worse, refused, weights, before, after };
  // The traffic is not known here, so the runs that were drawn are counted.
  if (sums.raised > 0 && n - sums.raised < usualRunsMin) {
    const scarce = notEstimable('too_few_usual_runs', `There are ${n - sums.raised}, and ${usualRunsMin} are needed.`);
    // These runs suffice for a test of whether they became worse.
    return { ...counted, before: scarce, after: scarce, difference: scarce, p: mcNemar({ onlyFirst: worse, onlySecond: better }).exact };
  }
  if (before.kind === 'not_estimable') return { ...counted, difference: before, p: 1 };
  if (after.kind === 'not_estimable') return { ...counted, difference: after, p: 1 };
  const spread = spreadOf(sums);
  const difference = isSimple(sums) ? pairedDifference(countsOf(sums), { confidence }) : joined({ before, after }, spread, confidence);
  return { ...counted, difference, p: sums.isBinary ? discordantP(sums, spread) : scoresP(sums, spread) };
}

/** Adds the observations with the largest claims, with the weight that their cap allows. */
function withCappedClaims({ heaviest, ...plain }: PairedSumsData): { readonly sums: PlainData; readonly weights: CappedWeights } {
  const own = heaviest.map(({ upstream = 1 }) => 1 / upstream);
  const sums = plainSums();
  sums.merge(plain);
  const total = sums.data().claims + own.reduce((sum, claim) => sum + claim, 0);
  const weights = cappedHeaviest({ heaviest: own, total, count: plain.n + own.length });
  for (const observation of heaviest) sums.add(observation, weights.weightMax);
  return { sums: sums.data(), weights };
}

/** `side`: 0 before, 1 after. */
function ofSide({ n, refused, weightSquares, moments: { alone, totals, products, groups } }: PlainData, side: 0 | 1): RateSumsData {
  const of = (row: readonly number[]): readonly number[] => [row[side] ?? 0, row[weightAt] ?? 0];
  // Places of the products of three numbers: [0][0], [0][1], [0][2], [1][1], [1][2], [2][2].
  const places = side === 0 ? [0, 2, 5] : [3, 4, 5];
  return {
    n,
    refused,
    weightSquares,
    moments: {
      alone,
      totals: of(totals),
      products: places.map((place) => products[place] ?? 0),
      groups: groups.map(({ group, totals: own }) => ({ group, totals: of(own) })),
    },
  };
}

interface Spread {
  readonly weight: number;
  readonly point: number;
  /** Variance of the difference. */
  readonly variance: number;
  /** Correlation of the two rates. */
  readonly correlation: number;
  readonly effectiveN: number;
}

function spreadOf({ moments: data }: PlainData): Spread {
  const [first = 0, second = 0, weight = 0] = data.totals;
  const ofBefore = [1 / weight, 0, -first / (weight * weight)];
  const ofAfter = [0, 1 / weight, -second / (weight * weight)];
  const variance = (factors: readonly number[], others = factors): number => totalVariance(data, { factors, others, weightAt });
  const [one, other] = [Math.max(0, variance(ofBefore)), Math.max(0, variance(ofAfter))];
  return {
    weight,
    point: (second - first) / weight,
    variance: Math.max(0, variance(ofAfter.map((factor, at) => factor - (ofBefore[at] ?? 0)))),
    correlation: one * other === 0 ? 0 : Math.max(-1, Math.min(1, variance(ofBefore, ofAfter) / Math.sqrt(one * other))),
    effectiveN: (weight * weight) / unitSquares(data, weightAt),
  };
}

/** Passes and failures, each of weight 1, without sessions. */
function isSimple({ isBinary, n, weightSquares, moments: { alone, totals } }: PlainData): boolean {
  return isBinary && alone === n && weightSquares === n && totals[weightAt] === n;
}

function countsOf({ n, better, worse, bothPassed }: PlainData) {
  return { both: bothPassed, onlyFirst: worse, onlySecond: better, neither: n - bothPassed - worse - better };
}

function joined(
  { before, after }: { readonly before: Estimated; readonly after: Estimated },
  { point, variance, correlation, effectiveN }: Spread,
  confidence: number,
): Estimated {
  const half = (one: number, other: number): number => Math.sqrt(Math.max(0, one * one - 2 * correlation * one * other + other * other));
  return {
    kind: 'estimated',
    point,
    low: Math.max(-1, point - half(after.point - after.low, before.high - before.point)),
    high: Math.min(1, point + half(after.high - after.point, before.point - before.low)),
    standardError: Math.sqrt(variance),
    n: before.n,
    effectiveN,
    confidence,
  };
}

/** McNemar's exact test with as many discordant runs as independent runs of one weight that carry the same information. */
function discordantP(sums: PlainData, { weight, point, variance }: Spread): number {
  const { n, better, worse, worseWeight, betterWeight, differenceSquares } = sums;
  if (better + worse === 0) return 1;
  const simple = (differenceSquares / weight - point * point) / (n - 1);
  const designEffect = simple > 0 ? Math.max(1, variance / simple) : 1;
  const discordant = (better + worse) / designEffect;
  const worseShare = worseWeight / (worseWeight + betterWeight);
  return mcNemar({ onlyFirst: discordant * worseShare, onlySecond: discordant * (1 - worseShare) }).exact;
}

/** Never below the p-value of a sign test: a few equal differences say nothing about their spread. */
function scoresP({ better, worse, moments: data }: PlainData, { point, variance, effectiveN }: Spread): number {
  if (better + worse === 0) return 1;
  const least = 2 ** (1 - Math.min(better + worse, unitCount(data)));
  const byT = variance === 0 ? 0 : 2 * studentBelow(-Math.abs(point) / Math.sqrt(variance), Math.max(1, effectiveN - 1));
  return Math.min(1, Math.max(least, byT));
}
