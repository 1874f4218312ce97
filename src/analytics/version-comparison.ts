/** Versions of an agent: what each did, and how two of them differ. */
import { runsOfSession, type VersionFigure, type VersionFigureKind } from '../model/store/version-store.ts';
import type { Micros } from '../model/timestamp.ts';
import {
  type ComparedArms,
  differenceSequence,
  emptySequence,
  type EstimatedDifference,
  meanSequence,
  mergedSequence,
  type SequenceSums,
} from '../statistics/confidence-sequence.ts';
import { sketchOfBins } from '../statistics/duration-bins.ts';
import { quantileOf } from '../statistics/quantile-sketch.ts';
import { type Estimate, notEstimable, type NotEstimable } from '../statistics/estimate.ts';

/** Confidence of all looks together; one comparison in a hundred may show a difference that is not there. */
export const versionConfidence = 0.99;

/** Tasks that are compared, those with the most runs of both. Each stratum widens the interval. */
const tasksMax = 20;

type Measure = 'pass_rate' | 'mean_score';

export interface RatedEvaluator {
  readonly name: string;
  readonly measure: Measure;
  /** An interval that holds at all looks. */
  readonly rate: Estimate;
}

export interface NamedRuns {
  readonly name: string;
  readonly runs: number;
}

export interface VersionReport {
  readonly agent: string;
  /** Empty: runs without a version. */
  readonly version: string;
  readonly firstAt: Micros;
  readonly lastAt: Micros;
  readonly runs: number;
  /** Means over the runs that report them; `undefined` when none does. */
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  readonly costUsd: number | undefined;
  /** Runs whose cost is known. */
  readonly costedRuns: number;
  readonly meanMicros: number | undefined;
  /** The median, accurate to 5 %. */
  readonly medianMicros: number | undefined;
  readonly p95Micros: number | undefined;
  /** The most frequent first. */
  readonly models: readonly NamedRuns[];
  readonly prompts: readonly NamedRuns[];
  readonly evaluators: readonly RatedEvaluator[];
}

/** By agent, the version that came last first. */
export function versionReports(figures: readonly VersionFigure[]): readonly VersionReport[] {
  const whole = figures.filter(({ task }) => task === '');
  return [...Map.groupBy(whole, ({ agent, version }) => JSON.stringify([agent, version])).values()]
    .flatMap((own) => reportOf(own) ?? [])
    .sort((one, another) => (one.agent === another.agent ? another.firstAt - one.firstAt : one.agent < another.agent ? -1 : 1));
}

function reportOf(own: readonly VersionFigure[]): VersionReport | undefined {
  const run = own.find(({ kind }) => kind === 'run');
  if (run === undefined) return undefined;
  const named = (kind: VersionFigureKind): readonly NamedRuns[] =>
    own
      .filter((one) => one.kind === kind)
      .map(({ name, runs }) => ({ name, runs }))
      .sort((one, another) => another.runs - one.runs || (one.name < another.name ? -1 : 1));
  return {
    agent: run.agent,
    version: run.version,
    firstAt: run.firstAt,
    lastAt: run.lastAt,
    runs: run.runs,
    inputTokens: meanOf(own, 'input_tokens'),
    outputTokens: meanOf(own, 'output_tokens'),
    costUsd: meanOf(own, 'cost'),
    costedRuns: runsOf(own, 'cost'),
    meanMicros: meanOf(own, 'took'),
    medianMicros: durationQuantile(own, 0.5),
    p95Micros: durationQuantile(own, 0.95),
    models: named('model'),
    prompts: named('prompt'),
    evaluators: evaluatorsOf(own).map(({ name, measure }) => ({
      name,
      measure,
      rate: meanSequence(sumsOf(own, name, measure), {
        confidence: versionConfidence,
        design: designOf(own, name, sumsOf(own, name, measure)),
      }),
    })),
  };
}

export function runsOf(figures: readonly VersionFigure[], kind: VersionFigureKind): number {
  return figures.reduce((sum, one) => sum + (one.kind === kind ? one.runs : 0), 0);
}

/** The mean over the runs that report it; `undefined` when none does. */
export function meanOf(figures: readonly VersionFigure[], kind: VersionFigureKind): number | undefined {
  const runs = runsOf(figures, kind);
  return runs === 0 ? undefined : figures.reduce((sum, one) => sum + (one.kind === kind ? one.value : 0), 0) / runs;
}

/** The duration, in microseconds, that this share of the runs does not exceed; to 2 %. */
export function durationQuantile(figures: readonly VersionFigure[], share: number): number | undefined {
  return quantileOf(sketchOfBins(figures.filter(({ kind }) => kind === 'duration')), share);
}

/** An evaluator with passes and fails is rated by these, with or without scores beside them. */
function evaluatorsOf(figures: readonly VersionFigure[]): readonly { readonly name: string; readonly measure: Measure }[] {
  const names = (kind: VersionFigureKind): ReadonlySet<string> => new Set(figures.flatMap((one) => (one.kind === kind ? [one.name] : [])));
  const passes = names('pass');
  return [...new Set([...passes, ...names('score')])]
    .sort()
    .map((name) => ({ name, measure: passes.has(name) ? 'pass_rate' : 'mean_score' }));
}

/** Sums of one evaluator over these figures. */
function sumsOf(figures: readonly VersionFigure[], name: string, measure: Measure): SequenceSums {
  const kind = measure === 'pass_rate' ? 'pass' : 'score';
  return figures
    .filter((one) => one.kind === kind && one.name === name)
    .reduce<SequenceSums>(
      (all, { runs, weight, value, share, shareValue }) => mergedSequence(all, { n: runs, weight, value, share, shareValue }),
      emptySequence,
    );
}

/** How many verdicts of the evaluator, or runs, the session of one of them has on average. */
function designOf(figures: readonly VersionFigure[], name: string, { n }: SequenceSums): number {
  if (n === 0) return 1;
  return 1 + figures.reduce((sum, one) => sum + (one.kind === 'session' && one.name === name ? one.value : 0), 0) / n;
}

export interface ComparedEvaluator {
  readonly name: string;
  readonly measure: Measure;
  readonly version: Estimate;
  readonly against: Estimate;
  /** `version` less `against`, within −1..1, over the tasks that both have; an interval that holds at all looks. */
  readonly difference: EstimatedDifference | NotEstimable;
  /** Tasks that are compared within themselves; 0: runs name no task. */
  readonly tasks: number;
  /** Share 0..1 of the verdicts whose task is not compared. */
  readonly leftOut: number;
  /** Mean number of verdicts in the session of a verdict, the larger of both; 1 when runs are independent. */
  readonly sessionRuns: number;
  readonly word: 'better' | 'worse' | 'no_difference_shown' | 'not_estimable';
}

export interface VersionPair {
  readonly version: string;
  readonly against: string;
}

/** Those that can be compared, the one that came last first. */
export function comparableVersions<One extends Pick<VersionReport, 'version' | 'firstAt'>>(reports: readonly One[]): readonly One[] {
  return reports
    .filter(({ version }) => version !== '' && version !== otherVersions)
    .toSorted((one, another) => another.firstAt - one.firstAt);
}

/** Versions beyond those that the store distinguishes. */
const otherVersions = 'other';

interface CompareOptions extends VersionPair {
  readonly confidence?: number;
  /** The least difference that counts. */
  readonly by?: number;
}

/** Figures of one agent, with those by task. */
export function compareVersions(figures: readonly VersionFigure[], options: CompareOptions): readonly ComparedEvaluator[] {
  const { version, against, confidence = versionConfidence, by = 0 } = options;
  const [own, other] = [version, against].map((name) => figures.filter((one) => one.version === name));
  if (own === undefined || other === undefined) return [];
  return evaluatorsOf([...own, ...other]).map(({ name, measure }): ComparedEvaluator => {
    const [first, second] = [wholeOf(other, name, measure), wholeOf(own, name, measure)];
    const designs = [designOf(other, name, first), designOf(own, name, second)] as const;
    const strata = strataOf({ first: other, second: own }, name, measure);
    const difference =
      strata === undefined
        ? differenceSequence([{ first, second, designs }], { confidence })
        : strata.length === 0 && first.n > 0 && second.n > 0
          ? notEstimable('no_common_tasks')
          : differenceSequence(
              strata.map((arms) => ({ ...arms, designs })),
              { confidence },
            );
    const compared = strata?.reduce((sum, arms) => sum + arms.first.n + arms.second.n, 0) ?? first.n + second.n;
    return {
      name,
      measure,
      version: meanSequence(second, { confidence, design: designs[1] }),
      against: meanSequence(first, { confidence, design: designs[0] }),
      difference,
      tasks: strata?.length ?? 0,
      leftOut: first.n + second.n === 0 ? 0 : 1 - compared / (first.n + second.n),
      sessionRuns: Math.max(...designs),
      word: wordOf(difference, by),
    };
  });
}

function wordOf(difference: Estimate, by: number): ComparedEvaluator['word'] {
  if (difference.kind === 'not_estimable') return 'not_estimable';
  return difference.high < -by ? 'worse' : difference.low > by ? 'better' : 'no_difference_shown';
}

function wholeOf(figures: readonly VersionFigure[], name: string, measure: Measure): SequenceSums {
  return sumsOf(
    figures.filter(({ task }) => task === ''),
    name,
    measure,
  );
}

/**
 * The tasks that both did, those with the most runs; `undefined` when no run names a task. A task that only one version has shows nothing about a
 * change.
 */
function strataOf(
  { first, second }: { readonly first: readonly VersionFigure[]; readonly second: readonly VersionFigure[] },
  name: string,
  measure: Measure,
): readonly ComparedArms[] | undefined {
  const byTask = (figures: readonly VersionFigure[]): ReadonlyMap<string, SequenceSums> =>
    new Map(
      [...Map.groupBy(figures, ({ task }) => task)].flatMap(([task, own]) => (task === '' ? [] : [[task, sumsOf(own, name, measure)]])),
    );
  const [before, after] = [byTask(first), byTask(second)];
  if (before.size + after.size === 0) return undefined;
  return [...before]
    .flatMap(([task, own]): readonly ComparedArms[] => {
      const other = after.get(task);
      return other === undefined || own.n === 0 || other.n === 0 ? [] : [{ first: own, second: other }];
    })
    .sort((one, another) => Math.min(another.first.n, another.second.n) - Math.min(one.first.n, one.second.n))
    .slice(0, tasksMax);
}

/** The rate of an evaluator over these figures; an interval that holds at all looks. */
export function rateOf(figures: readonly VersionFigure[], name: string, confidence: number): Estimate {
  const measure = figures.some((one) => one.kind === 'pass' && one.name === name) ? 'pass_rate' : 'mean_score';
  const sums = sumsOf(figures, name, measure);
  return meanSequence(sums, { confidence, design: designOf(figures, name, sums) });
}

/** The share of runs with this status; an interval that holds at all looks. */
export function statusShare(figures: readonly VersionFigure[], status: string, confidence: number): Estimate {
  const n = runsOf(figures, 'run');
  const value = figures.reduce((sum, one) => sum + (one.kind === 'status' && one.name === status ? one.runs : 0), 0);
  const sums = { n, weight: n, value, share: n, shareValue: value };
  return meanSequence(sums, { confidence, design: designOf(figures, runsOfSession, sums) });
}
