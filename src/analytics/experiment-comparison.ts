/** Compares two experiments on the examples that both have: each example with itself. */
import { comparedIssues, type ComparedIssues } from './compared-issues.ts';
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

/** The second experiment against the first. */
export const comparisonWords = ['better', 'worse', 'worse_with_unscored', 'no_difference_shown', 'not_comparable'] as const;
export type ComparisonWord = (typeof comparisonWords)[number];

export function isWorse(word: ComparisonWord): boolean {
  return word === 'worse' || word === 'worse_with_unscored';
}

/** A paired difference with its test. */
export interface TestedDifference {
  readonly test: 'mcnemar' | ScoreDifference['method'] | undefined;
  readonly difference: Estimated | NotEstimable;
  /** The p-value of only this test. */
  readonly p: number | undefined;
  /** Corrected for the number of tests that could have shown a difference. */
  readonly adjustedP: number | undefined;
}

/**
 * Examples that an evaluator scored on one side at least, and not on each run of both: it was skipped, had no answer, or the run crashed.
 * A version must not gain by runs without a score.
 */
export interface UnscoredComparison {
  readonly examples: number;
  readonly first: UnscoredSide;
  readonly second: UnscoredSide;
  /** Test of the share of runs without a score. */
  readonly share: TestedDifference;
  /** When a run without a score counts as not passed, or as the score 0, on both sides. */
  readonly asNotPassed: TestedDifference;
  /** Range of the difference: from unscored runs that passed in the first and not in the second, to the opposite. */
  readonly range: { readonly low: number; readonly high: number };
  /** Examples with a larger share of runs without a score in the second. */
  readonly lessScored: readonly string[];
}

interface UnscoredSide {
  readonly runs: number;
  readonly unscored: number;
}

export interface EvaluatorComparison extends TestedDifference {
  readonly name: string;
  readonly measure: Measure;
  readonly word: ComparisonWord;
  /** Examples that both sides have a value of. */
  readonly examples: number;
  readonly first: Estimate;
  readonly second: Estimate;
  /** `undefined`: both sides scored the same examples on each run. */
  readonly unscored: UnscoredComparison | undefined;
  /** Examples whose share of passed runs, or whose score, differs; the largest changes first. */
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
  /** Explanation of the worst run. */
  readonly explanation: string;
  /** The worst run; `undefined` when its result names none. */
  readonly run: ExperimentResult['run'];
  /** Means of the runs of the example; `undefined` when no run reports it. */
  readonly usage: { readonly [of in UsageComparison['of']]: number | undefined };
}

/** The usage of a run; less is cheaper, not better. */
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
  /** `undefined`: one side is from a release that notes no signatures, or from a test in code. */
  readonly issues: ComparedIssues | undefined;
  /** Obstacles to a fair comparison, in sentences. */
  readonly warnings: readonly string[];
  /** Level of each test after the correction. */
  readonly level: number;
  /** Evaluators that are significantly worse. */
  readonly regressions: readonly string[];
  /** Evaluators that are significantly worse when a run without a score counts as not passed. */
  readonly unscoredRegressions: readonly string[];
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
  const named = (word: ComparisonWord): readonly string[] => evaluators.filter((one) => one.word === word).map(({ name }) => name);
  const evaluators = withCorrection(names.map((name) => evaluatorComparison(name, pairs, inputs)));
  return {
    first: first.experiment,
    second: second.experiment,
    examples: both.length,
    onlyFirst: [...ofFirst.keys()].filter((id) => !isBoth.has(id)),
    onlySecond: [...ofSecond.keys()].filter((id) => !isBoth.has(id)),
    evaluators,
    usage: usages.flatMap((usage) => usageComparison(usage, pairs)),
    issues: comparedIssues(pairs.first, pairs.second),
    warnings: warningsOf(first.experiment, second.experiment),
    level: 1 - usualConfidence,
    regressions: named('worse'),
    unscoredRegressions: named('worse_with_unscored'),
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

/** Before the correction. */
interface Uncorrected extends Omit<TestedDifference, 'adjustedP'> {
  /** The least p-value that as many differing examples could give. */
  readonly leastP: number;
}

interface UncorrectedEvaluator extends Omit<EvaluatorComparison, 'word' | keyof TestedDifference | 'unscored'> {
  readonly tested: Uncorrected;
  readonly unscored:
    | (Omit<UnscoredComparison, 'share' | 'asNotPassed'> & { readonly share: Uncorrected; readonly asNotPassed: Uncorrected })
    | undefined;
}

function evaluatorComparison(name: string, pairs: Pairs, inputs: ReadonlyMap<string, string | undefined>): UncorrectedEvaluator {
  const measure = measureOf([...pairs.first, ...pairs.second].flatMap((result) => verdictsOn(result, name)));
  const sideOf = (results: readonly ExperimentResult[] = []): ExampleSide => {
    const observed = results.map((result) => observedOn(result, name, measure));
    return { observed: observed.flat(), unscored: observed.filter(({ length }) => length === 0).length };
  };
  const second = byExample(pairs.second);
  const examples = [...byExample(pairs.first)].map(([exampleId, own]) => ({
    exampleId,
    first: sideOf(own),
    second: sideOf(second.get(exampleId)),
  }));
  const matched = examples.filter((one) => one.first.observed.length > 0 && one.second.observed.length > 0);
  const [ones, others] = [matched.flatMap((pair) => pair.first.observed), matched.flatMap((pair) => pair.second.observed)];
  return {
    name,
    measure,
    examples: matched.length,
    first: estimateOf(ones, measure),
    second: estimateOf(others, measure),
    tested: differenceOf(
      matched.map((one) => ({ first: valuesOf(one.first), second: valuesOf(one.second) })),
      measure,
    ),
    unscored: unscoredComparison(
      examples.filter((one) => one.first.observed.length > 0 || one.second.observed.length > 0),
      measure,
    ),
    flipped: matched
      .map(({ exampleId, first: before, second: after }): Flip => ({
        exampleId,
        input: inputs.get(exampleId),
        first: flipSide(before.observed),
        second: flipSide(after.observed),
      }))
      .filter((flip) => Math.abs(changeOf(flip)) > sameWithin)
      .sort((one, other) => Math.abs(changeOf(other)) - Math.abs(changeOf(one)) || changeOf(one) - changeOf(other)),
    repeats: measure === 'rate' ? { first: repeatSummaries(ones), second: repeatSummaries(others) } : { first: [], second: [] },
  };
}

interface MatchedExample {
  readonly exampleId: string;
  readonly first: ExampleSide;
  readonly second: ExampleSide;
}

interface ExampleSide {
  readonly observed: readonly Observed[];
  /** Runs without a score. */
  readonly unscored: number;
}

/** `unscoredAs`: the value of a run without a score; those runs are left out without it. */
function valuesOf({ observed, unscored }: ExampleSide, unscoredAs?: number): readonly number[] {
  const values = observed.map(({ value }) => value);
  return unscoredAs === undefined ? values : [...values, ...Array.from({ length: unscored }, () => unscoredAs)];
}

function unscoredComparison(examples: readonly MatchedExample[], measure: Measure): UncorrectedEvaluator['unscored'] {
  const count = (side: 'first' | 'second'): UnscoredSide => ({
    runs: sum(examples.map((one) => one[side].observed.length + one[side].unscored)),
    unscored: sum(examples.map((one) => one[side].unscored)),
  });
  const [first, second] = [count('first'), count('second')];
  if (first.unscored + second.unscored === 0) return undefined;
  const counted = (firstAs: number, secondAs: number): readonly PairedValues[] =>
    examples.map((one) => ({ first: valuesOf(one.first, firstAs), second: valuesOf(one.second, secondAs) }));
  const meanChange = (pairs: readonly PairedValues[]): number => mean(pairs.map((pair) => mean(pair.second) - mean(pair.first)));
  const isUnscored = ({ observed, unscored }: ExampleSide): readonly number[] => [
    ...observed.map(() => 0),
    ...Array.from({ length: unscored }, () => 1),
  ];
  const shares = examples.map((one) => ({ exampleId: one.exampleId, first: isUnscored(one.first), second: isUnscored(one.second) }));
  return {
    examples: examples.length,
    first,
    second,
    share: differenceOf(shares, 'rate'),
    asNotPassed: differenceOf(counted(0, 0), measure),
    range: { low: meanChange(counted(1, 0)), high: meanChange(counted(0, 1)) },
    lessScored: shares.filter((one) => mean(one.second) > mean(one.first)).map(({ exampleId }) => exampleId),
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}

function mean(values: readonly number[]): number {
  return sum(values) / values.length;
}

/** The effect of rounding on a mean. */
const sameWithin = 1e-9;

function changeOf({ first, second }: Flip): number {
  return second.value - first.value;
}

function flipSide(observed: readonly Observed[]): FlipSide {
  const [first] = observed;
  const worst = observed.reduce((least, one) => (least === undefined || one.value < least.value ? one : least), first);
  return {
    value: mean(observed.map(({ value }) => value)),
    runs: observed.length,
    explanation: worst?.explanation ?? '',
    run: worst?.result.run,
    usage: Object.fromEntries(
      usages.map(({ of, valueOf }) => [of, meanKnown(observed.flatMap(({ result }) => valueOf(result) ?? []))]),
    ) as FlipSide['usage'],
  };
}

function meanKnown(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : mean(values);
}

/** Values of the runs of one example. */
interface PairedValues {
  readonly first: readonly number[];
  readonly second: readonly number[];
}

/** One run on each side that passed or failed: McNemar. Else the means of the examples are compared. */
function differenceOf(pairs: readonly PairedValues[], measure: Measure): Uncorrected {
  if (pairs.length === 0) return { difference: notEstimable('no_common_example'), p: undefined, leastP: 1, test: undefined };
  const isSingle = pairs.every(({ first, second }) => first.length === 1 && second.length === 1);
  if (measure === 'rate' && isSingle) {
    const counts = { both: 0, onlyFirst: 0, onlySecond: 0, neither: 0 };
    for (const { first, second } of pairs) {
      const [before, after] = [first[0] === 1, second[0] === 1];
      counts[before ? (after ? 'both' : 'onlyFirst') : after ? 'onlySecond' : 'neither']++;
    }
    return {
      difference: pairedDifference(counts),
      p: mcNemar(counts).midP,
      leastP: 0.5 ** (counts.onlyFirst + counts.onlySecond),
      test: 'mcnemar',
    };
  }
  const found = changeOfMeans(pairs.map(({ first, second }) => mean(second) - mean(first)));
  if (found.kind === 'not_estimable') return { difference: found, p: undefined, leastP: 1, test: undefined };
  const { p, leastP, method, ...difference } = found;
  return { difference, p, leastP, test: method };
}

function changeOfMeans(differences: readonly number[], areShares = true): ScoreDifference | NotEstimable {
  return differences.length === 1 ? notEstimable('one_common_example') : scoreDifference(differences, { areShares });
}

/** One family of tests: the scores of each evaluator, the share of runs without one, and the scores with those runs as not passed. */
function withCorrection(found: readonly UncorrectedEvaluator[]): readonly EvaluatorComparison[] {
  const family = found.flatMap(({ tested, unscored }) =>
    unscored === undefined ? [tested] : [tested, unscored.share, unscored.asNotPassed],
  );
  const tests = family.flatMap((test) => (test.p === undefined ? [] : [{ test, p: test.p, least: test.leastP }]));
  const adjusted = discreteHolmAdjusted(tests);
  const corrected = new Map(tests.map(({ test }, at) => [test, adjusted[at]]));
  const withAdjusted = (test: Uncorrected): TestedDifference => {
    const { leastP: _least, ...rest } = test;
    return { ...rest, adjustedP: corrected.get(test) };
  };
  return found.map(({ tested, unscored, ...one }) => {
    const scored = withAdjusted(tested);
    const whole =
      unscored === undefined
        ? undefined
        : { ...unscored, share: withAdjusted(unscored.share), asNotPassed: withAdjusted(unscored.asNotPassed) };
    return { ...one, ...scored, unscored: whole, word: wordOf(scored, whole) };
  });
}

/** Better needs both comparisons. Worse by either is worse, unless the second has no score at all: then the evaluator is lost. */
function wordOf(scored: TestedDifference, unscored: UnscoredComparison | undefined): ComparisonWord {
  const own = directionOf(scored);
  if (own === 'worse' || unscored === undefined) return own;
  const counted = directionOf(unscored.asNotPassed);
  if (counted === 'worse' && unscored.second.unscored < unscored.second.runs) return 'worse_with_unscored';
  return own === 'better' && counted !== 'better' ? 'no_difference_shown' : own;
}

/** A direction needs both: a corrected p-value below the level, and an interval without 0. */
function directionOf({ adjustedP, difference }: TestedDifference): Exclude<ComparisonWord, 'worse_with_unscored'> {
  if (adjustedP === undefined || difference.kind === 'not_estimable') return 'not_comparable';
  if (adjustedP >= 1 - usualConfidence) return 'no_difference_shown';
  return difference.low > 0 ? 'better' : difference.high < 0 ? 'worse' : 'no_difference_shown';
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
        return values.length === 0 ? [] : [[id, mean(values)] as const];
      }),
    );
  const [first, second] = [means(pairs.first), means(pairs.second)];
  const matched = [...first].flatMap(([id, one]) => {
    const other = second.get(id);
    return other === undefined ? [] : [{ one, other }];
  });
  if (matched.length === 0) return [];
  return [
    {
      of,
      examples: matched.length,
      first: mean(matched.map(({ one }) => one)),
      second: mean(matched.map(({ other }) => other)),
      difference: changeOfMeans(
        matched.map(({ one, other }) => other - one),
        false,
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
