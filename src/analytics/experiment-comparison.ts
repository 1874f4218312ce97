/** Compares two experiments on the examples that both have: each example with itself. */
import {
  completedName,
  estimateOf,
  evaluatorNames,
  type Measure,
  measureOf,
  type Observed,
  observedOn,
  type RepeatSummary,
  repeatSummaries,
  verdictsOn,
} from './experiment-summary.ts';
import type { Experiment, ExperimentResult } from '../model/experiment.ts';
import { mcNemar, pairedDifference } from '../statistics/comparison.ts';
import { type Estimate, type Estimated, notEstimable, type NotEstimable, usualConfidence } from '../statistics/estimate.ts';
import { discreteHolmAdjusted } from '../statistics/holm.ts';
import { type ScoreDifference, scoreDifference } from '../statistics/paired-scores.ts';

export interface ExperimentWithResults {
  readonly experiment: Experiment;
  readonly results: readonly ExperimentResult[];
}

/** Of the second experiment against the first. */
export const comparisonWords = ['better', 'worse', 'no_difference_shown', 'not_comparable'] as const;
export type ComparisonWord = (typeof comparisonWords)[number];

export interface EvaluatorComparison {
  readonly name: string;
  readonly measure: Measure;
  readonly word: ComparisonWord;
  /** Examples that both sides have a value of. */
  readonly examples: number;
  readonly first: Estimate;
  readonly second: Estimate;
  readonly test: 'mcnemar' | ScoreDifference['method'] | undefined;
  readonly difference: Estimated | NotEstimable;
  /** Of this evaluator alone. */
  readonly p: number | undefined;
  /** Corrected for the number of evaluators that could have shown a difference. */
  readonly adjustedP: number | undefined;
  /** Examples whose share of passed runs, or whose score, is another one; the largest changes first. */
  readonly flipped: readonly Flip[];
  readonly repeats: { readonly first: readonly RepeatSummary[]; readonly second: readonly RepeatSummary[] };
}

export interface Flip {
  readonly exampleId: string;
  /** The beginning of its input. */
  readonly input: string | undefined;
  readonly first: FlipSide;
  readonly second: FlipSide;
}

interface FlipSide {
  /** Share of the runs that passed, or the mean score. */
  readonly value: number;
  readonly runs: number;
  /** Of the worst run. */
  readonly explanation: string;
  /** The worst run; `undefined` when its result names none. */
  readonly run: ExperimentResult['run'];
  /** Means of the runs of the example; `undefined` when no run tells. */
  readonly usage: { readonly [of in UsageComparison['of']]: number | undefined };
}

/** What a run takes; less is cheaper, not better. */
export interface UsageComparison {
  readonly of: 'cost' | 'tokens' | 'duration';
  /** Examples that both sides have a value of. */
  readonly examples: number;
  readonly first: number;
  readonly second: number;
  readonly difference: Pick<Estimated, 'kind' | 'point' | 'low' | 'high'> | NotEstimable;
}

export interface Comparison {
  readonly first: Experiment;
  readonly second: Experiment;
  /** Examples that both have a result of. */
  readonly examples: number;
  readonly onlyFirst: readonly string[];
  readonly onlySecond: readonly string[];
  /** `completed` first. */
  readonly evaluators: readonly EvaluatorComparison[];
  readonly usage: readonly UsageComparison[];
  /** What keeps the two from being compared like with like, in sentences. */
  readonly warnings: readonly string[];
  /** Level of each test after the correction. */
  readonly level: number;
  /** Evaluators that are significantly worse. */
  readonly regressions: readonly string[];
  /** Evaluators that scored the first experiment on these examples, and nothing of the second. */
  readonly lost: readonly string[];
}

export function experimentComparison(first: ExperimentWithResults, second: ExperimentWithResults): Comparison {
  const [ofFirst, ofSecond] = [byExample(first.results), byExample(second.results)];
  const both = [...ofFirst.keys()].filter((id) => ofSecond.has(id));
  const isBoth = new Set(both);
  const pairs: Pairs = {
    first: first.results.filter(({ exampleId }) => isBoth.has(exampleId)),
    second: second.results.filter(({ exampleId }) => isBoth.has(exampleId)),
  };
  const names = [
    ...new Set([
      completedName,
      ...evaluatorNames(first.experiment.evaluators, first.results),
      ...evaluatorNames(second.experiment.evaluators, second.results),
    ]),
  ];
  const inputs = new Map([...pairs.first, ...pairs.second].map(({ exampleId, input }) => [exampleId, input] as const));
  const evaluators = withCorrection(names.map((name) => evaluatorComparison(name, pairs, inputs)));
  return {
    first: first.experiment,
    second: second.experiment,
    examples: both.length,
    onlyFirst: [...ofFirst.keys()].filter((id) => !isBoth.has(id)),
    onlySecond: [...ofSecond.keys()].filter((id) => !isBoth.has(id)),
    evaluators,
    usage: usages.flatMap((usage) => usageComparison(usage, pairs)),
    warnings: warningsOf(first.experiment, second.experiment),
    level: 1 - usualConfidence,
    regressions: evaluators.filter(({ word }) => word === 'worse').map(({ name }) => name),
    lost: evaluators
      .filter(({ name, measure }) => hasValues(pairs.first, name, measure) && !hasValues(pairs.second, name, measure))
      .map(({ name }) => name),
  };
}

interface Pairs {
  readonly first: readonly ExperimentResult[];
  readonly second: readonly ExperimentResult[];
}

function byExample(results: readonly ExperimentResult[]): ReadonlyMap<string, readonly ExperimentResult[]> {
  return Map.groupBy(results, ({ exampleId }) => exampleId);
}

function hasValues(results: readonly ExperimentResult[], name: string, measure: Measure): boolean {
  return results.some((result) => observedOn(result, name, measure).length > 0);
}

interface Uncorrected extends Omit<EvaluatorComparison, 'word' | 'adjustedP'> {
  /** The least p-value that as many differing examples could give; 0 for a continuous test. */
  readonly leastP: number;
}

function evaluatorComparison(name: string, pairs: Pairs, inputs: ReadonlyMap<string, string | undefined>): Uncorrected {
  const measure = measureOf([...pairs.first, ...pairs.second].flatMap((result) => verdictsOn(result, name)));
  const of = (results: readonly ExperimentResult[]): ReadonlyMap<string, readonly Observed[]> =>
    Map.groupBy(
      results.flatMap((result) => observedOn(result, name, measure)),
      ({ exampleId }) => exampleId,
    );
  const [first, second] = [of(pairs.first), of(pairs.second)];
  const matched = [...first].flatMap(([exampleId, one]) => {
    const other = second.get(exampleId);
    return other === undefined ? [] : [{ exampleId, first: one, second: other }];
  });
  const [ones, others] = [matched.flatMap((pair) => pair.first), matched.flatMap((pair) => pair.second)];
  return {
    name,
    measure,
    examples: matched.length,
    first: estimateOf(ones, measure),
    second: estimateOf(others, measure),
    ...differenceOf(matched, measure),
    flipped: matched
      .map(({ exampleId, first: before, second: after }): Flip => ({
        exampleId,
        input: inputs.get(exampleId),
        first: flipSide(before),
        second: flipSide(after),
      }))
      .filter((flip) => Math.abs(changeOf(flip)) > sameWithin)
      .sort((one, other) => Math.abs(changeOf(other)) - Math.abs(changeOf(one)) || changeOf(one) - changeOf(other)),
    repeats: measure === 'rate' ? { first: repeatSummaries(ones), second: repeatSummaries(others) } : { first: [], second: [] },
  };
}

interface MatchedExample {
  readonly exampleId: string;
  readonly first: readonly Observed[];
  readonly second: readonly Observed[];
}

/** What rounding may do to a mean. */
const sameWithin = 1e-9;

function changeOf({ first, second }: Flip): number {
  return second.value - first.value;
}

function flipSide(observed: readonly Observed[]): FlipSide {
  const [first] = observed;
  const worst = observed.reduce((least, one) => (least === undefined || one.value < least.value ? one : least), first);
  return {
    value: meanOf(observed),
    runs: observed.length,
    explanation: worst?.explanation ?? '',
    run: worst?.result.run,
    usage: Object.fromEntries(
      usages.map(({ of, valueOf }) => [of, meanKnown(observed.flatMap(({ result }) => valueOf(result) ?? []))]),
    ) as FlipSide['usage'],
  };
}

function meanKnown(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : values.reduce((all, value) => all + value, 0) / values.length;
}

function meanOf(observed: readonly Observed[]): number {
  return observed.reduce((all, { value }) => all + value, 0) / observed.length;
}

/** One run on each side that passed or failed: McNemar. Else the means of the examples are compared. */
function differenceOf(matched: readonly MatchedExample[], measure: Measure): Pick<Uncorrected, 'difference' | 'p' | 'leastP' | 'test'> {
  const isSingle = matched.every(({ first, second }) => first.length === 1 && second.length === 1);
  if (measure === 'rate' && isSingle) {
    const counts = { both: 0, onlyFirst: 0, onlySecond: 0, neither: 0 };
    for (const { first, second } of matched) {
      const [before, after] = [first[0]?.value === 1, second[0]?.value === 1];
      counts[before ? (after ? 'both' : 'onlyFirst') : after ? 'onlySecond' : 'neither']++;
    }
    const difference = pairedDifference(counts);
    return difference.kind === 'not_estimable'
      ? { difference, p: undefined, leastP: 1, test: undefined }
      : { difference, p: mcNemar(counts).midP, leastP: 0.5 ** (counts.onlyFirst + counts.onlySecond), test: 'mcnemar' };
  }
  const found = scoreDifference(matched.map(({ first, second }) => meanOf(second) - meanOf(first)));
  if (found.kind === 'not_estimable') return { difference: found, p: undefined, leastP: 1, test: undefined };
  const { p, leastP, method, ...difference } = found;
  return { difference, p, leastP, test: method };
}

/** A word needs both: a corrected p-value below the level, and an interval without 0. */
function withCorrection(found: readonly Uncorrected[]): readonly EvaluatorComparison[] {
  const tested = found.flatMap(({ p, leastP }) => (p === undefined ? [] : [{ p, least: leastP }]));
  const corrected = discreteHolmAdjusted(tested).values();
  return found.map(({ leastP: _least, ...one }) => {
    if (one.p === undefined || one.difference.kind === 'not_estimable') return { ...one, word: 'not_comparable', adjustedP: undefined };
    const adjustedP = corrected.next().value ?? 1;
    const isSignificant = adjustedP < 1 - usualConfidence;
    const { low, high } = one.difference;
    return { ...one, adjustedP, word: isSignificant && low > 0 ? 'better' : isSignificant && high < 0 ? 'worse' : 'no_difference_shown' };
  });
}

const microsPerSecond = 1_000_000;

const usages: readonly { readonly of: UsageComparison['of']; readonly valueOf: (result: ExperimentResult) => number | undefined }[] = [
  { of: 'cost', valueOf: ({ cost }) => cost },
  {
    of: 'tokens',
    valueOf: ({ inputTokens, outputTokens }) =>
      inputTokens === undefined && outputTokens === undefined ? undefined : (inputTokens ?? 0) + (outputTokens ?? 0),
  },
  { of: 'duration', valueOf: ({ tookMicros }) => (tookMicros === undefined ? undefined : tookMicros / microsPerSecond) },
];

function usageComparison({ of, valueOf }: (typeof usages)[number], pairs: Pairs): readonly UsageComparison[] {
  const means = (results: readonly ExperimentResult[]): ReadonlyMap<string, number> =>
    new Map(
      [...byExample(results)].flatMap(([id, own]) => {
        const values = own.flatMap((result) => valueOf(result) ?? []);
        return values.length === 0 ? [] : [[id, values.reduce((all, value) => all + value, 0) / values.length] as const];
      }),
    );
  const [first, second] = [means(pairs.first), means(pairs.second)];
  const matched = [...first].flatMap(([id, one]) => {
    const other = second.get(id);
    return other === undefined ? [] : [{ one, other }];
  });
  if (matched.length === 0) return [];
  const mean = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0) / values.length;
  return [
    {
      of,
      examples: matched.length,
      first: mean(matched.map(({ one }) => one)),
      second: mean(matched.map(({ other }) => other)),
      difference:
        matched.length < 2
          ? notEstimable('one_session')
          : scoreDifference(
              matched.map(({ one, other }) => other - one),
              { areShares: false },
            ),
    },
  ];
}

function warningsOf(first: Experiment, second: Experiment): readonly string[] {
  const [before, after] = [first.dataset, second.dataset];
  const changed = second.evaluators.flatMap(({ name, version, threshold }) => {
    const same = first.evaluators.find((one) => one.name === name);
    if (same === undefined) return [];
    return same.version !== version || same.threshold !== threshold ? [name] : [];
  });
  return [
    ...(before !== undefined && after !== undefined && before.hash !== after.hash
      ? [
          `The datasets differ (${datasetText(before)}, then ${datasetText(after)}): an example of one id may have another input or expectation.`,
        ]
      : []),
    ...(first.provenance.configHash !== undefined &&
    second.provenance.configHash !== undefined &&
    first.provenance.configHash !== second.provenance.configHash
      ? ['The configurations differ, so a difference may come from evaluators or judges.']
      : []),
    ...(changed.length === 0 ? [] : [`These evaluators have another version or threshold: ${changed.join(', ')}.`]),
    ...[first, second].flatMap(({ id, state }) => (state === 'done' ? [] : [`The experiment ${id} is ${state}: it may lack results.`])),
  ];
}

function datasetText({ name, version, hash }: NonNullable<Experiment['dataset']>): string {
  return version === undefined ? `${name} ${hash.slice(0, 8)}` : `${name}@${version}`;
}
