/**
 * What the person on call is told of one backend: a metric of every failure, a line when it begins to take nothing and one when it takes something again, and a
 * line when something is given up. However long it lasts and however often it flips, lines stay few.
 */
import type { Clock } from '../../model/clock.ts';
import type { Circuit } from '../../runtime/circuit-breaker.ts';
import type { BackendPast, ReportedFailure } from '../../model/exporter-status.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import type { ExportFailure } from '../exporter.ts';
import { failureReason } from './export-outcome.ts';
import { logThrottle } from '../../runtime/throttled-log.ts';

/** As pino has it. No text of a run, of a header or of an answer is in what it gets. */
export interface OutageLogger {
  warn(fields: object, message: string): void;
  info(fields: object, message: string): void;
}

export interface OutageLogOptions {
  /** Of the entry. Asked each time: it may be another one. */
  readonly name: () => string;
  /** What waits for the backend. */
  readonly what: 'scores' | 'spans';
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  readonly logger?: OutageLogger | undefined;
}

export interface OutageLog {
  /** The backend took something. */
  sent(): void;
  /** A request, or what stands for an item of it, failed. */
  failed(outcome: ExportFailure): void;
  /** `isKnown`: false where it closes because nothing is left to try it with. */
  circuit(circuit: Circuit, isKnown?: boolean): void;
  /** So many are not sent any more by themselves. */
  givenUp(outcome: Pick<ExportFailure, 'error'> & { readonly isMissing?: true }, items?: number): void;
  past(): BackendPast;
}

const messages = {
  scores: {
    down: 'a backend takes nothing: its scores wait',
    again: 'a backend takes scores again',
    givenUp: 'scores were given up: they are dead letters',
  },
  spans: {
    down: 'the target takes nothing: spans wait in the journal',
    again: 'the target takes spans again',
    givenUp: 'the target refuses spans: they are given up',
  },
} as const;

/** Between two lines that say the same. */
const silenceMs = 60_000;
/** Reasons are a small set; whoever invents more is told as one of them. */
const reasonsMax = 100;

export function outageLog({ name, what, telemetry, clock, logger }: OutageLogOptions): OutageLog {
  let last: ExportFailure | undefined;
  let sentAtMs: number | undefined;
  let lastFailure: ReportedFailure | undefined;
  /** That were told of this outage, or of one that was told a moment ago. */
  const reasons = new Set<string>();
  let toldAtMs = -Infinity;
  let isDown = false;
  const givenUp = logThrottle({ clock, everyMs: silenceMs, keysMax: reasonsMax });

  function opened(): void {
    if (last === undefined) return;
    const { reason, todo } = failureReason(last);
    const nowMs = clock.nowMs();
    const isSame = isDown || nowMs - toldAtMs < silenceMs;
    if (isSame && (reasons.has(reason) || reasons.size >= reasonsMax)) return;
    if (!isSame) reasons.clear();
    reasons.add(reason);
    toldAtMs = nowMs;
    isDown = true;
    logger?.warn({ exporter: name(), reason, fault: last.error, todo }, messages[what].down);
  }

  return {
    sent: () => void (sentAtMs = clock.nowMs()),
    failed(outcome) {
      const words = failureReason(outcome);
      lastFailure = { atMs: clock.nowMs(), error: outcome.error, ...words };
      // What is not there yet says nothing against the backend.
      if (!('isMissing' in outcome)) last = outcome;
      telemetry.add('tracejury.exporter.failures', 1, { 'tracejury.exporter': name(), 'tracejury.reason': words.reason });
      // Down for another reason than before.
      if (isDown && !('isMissing' in outcome) && outcome.retryable) opened();
    },
    circuit(circuit, isKnown = true) {
      if (circuit === 'open') opened();
      if (circuit !== 'closed' || !isDown) return;
      isDown = false;
      if (isKnown) logger?.info({ exporter: name() }, messages[what].again);
    },
    givenUp(outcome, items = 1) {
      const { reason, todo } = failureReason(outcome);
      const since = givenUp(reason, items);
      if (since !== undefined) logger?.warn({ exporter: name(), reason, fault: outcome.error, items: since, todo }, messages[what].givenUp);
    },
    past: () => ({ sentAtMs, lastFailure }),
  };
}
