/** The conditions of alerts: one sentence about a figure, parsed once. */
import { quantityExamples, quantityOf } from '../../model/quantities.ts';

export type Side = '<' | '>';

export type AlertCondition =
  | { readonly kind: 'worse_than_previous'; readonly evaluator: string }
  | { readonly kind: 'rate'; readonly evaluator: string; readonly side: Side; readonly threshold: number; readonly overMs: number }
  | { readonly kind: 'per_run'; readonly what: PerRun; readonly side: Side; readonly threshold: number; readonly overMs: number }
  /** Share of runs that ended in an error, or that wait for a person or another program. */
  | {
      readonly kind: 'status';
      readonly status: 'error' | 'paused';
      readonly side: Side;
      readonly threshold: number;
      readonly overMs: number;
    }
  /** Threshold in microseconds. */
  | { readonly kind: 'duration'; readonly share: number | 'mean'; readonly side: Side; readonly threshold: number; readonly overMs: number }
  /** Fires when one of them is exceeded in both of its windows. */
  | { readonly kind: 'burn_rate'; readonly evaluator: string; readonly windows: readonly BurnWindow[] };

export type PerRun = 'cost' | 'input_tokens' | 'output_tokens';

export interface BurnWindow {
  /** Times the rate at which failures use up the objective's budget exactly. */
  readonly rate: number;
  readonly longMs: number;
  readonly shortMs: number;
}

export type ParsedCondition =
  | { readonly kind: 'condition'; readonly condition: AlertCondition }
  | { readonly kind: 'fault'; readonly problem: string; readonly todo: string };

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** The sums of the store are five minutes wide, and the longest window of a burn rate is three days. */
const overMinMs = 5 * minuteMs;
const overMaxMs = 30 * 24 * hourMs;
const overDefaultMs = hourMs;

/** Windows of an hour, six hours and three days: 2, 5 and 10 % of a month's budget (The Site Reliability Workbook, 2018, chapter 5, table 5-8). */
const workbookWindows: readonly BurnWindow[] = [
  { rate: 14.4, longMs: hourMs, shortMs: 5 * minuteMs },
  { rate: 6, longMs: 6 * hourMs, shortMs: 30 * minuteMs },
  { rate: 1, longMs: 72 * hourMs, shortMs: 6 * hourMs },
];
/** The short window ends an alert soon after the failures have ended. */
const shortWindowShare = 12;

export const conditionForms = [
  'NAME.rate worse than previous version',
  'NAME.rate < 0.95 over 1h',
  'NAME.burn rate',
  'NAME.burn rate > 14.4 over 1h',
  'run errors > 5% over 1h',
  'paused runs > 20%',
  'cost per run > 0.10',
  'output tokens per run > 2000 over 1h',
  'p95 duration > 30s',
  'mean duration > 10s over 1h',
] as const;

const NAMED = /^(\S+?)\.(rate|burn rate)(?: (.*))?$/;
const PER_RUN = /^(cost|input tokens|output tokens) per run(?: (.*))?$/;
const STATUS = /^(run errors|paused runs)(?: (.*))?$/;
const DURATION = /^(p\d{1,2}|mean|median) duration(?: (.*))?$/;
const COMPARED = /^([<>]) (\S+)(?: over (\S+))?$/;

export function alertCondition(text: string): ParsedCondition {
  const words = text.trim().replaceAll(/\s+/g, ' ');
  const named = NAMED.exec(words);
  if (named !== null) return ofEvaluator(named[1] ?? '', named[2] === 'rate' ? 'rate' : 'burn_rate', named[3]);
  const status = STATUS.exec(words);
  if (status !== null) {
    const word = status[1] === 'run errors' ? 'error' : 'paused';
    return compared(status[2], `${status[1]} > 5% over 1h`, numberOf, ({ side, threshold, overMs }) =>
      threshold > 1 ? notAShare(threshold) : { kind: 'status', status: word, side, threshold, overMs },
    );
  }
  const perRun = PER_RUN.exec(words);
  if (perRun !== null) {
    const what = (perRun[1] ?? '').replace(' ', '_') as PerRun;
    return compared(perRun[2], `${perRun[1]} per run > 0.10`, numberOf, ({ side, threshold, overMs }) => ({
      kind: 'per_run',
      what,
      side,
      threshold,
      overMs,
    }));
  }
  const duration = DURATION.exec(words);
  if (duration !== null) {
    const word = duration[1] ?? '';
    const share = word === 'mean' ? 'mean' : word === 'median' ? 0.5 : Number(word.slice(1)) / 100;
    if (share === 0) return fault(`p0 is the shortest duration, which means little`, 'Write p50, p95 or p99.');
    return compared(duration[2], `${word} duration > 30s`, microsOf, ({ side, threshold, overMs }) => ({
      kind: 'duration',
      share,
      side,
      threshold,
      overMs,
    }));
  }
  return fault(`${JSON.stringify(words)} is not a condition`, `Write one of: ${conditionForms.join('; ')}.`);
}

function ofEvaluator(evaluator: string, figure: 'rate' | 'burn_rate', rest: string | undefined): ParsedCondition {
  if (figure === 'burn_rate') {
    if (rest === undefined) return { kind: 'condition', condition: { kind: 'burn_rate', evaluator, windows: workbookWindows } };
    return compared(rest, `${evaluator}.burn rate > 14.4 over 1h`, numberOf, ({ side, threshold, overMs, isOver }) => {
      if (side === '<') return { problem: 'an alert on a low burn rate would fire while all is well', todo: 'Write >.' };
      if (!isOver) return { problem: 'a burn rate needs its window', todo: `Write ${evaluator}.burn rate > ${threshold} over 1h.` };
      return {
        kind: 'burn_rate',
        evaluator,
        windows: [{ rate: threshold, longMs: overMs, shortMs: Math.max(overMinMs, overMs / shortWindowShare) }],
      };
    });
  }
  if (rest === 'worse than previous version') return { kind: 'condition', condition: { kind: 'worse_than_previous', evaluator } };
  if (rest?.startsWith('worse') === true)
    return fault(`"${rest}" is not a comparison`, `Write ${evaluator}.rate worse than previous version.`);
  return compared(rest, `${evaluator}.rate < 0.95 over 1h`, numberOf, ({ side, threshold, overMs }) =>
    threshold > 1 ? notAShare(threshold) : { kind: 'rate', evaluator, side, threshold, overMs },
  );
}

function notAShare(threshold: number): Misfit {
  return { problem: `a rate is between 0 and 1, and ${threshold} is not`, todo: `Write a share such as 0.95, or 95%.` };
}

interface Compared {
  readonly side: Side;
  readonly threshold: number;
  readonly overMs: number;
  /** True when the window is written. */
  readonly isOver: boolean;
}

interface Misfit {
  readonly problem: string;
  readonly todo: string;
}

function compared(
  rest: string | undefined,
  example: string,
  thresholdOf: (text: string) => number | undefined,
  conditionOf: (parts: Compared) => AlertCondition | Misfit,
): ParsedCondition {
  const match = COMPARED.exec(rest ?? '');
  if (match === null)
    return fault(rest === undefined ? 'the comparison is missing' : `"${rest}" is not a comparison`, `Write for example ${example}.`);
  const [, side, written = '', over] = match;
  const threshold = thresholdOf(written);
  if (threshold === undefined)
    return fault(`${JSON.stringify(written)} is not what the figure is measured in`, `Write for example ${example}.`);
  const overMs = over === undefined ? overDefaultMs : quantityOf('duration', over);
  if (overMs === undefined) return fault(`${JSON.stringify(over)} is not a duration`, `Write ${quantityExamples.duration}.`);
  if (overMs < overMinMs || overMs > overMaxMs)
    return fault(`a window of ${over ?? ''} is not between 5m and 30d`, 'Write a window between 5m and 30d.');
  const condition = conditionOf({ side: side as Side, threshold, overMs, isOver: over !== undefined });
  return 'problem' in condition ? fault(condition.problem, condition.todo) : { kind: 'condition', condition };
}

function fault(problem: string, todo: string): ParsedCondition {
  return { kind: 'fault', problem, todo };
}

const NUMBER = /^\d{1,12}(?:\.\d{1,12})?(%?)$/;

function numberOf(text: string): number | undefined {
  const match = NUMBER.exec(text);
  if (match === null) return undefined;
  return match[1] === '%' ? Number(text.slice(0, -1)) / 100 : Number(text);
}

function microsOf(text: string): number | undefined {
  const ms = quantityOf('duration', text);
  return ms === undefined ? undefined : ms * 1_000;
}

/** The evaluator that it is about. */
export function evaluatorOf(condition: AlertCondition): string | undefined {
  return 'evaluator' in condition ? condition.evaluator : undefined;
}
