/** The results of one experiment: rates by evaluator with intervals, and how steady the runs of each example are. */
import type { Experiment, ExperimentResult, ResultStatus, ResultVerdict } from '../model/experiment.ts';
import type { Estimate } from '../statistics/estimate.ts';
import { passAtK, passHatK } from '../statistics/pass-at-k.ts';
import { proportion } from '../statistics/proportion.ts';
import { rateSums, weightedRate } from '../statistics/weighted-rate.ts';

/** `rate`: verdicts pass or fail. `mean`: the evaluator has no threshold, and its scores are the measure. */
export type Measure = 'rate' | 'mean';

/** Stands beside the evaluators: whether a run came to an end that could be scored. A crash is in no evaluator's rate. */
export const completedName = 'completed';

export interface EvaluatorSummary {
  readonly name: string;
  readonly measure: Measure;
  readonly passed: number;
  readonly failed: number;
  readonly raw: number;
  readonly skipped: number;
  readonly errors: number;
  /** Share that passed, or mean score; the runs of one example count as alike. */
  readonly estimate: Estimate;
  /** Sorted by k from 1; empty without repeats or without a threshold. */
  readonly repeats: readonly RepeatSummary[];
}

/** Means over the examples with at least k runs that passed or failed. */
export interface RepeatSummary {
  readonly k: number;
  readonly examples: number;
  /** Probability that at least one of k runs passes. */
  readonly passAtK: number;
  /** Probability that all k runs pass. */
  readonly passHatK: number;
}

export interface ExperimentSummary {
  readonly statuses: { readonly [status in ResultStatus]: number };
  /** Results with an error: no run, or one that did not end well. */
  readonly notCompleted: number;
  /** `completed` first, then in the order of the experiment. */
  readonly evaluators: readonly EvaluatorSummary[];
  readonly tokens: number | undefined;
  /** US dollars. `undefined` when no result has a cost. */
  readonly cost: number | undefined;
  /** Results without a cost. */
  readonly withoutCost: number;
}

/** One value of one evaluator on one run of an example: 1 passed, 0 failed, or the score of a raw metric. */
export interface Observed {
  readonly exampleId: string;
  readonly repeat: number;
  readonly value: number;
  readonly explanation: string;
  readonly result: ExperimentResult;
}

/** The largest k of pass@k and pass^k that is reported. */
const kMax = 10;

export function experimentSummary({ evaluators }: Pick<Experiment, 'evaluators'>, results: readonly ExperimentResult[]): ExperimentSummary {
  const count = (status: ResultStatus): number => results.filter((result) => result.status === status).length;
  const tokens = results.flatMap(({ inputTokens, outputTokens }) => [
    ...(inputTokens === undefined ? [] : [inputTokens]),
    ...(outputTokens === undefined ? [] : [outputTokens]),
  ]);
  const costs = results.flatMap(({ cost }) => cost ?? []);
  return {
    statuses: { passed: count('passed'), failed: count('failed'), error: count('error'), skipped: count('skipped') },
    notCompleted: results.filter(({ error }) => error !== undefined).length,
    evaluators: [completedName, ...evaluatorNames(evaluators, results)].map((name) => evaluatorSummary(name, results)),
    tokens: tokens.length === 0 ? undefined : sum(tokens),
    cost: costs.length === 0 ? undefined : sum(costs),
    withoutCost: results.length - costs.length,
  };
}

/** In the order of the experiment, then those that only expectations switched on. */
export function evaluatorNames(evaluators: Experiment['evaluators'], results: readonly ExperimentResult[]): readonly string[] {
  return [
    ...new Set([...evaluators.map(({ name }) => name), ...results.flatMap(({ verdicts }) => verdicts.map(({ name }) => name))]),
  ].filter((name) => name !== completedName);
}

function evaluatorSummary(name: string, results: readonly ExperimentResult[]): EvaluatorSummary {
  const verdicts = results.flatMap((result) => verdictsOn(result, name));
  const count = (word: ResultVerdict['verdict']): number => verdicts.filter(({ verdict }) => verdict === word).length;
  const measure = measureOf(verdicts);
  const observed = results.flatMap((result) => observedOn(result, name, measure));
  return {
    name,
    measure,
    passed: count('pass'),
    failed: count('fail'),
    raw: count('raw'),
    skipped: count('skipped'),
    errors: count('error'),
    estimate: estimateOf(observed, measure),
    repeats: measure === 'rate' ? repeatSummaries(observed) : [],
  };
}

/** An evaluator with a threshold has a rate, even where some of its verdicts are raw. */
export function measureOf(verdicts: readonly Pick<ResultVerdict, 'verdict'>[]): Measure {
  return verdicts.some(({ verdict }) => verdict === 'raw') && !verdicts.some(({ verdict }) => verdict === 'pass' || verdict === 'fail')
    ? 'mean'
    : 'rate';
}

export function verdictsOn({ verdicts, error }: ExperimentResult, name: string): readonly ResultVerdict[] {
  if (name !== completedName) return verdicts.filter((one) => one.name === name);
  return [
    {
      name,
      evaluator: name,
      verdict: error === undefined ? 'pass' : 'fail',
      score: error === undefined ? 1 : 0,
      label: error === undefined ? 'pass' : error.kind,
      explanation: error?.message ?? 'The run came to its end.',
    },
  ];
}

/** Nothing for a skipped verdict, and for a judge without an answer. */
export function observedOn(result: ExperimentResult, name: string, measure: Measure): readonly Observed[] {
  return verdictsOn(result, name).flatMap(({ verdict, score, explanation }) => {
    const value = measure === 'mean' ? score : verdict === 'pass' ? 1 : verdict === 'fail' ? 0 : undefined;
    return value === undefined ? [] : [{ exampleId: result.exampleId, repeat: result.repeat, value, explanation, result }];
  });
}

/** Wilson's interval for one run of each example; else the runs of an example are a cluster. */
export function estimateOf(observed: readonly Observed[], measure: Measure): Estimate {
  const examples = new Set(observed.map(({ exampleId }) => exampleId));
  if (measure === 'rate' && examples.size === observed.length)
    return proportion({ hits: sum(observed.map(({ value }) => value)), of: observed.length });
  return weightedRate(rateSums(observed.map(({ exampleId, value }) => ({ value, probability: 1, session: exampleId }))).data());
}

export function repeatSummaries(observed: readonly Observed[]): readonly RepeatSummary[] {
  const groups = [...Map.groupBy(observed, ({ exampleId }) => exampleId).values()].map((own) => ({
    runs: own.length,
    passed: own.filter(({ value }) => value === 1).length,
  }));
  const most = Math.min(kMax, Math.max(0, ...groups.map(({ runs }) => runs)));
  if (most < 2) return [];
  return Array.from({ length: most }, (_, at) => at + 1).map((k) => {
    const own = groups.filter(({ runs }) => runs >= k);
    const mean = (of: typeof passAtK): number => sum(own.map((group) => of(group, k) ?? 0)) / own.length;
    return { k, examples: own.length, passAtK: mean(passAtK), passHatK: mean(passHatK) };
  });
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}
