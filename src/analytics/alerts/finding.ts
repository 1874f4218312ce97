/** What the figures of one agent say to the condition of an alert. */
import type { VersionFigure, VersionFigureKind, VersionQuery } from '../../model/store/version-store.ts';
import type { Tenant } from '../../model/ids.ts';
import { comparableVersions, compareVersions, durationQuantile, meanOf, rateOf, runsOf, versionReports } from '../version-comparison.ts';
import type { AlertCondition, BurnWindow, Side } from './condition.ts';

export interface AlertRule {
  readonly name: string;
  /** As it is written. */
  readonly when: string;
  readonly condition: AlertCondition;
  /** Absent: each agent by itself. */
  readonly agent?: string;
  /** Absent: all tenants together. */
  readonly tenant?: Tenant;
  /** The least difference between versions that counts. */
  readonly by: number;
  readonly confidence: number;
  /** Share of runs that are to pass, for a burn rate. */
  readonly objective: number | undefined;
  /** With fewer runs there is nothing to say. */
  readonly runsMin: number;
  /** How long the condition must hold until the alert fires. Absent: it fires at once. */
  readonly forMs?: number;
  /** How long the condition must not hold until the alert is over. */
  readonly clearMs: number;
  /** Time after which people are told again that it fires. Absent: they are told once. */
  readonly repeatMs?: number;
  /** Names of exporters. */
  readonly to: readonly string[];
}

export type AlertFinding =
  | { readonly kind: 'no_data'; readonly threshold: number; readonly runs: number; readonly explanation: string }
  | {
      readonly kind: 'holds' | 'clear';
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
      // The runs tell which version came last; they have no evaluator's name.
      return [
        { ...who, kinds: ['run'] },
        { ...who, kinds: [...verdictKinds, 'session'], name: condition.evaluator, byTask: true },
      ];
    case 'rate':
      return [{ ...who, ...since(condition.overMs), kinds: verdictKinds, name: condition.evaluator }];
    case 'burn_rate':
      return condition.windows.flatMap(({ longMs, shortMs }) =>
        [longMs, shortMs].map((overMs) => ({ ...who, ...since(overMs), kinds: verdictKinds, name: condition.evaluator })),
      );
    case 'status':
      return [{ ...who, ...since(condition.overMs), kinds: ['run', 'status'] }];
    case 'per_run':
      return [{ ...who, ...since(condition.overMs), kinds: [condition.what] }];
    case 'duration':
      return [{ ...who, ...since(condition.overMs), kinds: ['duration', 'took'] }];
  }
}

const verdictKinds: readonly VersionFigureKind[] = ['pass', 'score'];

/** `answers`: figures of one agent. */
export function findingOf(rule: AlertRule, answers: readonly (readonly VersionFigure[])[]): AlertFinding {
  const { condition, runsMin } = rule;
  const [first = []] = answers;
  switch (condition.kind) {
    case 'worse_than_previous':
      return worseFinding(rule, condition.evaluator, answers.flat());
    case 'rate': {
      const { n, rate } = rateOf(first, condition.evaluator);
      const { side, threshold } = condition;
      return boundFinding({
        figure: rate,
        threshold,
        side,
        runs: n,
        runsMin,
        say: (value) => `${condition.evaluator} has a rate of ${percent(value)}`,
        words: percent,
        over: condition.overMs,
      });
    }
    case 'status': {
      const { status, side, threshold, overMs } = condition;
      const runs = runsOf(first, 'run');
      const counted = first.reduce((sum, { kind, name, runs: own }) => sum + (kind === 'status' && name === status ? own : 0), 0);
      return boundFinding({
        figure: runs === 0 ? undefined : counted / runs,
        threshold,
        side,
        runs,
        runsMin,
        say: (value) => `${status === 'error' ? 'run errors' : 'paused runs'}: ${percent(value)}`,
        words: percent,
        over: overMs,
      });
    }
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
  /** What the figure says. */
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
    explanation: `${say(figure)} over ${count(runs)} ${runs === 1 ? 'run' : 'runs'} of the last ${span(over)}, ${relation} ${words(threshold)}.`,
  };
}

function tooFew(runs: number, runsMin: number, over: number): string {
  return `Runs of the last ${span(over)} with the figure: ${count(runs)} of at least ${count(runsMin)}.`;
}

function burnFinding(
  { objective = 1, runsMin }: AlertRule,
  { evaluator, windows }: Extract<AlertCondition, { readonly kind: 'burn_rate' }>,
  answers: readonly (readonly VersionFigure[])[],
): AlertFinding {
  const pairs = windows.map((burn, at) =>
    burnOf({ evaluator, burn, objective, runsMin }, answers[2 * at] ?? [], answers[2 * at + 1] ?? []),
  );
  const [first] = pairs;
  if (first === undefined) throw new Error('a burn rate has no pair of times');
  return pairs.find(({ kind }) => kind === 'holds') ?? pairs.find(({ kind }) => kind === 'clear') ?? first;
}

/** The short time only shows that it goes on, and one failed run among few is many times any budget. */
const shortRunsMin = 5;

interface Burn {
  readonly evaluator: string;
  readonly burn: BurnWindow;
  readonly objective: number;
  readonly runsMin: number;
}

function burnOf(
  { evaluator, burn, objective, runsMin }: Burn,
  long: readonly VersionFigure[],
  short: readonly VersionFigure[],
): AlertFinding {
  const { rate: threshold, longMs, shortMs } = burn;
  const burned = (figures: readonly VersionFigure[]): { readonly n: number; readonly rate: number | undefined } => {
    const { n, rate } = rateOf(figures, evaluator);
    return { n, rate: rate === undefined ? undefined : (1 - rate) / (1 - objective) };
  };
  const [whole, last] = [burned(long), burned(short)];
  const noData = (explanation: string): AlertFinding => ({ kind: 'no_data', threshold, runs: whole.n, explanation });
  if (whole.rate === undefined || whole.n < runsMin) return noData(tooFew(whole.n, runsMin, longMs));
  if (last.rate === undefined) return noData(`No run has a verdict of ${evaluator} in the last ${span(shortMs)}.`);
  const lastMin = Math.min(runsMin, shortRunsMin);
  if (last.n < lastMin) return noData(tooFew(last.n, lastMin, shortMs));
  return {
    kind: whole.rate > threshold && last.rate > threshold ? 'holds' : 'clear',
    figure: whole.rate,
    threshold,
    runs: whole.n,
    explanation: `${evaluator} burns the budget of ${percent(objective)} at ${plain(whole.rate)} times its rate in the last ${span(longMs)} and at ${plain(last.rate)} times in the last ${span(shortMs)}; the limit is ${plain(threshold)}.`,
  };
}

function worseFinding({ by, confidence, runsMin }: AlertRule, evaluator: string, figures: readonly VersionFigure[]): AlertFinding {
  const [newest, before] = comparableVersions(versionReports(figures));
  const none = (runs: number, explanation: string): AlertFinding => ({ kind: 'no_data', threshold: -by, runs, explanation });
  if (newest === undefined || before === undefined) return none(0, 'There are not two versions to compare.');
  const pair = { version: newest.version, against: before.version };
  const compared = compareVersions(figures, { ...pair, confidence, by }).find(({ name }) => name === evaluator);
  const runs = (version: string): number =>
    rateOf(
      figures.filter((one) => one.version === version && one.task === ''),
      evaluator,
    ).n;
  const [own, other] = [runs(pair.version), runs(pair.against)];
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
