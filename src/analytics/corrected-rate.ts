/**
 * The rate of an evaluator over all traffic, weighted by sampling probabilities and corrected by people's labels; and the meaning of those
 * labels.
 */
import type { RunKey } from '../model/agent-trace.ts';
import { noTenant } from '../model/ids.ts';
import type { AnnotatedRun, StoredAnnotation } from '../model/store/annotation-store.ts';
import type { DecidedRuns, VerdictRow } from '../model/store/verdict-rows.ts';
import { runTargetId } from '../model/verdict.ts';
import { type CorrectedRate, predictionPowered, type PredictionPowered, roganGladen } from '../statistics/correction.ts';
import { type Estimate, notEstimable, type NotEstimable } from '../statistics/estimate.ts';
import { confusion } from '../statistics/proportion.ts';
import {
  cappedWeights,
  type CappedWeights,
  coverage,
  type Coverage,
  kishEffectiveN,
  type RateObservation,
  rateSums,
  tooFewUsual,
  weightedRate,
} from '../statistics/weighted-rate.ts';

/** The lowest score that counts as a pass when neither `passed` nor a label is given. */
const passingScore = 0.5;

/** Whether each label of an evaluator means a pass, for labels that always or never pass. */
type LabelMeanings = ReadonlyMap<string, boolean>;

export function labelMeanings(verdicts: Iterable<{ readonly word: string; readonly label: string }>): LabelMeanings {
  const meanings = new Map<string, boolean | undefined>();
  for (const { word, label } of verdicts) {
    if (word !== 'pass' && word !== 'fail') continue;
    const passed = word === 'pass';
    const key = label.toLowerCase();
    meanings.set(key, meanings.has(key) && meanings.get(key) !== passed ? undefined : passed);
  }
  return new Map([
    ['pass', true],
    ['fail', false],
    ...[...meanings].flatMap(([label, passed]) => (passed === undefined ? [] : [[label, passed] as const])),
  ]);
}

/** Whether an annotation passes: as stated, else by the meaning of its label, else by its score. `undefined` when the label is unknown. */
export function passedOf(
  { passed, label, score }: Pick<StoredAnnotation, 'passed' | 'label' | 'score'>,
  meanings: LabelMeanings,
): boolean | undefined {
  if (passed !== undefined) return passed;
  const meant = label === undefined ? undefined : meanings.get(label.toLowerCase());
  return meant ?? (score === undefined ? undefined : score >= passingScore);
}

/** A run, or one of its tool calls. */
export interface LabelledRun {
  readonly key: string;
  /** The majority of the annotators; `undefined` for a tie. */
  readonly passed: boolean | undefined;
  /** Annotators and whether they pass the run. */
  readonly words: ReadonlyMap<string, boolean>;
  readonly verdict: AnnotatedRun['verdict'];
  /** Version of the agent; absent when the run names none. */
  readonly agentVersion?: string;
}

/** Groups annotations of one name by target. `unreadable`: number of annotations with an unknown label. */
export function labelledRuns(rows: readonly AnnotatedRun[]): { readonly runs: readonly LabelledRun[]; readonly unreadable: number } {
  const meanings = labelMeanings(rows.flatMap(({ verdict }) => verdict ?? []));
  let unreadable = 0;
  const runs = [...Map.groupBy(rows, targetText)].map(([key, own]): LabelledRun => {
    const words = new Map<string, boolean>();
    for (const { annotation } of own) {
      const passed = passedOf(annotation, meanings);
      if (passed === undefined) unreadable++;
      else words.set(annotation.by, passed);
    }
    const passes = [...words.values()].filter((passed) => passed).length;
    const fails = words.size - passes;
    const [first] = own;
    const version = first?.agentVersion === undefined ? {} : { agentVersion: first.agentVersion };
    return { key, passed: passes === fails ? undefined : passes > fails, words, verdict: first?.verdict, ...version };
  });
  return { runs, unreadable };
}

/** Annotators may name a call by its span or its id; the evaluator's part identifies it. */
function targetText(row: AnnotatedRun): string {
  const {
    annotation: { toolCall },
    part,
  } = row;
  return toolCall === undefined ? runKeyText(row) : `${runKeyText(row)} ${part ?? toolCall}`;
}

export function runKeyText(run: RunKey): string {
  return `${run.tenant}/${runTargetId(run)}`;
}

/** Labels required per kind of verdict; with fewer, chance dominates the correction. */
export const labelsMin = 20;

export interface TrafficRate {
  /** `mean_score` for an evaluator without a threshold. */
  readonly measure: 'pass_rate' | 'mean_score';
  /** The corrected rate if there are enough labels, else the judged one. */
  readonly rate: Estimate;
  readonly corrected: boolean;
  /** The rate by the evaluator's verdicts. */
  readonly judged: Estimate;
  /** The rate that people would find. Labels may depend on the verdict. */
  readonly predictionPowered: PredictionPowered | NotEstimable;
  /** The rate corrected by the judge's error rates. Valid only if labels do not depend on the verdict. */
  readonly roganGladen: CorrectedRate | NotEstimable;
  /** Number of judged runs with a label. */
  readonly labels: number;
  readonly coverage: Coverage | NotEstimable;
  readonly weights: RateWeights;
}

/** Weights of single runs in a rate. */
interface RateWeights extends CappedWeights {
  /** Kish's effective size after the cap of weights. */
  readonly kishN: number;
}

export interface RateInput {
  readonly rows: readonly VerdictRow[];
  /** Whether people pass a run, by run key. */
  readonly labels: ReadonlyMap<string, boolean>;
  readonly decided: readonly DecidedRuns[];
}

interface Judged {
  readonly row: VerdictRow;
  readonly value: number;
  readonly label: boolean | undefined;
}

export function trafficRate({ rows, labels, decided }: RateInput): TrafficRate {
  const measure = rows.some(({ word }) => word === 'pass' || word === 'fail') ? 'pass_rate' : 'mean_score';
  const judged = rows.flatMap((row): readonly Judged[] => {
    const value =
      measure === 'mean_score'
        ? row.word === 'raw'
          ? row.score
          : undefined
        : row.word === 'pass'
          ? 1
          : row.word === 'fail'
            ? 0
            : undefined;
    return value === undefined ? [] : [{ row, value, label: measure === 'mean_score' ? undefined : labels.get(runKeyText(row)) }];
  });
  const scored = judged.map(({ row }) => row);
  const { weightMax, capped } = cappedClaims(scored);
  const probabilityOf = capping(weightMax);
  const observed = observation(probabilityOf);
  const sums = rateSums(judged.map(({ row, value }) => observed(row, value))).data();
  const parts = trafficParts(rows, judged, decided);
  const scarce = scarcityOf(scored, parts);
  const plain = scarce ?? weightedRate(sums);
  const powered = scarce ?? corrected(judged, observed);
  const labelled = judged.filter(({ label }) => label !== undefined).length;
  const enough = powered.kind === 'estimated' && isEnough(judged);
  return {
    measure,
    rate: enough ? powered : plain,
    corrected: enough,
    judged: plain,
    predictionPowered: powered,
    roganGladen: byErrorRates(judged, plain),
    labels: labelled,
    coverage: coverage(parts),
    weights: {
      weightMax: capped === 0 ? Infinity : weightMaxOf(scored),
      capped,
      largestShare: largestShare(scored),
      kishN: kishEffectiveN(sums),
    },
  };
}

/** The largest weight of a run among all these rows, with or without a score. */
export function weightMaxOf(rows: readonly VerdictRow[]): number {
  const probabilityOf = capping(cappedClaims(rows).weightMax);
  return rows.reduce((most, row) => Math.max(most, 1 / probabilityOf(row)), rows.length === 0 ? Infinity : 1);
}

/** Whoever sends a span claims what samplers before the service kept, so such a weight is bounded. The service's own probabilities are as it drew. */
function cappedClaims(rows: readonly VerdictRow[]): CappedWeights {
  return cappedWeights(rows.map(({ upstream = 1 }) => upstream));
}

type ProbabilityOf = (row: VerdictRow) => number;

function capping(weightMax: number): ProbabilityOf {
  return ({ sampleProbability, upstream = 1 }) => sampleProbability * Math.max(1, 1 / weightMax / upstream);
}

function largestShare(rows: readonly VerdictRow[]): number {
  return cappedWeights(rows.map(({ sampleProbability }) => sampleProbability)).largestShare;
}

type Observe = (row: VerdictRow, value: number) => RateObservation;

/** Session ids of different tenants are different sessions. */
function sessionOf({ tenant, sessionId }: VerdictRow): string | undefined {
  return sessionId === undefined || tenant === noTenant ? sessionId : `${tenant} ${sessionId}`;
}

function observation(probabilityOf: ProbabilityOf): Observe {
  return (row, value) => {
    const session = sessionOf(row);
    return { value, probability: probabilityOf(row), ...(session === undefined ? {} : { session }) };
  };
}

/** `undefined` too when no run was raised. */
function scarcityOf(judged: readonly VerdictRow[], traffic: TrafficParts): NotEstimable | undefined {
  const [usual, raised] = [true, false].map((isUsual) => judged.filter(({ raisedBy }) => (raisedBy === undefined) === isUsual));
  if (usual === undefined || raised === undefined || raised.length === 0) return undefined;
  // The traffic counts the runs that reach the service, and so do these weights.
  const weightOf = (rows: readonly VerdictRow[]): number =>
    rows.reduce((sum, { sampleProbability, upstream = 1 }) => sum + upstream / sampleProbability, 0);
  const chosen = traffic.scoredWeight + traffic.failedWeight + traffic.waitingWeight;
  return tooFewUsual({
    runs: chosen === 0 ? 0 : ((traffic.eligible - traffic.unreachable) * traffic.scoredWeight) / chosen,
    raisedWeight: weightOf(raised),
    usual: new Set(usual.map((row) => sessionOf(row) ?? runKeyText(row))).size,
    usualWeight: weightOf(usual),
  });
}

const strata = [1, 0] as const;

/** Enough labels among passes and among failures. */
function isEnough(judged: readonly Judged[]): boolean {
  return strata.every((value) => {
    const own = judged.filter((one) => one.value === value);
    return own.filter(({ label }) => label !== undefined).length >= Math.min(labelsMin, own.length);
  });
}

/**
 * People label failures more often than passes. So labels count as drawn evenly among the runs of one verdict, with the resulting
 * probability.
 */
function corrected(judged: readonly Judged[], observed: Observe): PredictionPowered | NotEstimable {
  const shares = new Map(
    strata.map((value) => {
      const own = judged.filter((one) => one.value === value);
      return [value, own.filter(({ label }) => label !== undefined).length / Math.max(1, own.length)] as const;
    }),
  );
  // Without labels for a verdict, nothing is known about people's opinion of it.
  if (judged.length > 0 && strata.some((value) => shares.get(value) === 0 && judged.some((one) => one.value === value)))
    return notEstimable('no_labels');
  return predictionPowered(
    judged.map(({ row, value, label }) => {
      const { value: verdict, ...rest } = observed(row, value);
      const share = shares.get(value === 1 ? 1 : 0) ?? 0;
      return { verdict, ...rest, ...(label === undefined || share === 0 ? {} : { label: { value: label ? 1 : 0, probability: share } }) };
    }),
  );
}

function byErrorRates(judged: readonly Judged[], plain: Estimate): CorrectedRate | NotEstimable {
  if (plain.kind === 'not_estimable') return plain;
  const labelled = judged.flatMap(({ value, label }) => (label === undefined ? [] : [{ label, verdict: value === 1 }]));
  if (labelled.length === 0) return notEstimable('no_labels');
  return roganGladen({ judged: plain, labelled: confusion(labelled), overlap: labelled.length / judged.length });
}

type TrafficParts = Parameters<typeof coverage>[0];

/** The traffic by what became of it: runs with a score, without an answer, and without a question. */
function trafficParts(rows: readonly VerdictRow[], judged: readonly Judged[], decided: readonly DecidedRuns[]): TrafficParts {
  const probabilityOf = capping(cappedClaims(rows).weightMax);
  const weight = (some: readonly VerdictRow[]): number =>
    some.reduce((sum, row) => sum + (row.sampleProbability > 0 ? 1 / probabilityOf(row) : 0), 0);
  const [scoredWeight, failedWeight, skippedWeight] = [
    weight(judged.map(({ row }) => row)),
    weight(rows.filter(({ word }) => word === 'error')),
    weight(rows.filter(({ word }) => word === 'skipped')),
  ];
  const sum = (of: keyof Pick<DecidedRuns, 'runs' | 'chosen' | 'weight' | 'unchosen'>, ...decisions: readonly string[]): number =>
    decided.filter(({ decision }) => decisions.includes(decision)).reduce((all, one) => all + one[of], 0);
  // Assumes the same share of skips among the runs without a question.
  const answered = scoredWeight + failedWeight + skippedWeight;
  const applies = answered > 0 ? (scoredWeight + failedWeight) / answered : 1;
  // A chosen run without an answer stands for others like an answered one. A run that the configuration left out counts only if it was
  // chosen.
  const eligible =
    (sum('runs', 'scored', 'skipped', 'sampled_out', 'over_budget', 'overload', 'failed', 'waiting') + sum('chosen', 'filtered')) * applies;
  const lostWeight = sum('weight', 'over_budget', 'overload', 'filtered') * applies;
  return {
    eligible,
    unreachable: sum('unchosen', 'over_budget', 'overload') * applies,
    scoredWeight,
    failedWeight: failedWeight + lostWeight,
    waitingWeight: sum('weight', 'waiting') * applies,
  };
}
