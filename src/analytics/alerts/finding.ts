/** Compares the figures of one agent with the condition of an alert. */
import type { VersionFigure, VersionFigureKind, VersionQuery } from '../../model/store/version-store.ts';
import type { Tenant } from '../../model/ids.ts';
import type { Estimate } from '../../statistics/estimate.ts';
import {
  comparableVersions,
  compareVersions,
  durationQuantile,
  meanOf,
  rateOf,
  runsOf,
  statusShare,
  versionReports,
} from '../version-comparison.ts';
import type { AlertCondition, BurnWindow, Side } from './condition.ts';

export interface AlertRule {
  readonly name: string;
  /** As it is written. */
  readonly when: string;
  readonly condition: AlertCondition;
  /** Omitted for each agent by itself. */
  readonly agent?: string;
  /** Omitted for all tenants together. */
  readonly tenant?: Tenant;
  /** The least difference between versions that counts. */
  readonly by: number;
  /** Confidence of intervals, which hold at all looks together. */
  readonly confidence: number;
  /** interval: a share of runs passes its threshold when its whole interval does. point: when only the point estimate does. */
  readonly estimate: 'interval' | 'point';
  /** Share of runs that are to pass, for a burn rate. */
  readonly objective: number | undefined;
  /** With fewer runs there is nothing to say. */
  readonly runsMin: number;
  /** Time that the condition must hold until the alert fires. When omitted, it fires at once. */
  readonly forMs?: number;
  /** Time that the condition must not hold until the alert is over. */
  readonly clearMs: number;
  /** Time after which people are notified again that it fires. When omitted, they are notified once. */
  readonly repeatMs?: number;
  /** Names of exporters. */
  readonly to: readonly string[];
}

export type AlertFinding =
  | { readonly kind: 'no_data'; readonly threshold: number; readonly runs: number; readonly explanation: string }
  | {
      /** open: the point passes the threshold, and the interval does not. That begins no alert and ends none. */
      readonly kind: 'holds' | 'open' | 'clear';
      readonly figure: number;
      readonly threshold: number;
      readonly runs: number;
      readonly explanation: string;
      readonly version?: string;
      readonly against?: string;
    };

/** The questions to the store, in the order in which `findingOf` reads the answers. */
export function questionsOf(rule: AlertRule, nowMs: number): readonly VersionQuery[] {
  const { condition, agent, tenant } = rule;
  const who = { ...(agent === undefined ? {} : { agent }), ...(tenant === undefined ? {} : { tenant }) };
  const since = (overMs: number): { readonly from: number; readonly allVersions: true } => ({
    from: Math.max(0, Math.floor((nowMs - overMs) * 1_000)),
    allVersions: true,
  });
  switch (condition.kind) {
    case 'worse_than_previous':
      // The runs show which version came last; they have no evaluator's name.
      return [
        { ...who, kinds: ['run'] },
        { ...who, kinds: verdictKinds, name: condition.evaluator, byTask: true },
      ];
    case 'rate':
      return [{ ...who, ...since(condition.overMs), kinds: verdictKinds, name: condition.evaluator }];
    case 'burn_rate':
      return condition.windows.flatMap(({ longMs, shortMs }) =>
        [longMs, shortMs].map((overMs) => ({ ...who, ...since(overMs), kinds: verdictKinds, name: condition.evaluator })),
      );
    case 'status':
      return [{ ...who, ...since(condition.overMs), kinds: ['run', 'status', 'session'] }];
    case 'per_run':
      return [{ ...who, ...since(condition.overMs), kinds: [condition.what] }];
    case 'duration':
      return [{ ...who, ...since(condition.overMs), kinds: ['duration', 'took'] }];
  }
}

const verdictKinds: readonly VersionFigureKind[] = ['pass', 'score', 'session'];

/** `answers`: figures of one agent. */
export function findingOf(rule: AlertRule, answers: readonly (readonly VersionFigure[])[]): AlertFinding {
  const { condition, runsMin, confidence } = rule;
  const [first = []] = answers;
  switch (condition.kind) {
    case 'worse_than_previous':
      return worseFinding(rule, condition.evaluator, answers.flat());
    case 'rate':
      return shareFinding(rule, condition, {
        share: rateOf(first, condition.evaluator, confidence),
        say: (value) => `${condition.evaluator} has a rate of ${percent(value)}`,
      });
    case 'status':
      return shareFinding(rule, condition, {
        share: statusShare(first, condition.status, confidence),
        say: (value) => `${condition.status === 'error' ? 'run errors' : 'paused runs'}: ${percent(value)}`,
      });
    case 'per_run': {
      const { what, side, threshold, overMs } = condition;
      const words = what === 'cost' ? dollars : plain;
      const named = what === 'cost' ? 'cost' : what.replace('_', ' ');
      return boundFinding({
        figure: meanOf(first, what),
        threshold,
        side,
        runs: runsOf(first, what),
        runsMin,
        say: (value) => `${named} per run: ${words(value)}`,
        words,
        over: overMs,
      });
    }
    case 'duration': {
      const { share, side, threshold, overMs } = condition;
      const figure = share === 'mean' ? meanOf(first, 'took') : durationQuantile(first, share);
      const named = share === 'mean' ? 'mean duration' : `p${Math.round(share * 100)} duration`;
      return boundFinding({
        figure,
        threshold,
        side,
        runs: runsOf(first, 'took'),
        runsMin,
        say: (value) => `${named}: ${seconds(value)}`,
        words: seconds,
        over: overMs,
      });
    }
    case 'burn_rate':
      return burnFinding(rule, condition, answers);
  }
}

interface Bound {
  readonly figure: number | undefined;
  readonly threshold: number;
  readonly side: Side;
  readonly runs: number;
  readonly runsMin: number;
  /** The sentence about the figure. */
  readonly say: (figure: number) => string;
  readonly words: (value: number) => string;
  readonly over: number;
}

function boundFinding({ figure, threshold, side, runs, runsMin, say, words, over }: Bound): AlertFinding {
  if (figure === undefined || runs < runsMin) return { kind: 'no_data', threshold, runs, explanation: tooFew(runs, runsMin, over) };
  const holds = side === '<' ? figure < threshold : figure > threshold;
  const relation = figure < threshold ? 'below' : figure > threshold ? 'above' : 'exactly';
  return {
    kind: holds ? 'holds' : 'clear',
    figure,
    threshold,
    runs,
    explanation: `${say(figure)} over ${counted(runs)} of the last ${span(over)}, ${relation} ${words(threshold)}.`,
  };
}

/** A share of the runs passes its threshold when its whole interval does, unless the rule asks only for the point. */
function shareFinding(
  { estimate, runsMin, confidence }: AlertRule,
  { side, threshold, overMs: over }: { readonly side: Side; readonly threshold: number; readonly overMs: number },
  { share, say }: { readonly share: Estimate; readonly say: (share: number) => string },
): AlertFinding {
  const [figure, runs] = share.kind === 'estimated' ? [share.point, share.n] : [undefined, 0];
  if (share.kind !== 'estimated' || runs < runsMin || estimate === 'point')
    return boundFinding({ figure, threshold, side, runs, runsMin, say, words: percent, over });
  const { point, low, high, effectiveN } = share;
  if (effectiveN < Math.min(runsMin, independentMin)) return { kind: 'no_data', threshold, runs, explanation: tooAlike(effectiveN, over) };
  const passes = (value: number): boolean => (side === '<' ? value < threshold : value > threshold);
  const holds = passes(side === '<' ? high : low);
  const relation = `${side === '<' ? 'below' : 'above'} ${percent(threshold)}`;
  return {
    kind: holds ? 'holds' : passes(point) ? 'open' : 'clear',
    figure: point,
    threshold,
    runs,
    explanation: `${say(point)} over ${counted(runs)} of the last ${span(over)}, between ${percent(low)} and ${percent(high)} at ${percent(confidence)}: ${holds ? relation : `not shown to be ${relation}`}.`,
  };
}

function tooFew(runs: number, runsMin: number, over: number): string {
  return `Runs of the last ${span(over)} with the figure: ${count(runs)} of at least ${count(runsMin)}.`;
}

/** Runs of one session are alike, and raised runs of a sample show little about the others: many runs can be few independent ones. */
function tooAlike(independent: number, over: number): string {
  return `The runs of the last ${span(over)} count as ${plain(independent)} independent ones; at least ${independentMin} are needed.`;
}

function burnFinding(
  rule: AlertRule,
  { evaluator, windows }: Extract<AlertCondition, { readonly kind: 'burn_rate' }>,
  answers: readonly (readonly VersionFigure[])[],
): AlertFinding {
  const pairs = windows.map((burn, at) => burnOf(rule, { evaluator, burn }, [answers[2 * at] ?? [], answers[2 * at + 1] ?? []]));
  const [first] = pairs;
  if (first === undefined) throw new Error('a burn rate has no pair of times');
  const of = (wanted: AlertFinding['kind']): AlertFinding | undefined => pairs.find(({ kind }) => kind === wanted);
  return of('holds') ?? of('open') ?? of('clear') ?? first;
}

/** Fewer independent runs have an interval of nearly everything. In the short time of a burn rate, one failed run among fewer is many times any budget. */
const independentMin = 5;

interface Burned {
  readonly n: number;
  readonly independent: number;
  readonly rate: number | undefined;
  /** The lower end of the interval. */
  readonly least: number;
}

function burnOf(
  { objective = 1, runsMin, confidence, estimate }: AlertRule,
  { evaluator, burn }: { readonly evaluator: string; readonly burn: BurnWindow },
  [long, short]: readonly [long: readonly VersionFigure[], short: readonly VersionFigure[]],
): AlertFinding {
  const { rate: threshold, longMs, shortMs } = burn;
  const burned = (figures: readonly VersionFigure[]): Burned => {
    const rate = rateOf(figures, evaluator, confidence);
    const times = (share: number): number => (1 - share) / (1 - objective);
    return rate.kind === 'estimated'
      ? { n: rate.n, independent: rate.effectiveN, rate: times(rate.point), least: times(rate.high) }
      : { n: 0, independent: 0, rate: undefined, least: 0 };
  };
  const [whole, last] = [burned(long), burned(short)];
  const noData = (explanation: string): AlertFinding => ({ kind: 'no_data', threshold, runs: whole.n, explanation });
  if (whole.rate === undefined || whole.n < runsMin) return noData(tooFew(whole.n, runsMin, longMs));
  if (last.rate === undefined) return noData(`No run has a verdict of ${evaluator} in the last ${span(shortMs)}.`);
  const leastRuns = Math.min(runsMin, independentMin);
  if (last.n < leastRuns) return noData(tooFew(last.n, leastRuns, shortMs));
  if (estimate === 'interval' && whole.independent < leastRuns) return noData(tooAlike(whole.independent, longMs));
  const least = estimate === 'point' ? '' : ` (at least ${plain(whole.least)} at ${percent(confidence)})`;
  const passes = (rate: number): boolean => rate > threshold && (last.rate ?? 0) > threshold;
  return {
    kind: passes(estimate === 'point' ? whole.rate : whole.least) ? 'holds' : passes(whole.rate) ? 'open' : 'clear',
    figure: whole.rate,
    threshold,
    runs: whole.n,
    explanation: `${evaluator} burns the budget of ${percent(objective)} at ${plain(whole.rate)} times its rate in the last ${span(longMs)}${least} and at ${plain(last.rate)} times in the last ${span(shortMs)}; the limit is ${plain(threshold)}.`,
  };
}

function worseFinding({ by, confidence, runsMin }: AlertRule, evaluator: string, figures: readonly VersionFigure[]): AlertFinding {
  const [newest, before] = comparableVersions(versionReports(figures));
  const none = (runs: number, explanation: string): AlertFinding => ({ kind: 'no_data', threshold: -by, runs, explanation });
  if (newest === undefined || before === undefined) return none(0, 'There are not two versions to compare.');
  const pair = { version: newest.version, against: before.version };
  const compared = compareVersions(figures, { ...pair, confidence, by }).find(({ name }) => name === evaluator);
  const judged = (rate: Estimate | undefined): number => (rate?.kind === 'estimated' ? rate.n : 0);
  const [own, other] = [judged(compared?.version), judged(compared?.against)];
  if (compared?.difference.kind === 'not_estimable' && own >= runsMin && other >= runsMin)
    return none(own, `Versions ${pair.version} and ${pair.against} cannot be compared. ${compared.difference.explanation}`);
  if (compared === undefined || compared.difference.kind === 'not_estimable' || own < runsMin || other < runsMin)
    return none(
      own,
      `Version ${pair.version} has ${count(own)} runs with a verdict and version ${pair.against} ${count(other)}; each needs ${count(runsMin)}.`,
    );
  const { difference, version, against, word } = compared;
  const rates = [version, against].map((one) => (one.kind === 'estimated' ? percent(one.point) : 'unknown'));
  return {
    kind: word === 'worse' ? 'holds' : 'clear',
    figure: difference.point,
    threshold: -by,
    runs: own,
    ...pair,
    explanation: `${evaluator} has a rate of ${rates[0]} over ${count(own)} runs of version ${pair.version} and of ${rates[1]} over ${count(other)} runs of version ${pair.against}: a difference between ${points(difference.low)} and ${points(difference.high)} points at ${percent(confidence)}.`,
  };
}

const counted = (runs: number): string => `${count(runs)} ${runs === 1 ? 'run' : 'runs'}`;
const count = (value: number): string => String(value).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
const plain = (value: number): string => String(Number(value.toPrecision(3)));
const percent = (share: number): string => `${Number((100 * share).toFixed(1))} %`;
const points = (share: number): string => `${share < 0 ? '−' : '+'}${Math.abs(100 * share).toFixed(1)}`;
const dollars = (value: number): string => `${plain(value)} USD`;
const seconds = (micros: number): string => `${plain(micros / 1_000_000)} s`;

function span(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes % 1_440 === 0) return `${minutes / 1_440}d`;
  return minutes % 60 === 0 ? `${minutes / 60}h` : `${minutes}m`;
}
