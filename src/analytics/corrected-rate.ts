/**
 * The rate of an evaluator over all traffic, weighted by sampling probabilities and corrected by people's labels; and the meaning of those
 * labels.
 */
import type { RunKey } from '../model/agent-trace.ts';
import { noTenant, type Tenant } from '../model/ids.ts';
import type { AnnotatedRun, StoredAnnotation } from '../model/store/annotation-store.ts';
import type { DecidedRuns, VerdictRow } from '../model/store/verdict-rows.ts';
import { runTargetId } from '../model/verdict.ts';
import { type CorrectedRate, predictionPowered, type PredictionPowered, roganGladen } from '../statistics/correction.ts';
import { type Estimate, notEstimable, type NotEstimable } from '../statistics/estimate.ts';
import { tooFewDrawn } from '../statistics/drawn-agreement.ts';
import type { Confusion, LabelledVerdict } from '../statistics/proportion.ts';
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

/** The meaning of each label of an evaluator, true for a pass. Only labels that always or never pass have one. */
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

/** True when an annotation passes: as stated, else by the meaning of its label, else by its score. `undefined` when the label is unknown. */
export function passedOf(
  { passed, label, score }: Pick<StoredAnnotation, 'passed' | 'label' | 'score'>,
  meanings: LabelMeanings,
): boolean | undefined {
  if (passed !== undefined) return passed;
  const meant = label === undefined ? undefined : meanings.get(label.toLowerCase());
  return meant ?? (score === undefined ? undefined : score >= passingScore);
}

/** The verdict of people on a run. */
export interface RunLabel {
  readonly passed: boolean;
  /** With which people come to the run in a queue's random order of those that have a verdict. `undefined`: a person or a rule chose it. */
  readonly probability: number | undefined;
}

/** A run, or one of its tool calls. */
export interface LabelledRun {
  readonly key: string;
  /** The majority of the annotators; `undefined` for a tie. Where the run was drawn at random, only the labels of that draw count. */
  readonly passed: boolean | undefined;
  /** The same as in `RunLabel`. */
  readonly probability: number | undefined;
  /** Annotators and whether they pass the run. */
  readonly words: ReadonlyMap<string, boolean>;
  readonly verdict: AnnotatedRun['verdict'];
  /** Version of the agent; absent when the run names none. */
  readonly agentVersion?: string;
  readonly session: string | undefined;
}

/** Groups annotations of one name by target. `unreadable`: number of annotations with an unknown label. */
export function labelledRuns(rows: readonly AnnotatedRun[]): { readonly runs: readonly LabelledRun[]; readonly unreadable: number } {
  const meanings = labelMeanings(rows.flatMap(({ verdict }) => verdict ?? []));
  let unreadable = 0;
  const runs = [...Map.groupBy(rows, targetText)].map(([key, own]): LabelledRun => {
    const words = new Map<string, boolean>();
    const drawnWords = new Map<string, boolean>();
    let probability: number | undefined;
    for (const { annotation } of own) {
      const passed = passedOf(annotation, meanings);
      if (passed === undefined) unreadable++;
      else {
        words.set(annotation.by, passed);
        if (annotation.probability === undefined) continue;
        drawnWords.set(annotation.by, passed);
        // Queues draw by the same number of the run, so the queue that draws most has all that the others draw.
        probability = Math.max(probability ?? 0, annotation.probability);
      }
    }
    const [first] = own;
    return {
      key,
      passed: majority(probability === undefined ? words : drawnWords),
      probability,
      words,
      verdict: first?.verdict,
      ...(first?.agentVersion === undefined ? {} : { agentVersion: first.agentVersion }),
      session: first === undefined ? undefined : sessionOf(first),
    };
  });
  return { runs, unreadable };
}

function majority(words: ReadonlyMap<string, boolean>): boolean | undefined {
  const passes = [...words.values()].filter((passed) => passed).length;
  const fails = words.size - passes;
  return passes === fails ? undefined : passes > fails;
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

/** Effective number of drawn labels below which a rate is not corrected: chance would dominate the correction. */
export const labelsMin = 100;

export interface TrafficRate {
  /** `mean_score` for an evaluator without a threshold. */
  readonly measure: 'pass_rate' | 'mean_score';
  /** The corrected rate if enough labels are of runs that were drawn at random, else the judged one. */
  readonly rate: Estimate;
  readonly corrected: boolean;
  /** Why labels do not correct it; `undefined` when they do, and for a mean score. */
  readonly uncorrected: NotEstimable | undefined;
  /** The rate by the evaluator's verdicts. */
  readonly judged: Estimate;
  /** The rate that people would find, from labels of drawn runs. */
  readonly predictionPowered: PredictionPowered | NotEstimable;
  /** The rate corrected by the judge's error rates on labelled runs that were drawn. */
  readonly roganGladen: CorrectedRate | NotEstimable;
  /** Number of judged runs with a label. */
  readonly labels: number;
  /** Those that a queue drew at random. */
  readonly drawnLabels: number;
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
  /** Labels of people, by run key. */
  readonly labels: ReadonlyMap<string, RunLabel>;
  readonly decided: readonly DecidedRuns[];
}

interface Judged {
  readonly row: VerdictRow;
  readonly value: number;
  readonly label: RunLabel | undefined;
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
  const enough = powered.kind === 'estimated';
  const labelled = judged.flatMap(({ label }) => label ?? []);
  return {
    measure,
    rate: enough ? powered : plain,
    corrected: enough,
    uncorrected: enough || measure === 'mean_score' ? undefined : powered,
    judged: plain,
    predictionPowered: powered,
    roganGladen: byErrorRates(judged, plain, observed),
    labels: labelled.length,
    drawnLabels: labelled.filter(({ probability }) => probability !== undefined).length,
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

/**
 * Any sender of a span claims what samplers before the service kept, so such a weight is bounded. The service drew its own probabilities, which are
 * exact.
 */
function cappedClaims(rows: readonly VerdictRow[]): CappedWeights {
  return cappedWeights(rows.map(({ upstream = 1 }) => upstream));
}

type ProbabilityOf = (row: Pick<VerdictRow, 'sampleProbability' | 'upstream'>) => number;

export function capping(weightMax: number): ProbabilityOf {
  return ({ sampleProbability, upstream = 1 }) => sampleProbability * Math.max(1, 1 / weightMax / upstream);
}

function largestShare(rows: readonly VerdictRow[]): number {
  return cappedWeights(rows.map(({ sampleProbability }) => sampleProbability)).largestShare;
}

type Observe = (row: VerdictRow, value: number) => RateObservation;

/** Session ids of different tenants are different sessions. */
function sessionOf({ tenant, sessionId }: { readonly tenant: Tenant; readonly sessionId?: string | undefined }): string | undefined {
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

interface DrawnRun extends LabelledVerdict {
  /** With which the run was judged and drawn. */
  readonly probability: number;
}

/** The judged runs with a label that a queue drew at random. Positive is a pass. */
function drawnRuns(judged: readonly Judged[], observed: Observe): readonly DrawnRun[] {
  return judged.flatMap(({ row, value, label }) =>
    label?.probability === undefined
      ? []
      : [{ label: label.passed, verdict: value === 1, probability: observed(row, value).probability * label.probability }],
  );
}

/** Labels of chosen runs have no part in it: the number of runs that each represents is unknown. */
function corrected(judged: readonly Judged[], observed: Observe): PredictionPowered | NotEstimable {
  if (judged.every(({ label }) => label === undefined)) return notEstimable(judged.length === 0 ? 'no_observations' : 'no_labels');
  return (
    tooFewLabels(drawnRuns(judged, observed)) ??
    predictionPowered(
      judged.map(({ row, value, label }) => {
        const { value: verdict, ...rest } = observed(row, value);
        return {
          verdict,
          ...rest,
          ...(label?.probability === undefined ? {} : { label: { value: label.passed ? 1 : 0, probability: label.probability } }),
        };
      }),
    )
  );
}

function tooFewLabels(drawn: readonly DrawnRun[]): NotEstimable | undefined {
  return tooFewDrawn(drawn.length, effectiveNumber(drawn), labelsMin);
}

function effectiveNumber(drawn: readonly DrawnRun[]): number {
  return kishEffectiveN(rateSums(drawn.map(({ probability }) => ({ value: 1, probability }))).data());
}

function byErrorRates(judged: readonly Judged[], plain: Estimate, observed: Observe): CorrectedRate | NotEstimable {
  if (plain.kind === 'not_estimable') return plain;
  if (judged.every(({ label }) => label === undefined)) return notEstimable('no_labels');
  const drawn = drawnRuns(judged, observed);
  const few = tooFewLabels(drawn);
  if (few !== undefined) return few;
  const number = effectiveNumber(drawn);
  // Runs that represent more others count more; together they count as their effective number.
  const whole = drawn.reduce((sum, { probability }) => sum + 1 / probability, 0);
  const part = (of: (run: DrawnRun) => boolean): number =>
    drawn.filter(of).reduce((sum, { probability }) => sum + number / probability / whole, 0);
  const labelled: Confusion = {
    truePositive: part(({ label, verdict }) => label && verdict),
    falsePositive: part(({ label, verdict }) => !label && verdict),
    falseNegative: part(({ label, verdict }) => label && !verdict),
    trueNegative: part(({ label, verdict }) => !label && !verdict),
  };
  return roganGladen({ judged: plain, labelled, overlap: Math.min(1, number / plain.effectiveN) });
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
  // A chosen run without an answer represents others like an answered one. A run that the configuration left out counts only if it was chosen.
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
