/**
 * Knows which judges, and which endpoints of evaluators, do not answer. It reports the first failure: with a small sample the next question
 * may come hours later.
 */
import type { Clock } from '../model/clock.ts';
import type { JudgeOutage } from '../model/judge-outage.ts';
import { errorType } from '../model/verdict.ts';
import type { Busy } from '../runtime/retry.ts';
import { logThrottle } from '../runtime/throttled-log.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';

export interface OutageLogger {
  warn(fields: object, message: string): void;
  info(fields: object, message: string): void;
}

interface JudgeOutagesOptions {
  readonly telemetry: Pick<Telemetry, 'set'>;
  readonly clock: Clock;
  readonly logger?: OutageLogger | undefined;
}

export interface JudgeOutages {
  /** A request is sent again. It begins an outage when nothing came back: the last attempt may end minutes later. */
  retried(judge: string, busy: Busy): void;
  /** The last attempt of a request has ended; `error` is `undefined` for an answer. */
  ended(judge: string, error: string | undefined): void;
  /** Ends outages of judges that are removed or have other settings. */
  keep(isSame: (judge: string) => boolean): void;
  /** Current outages by the name of the judge. */
  current(): readonly JudgeOutage[];
}

/** Errors of an endpoint that is unreachable, or that answers no question. */
export const unansweredErrors: ReadonlySet<string> = new Set(['judge_unavailable', 'judge_timed_out', 'judge_out_of_quota']);
const outageErrors: ReadonlySet<string> = new Set([
  ...unansweredErrors,
  'judge_redirected',
  'http_unavailable',
  'http_timed_out',
  'http_redirected',
  'http_refused',
]);
/** The question was not asked. */
export const unaskedErrors: ReadonlySet<string> = new Set([
  'over_budget',
  'judge_overloaded',
  'judge_stopped',
  'judge_fault',
  'judge_down',
  'http_stopped',
]);
/** Between two lines about one judge with the same fault. */
const silenceMs = 60_000;
/** Judges and endpoints of one configuration; further ones share one line. */
const linesMax = 100;

export function judgeOutages({ telemetry, clock, logger }: JudgeOutagesOptions): JudgeOutages {
  const outages = new Map<string, JudgeOutage>();
  const isNews = logThrottle({ clock, everyMs: silenceMs, keysMax: linesMax });
  /** Their outage is in the log, and its end is not. */
  const logged = new Set<string>();

  function failed(judge: string, fault: string): void {
    const before = outages.get(judge);
    const outage = { judge, sinceMs: before?.sinceMs ?? clock.nowMs(), fault, todo: todoOf(fault) };
    outages.set(judge, outage);
    telemetry.set('tracejury.judge.unanswered', 1, { 'tracejury.judge': judge });
    if (before !== undefined && before.fault === fault) return;
    if (isNews(JSON.stringify([judge, fault])) === undefined) return;
    logged.add(judge);
    logger?.warn({ judge, fault, todo: outage.todo }, 'a judge does not answer');
  }

  function answered(judge: string): void {
    telemetry.set('tracejury.judge.unanswered', 0, { 'tracejury.judge': judge });
    const outage = outages.get(judge);
    if (outage === undefined) return;
    outages.delete(judge);
    if (logged.delete(judge))
      logger?.info({ judge, seconds: Math.round((clock.nowMs() - outage.sinceMs) / 1_000) }, 'a judge answers again');
  }

  return {
    retried(judge, { error, isUnanswered }) {
      if (isUnanswered === true) failed(judge, error);
    },
    ended(judge, error) {
      const word = error === undefined ? undefined : errorType(error);
      if (error === undefined || word === undefined || !(outageErrors.has(word) || unaskedErrors.has(word))) answered(judge);
      else if (outageErrors.has(word)) failed(judge, error);
    },
    keep(isSame) {
      for (const judge of outages.keys()) {
        if (isSame(judge)) continue;
        outages.delete(judge);
        logged.delete(judge);
        telemetry.set('tracejury.judge.unanswered', 0, { 'tracejury.judge': judge });
      }
    },
    current: () => [...outages.values()].sort((one, other) => (one.judge < other.judge ? -1 : 1)),
  };
}

const todos: readonly (readonly [fault: RegExp, todo: string])[] = [
  [/no connection, for TLS/, 'Check the certificate of the endpoint, and tls.'],
  [/no connection/, 'Check base_url, and that the endpoint runs.'],
  [/status 40[13]\b/, 'Check api_key.'],
  [/status 404\b/, 'Check base_url and model.'],
  [/timed_out/, 'Raise timeout, or lower concurrency.'],
  [/out_of_quota/, 'Raise the quota of the account.'],
  [/redirected/, 'Set base_url to the address that the endpoint redirects to.'],
];

/** The remedy for an error of a judge. */
export function todoOf(fault: string): string {
  return todos.find(([pattern]) => pattern.test(fault))?.[1] ?? 'Check the endpoint, its quota and its key.';
}
