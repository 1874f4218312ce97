/**
 * Reports outages of one backend: it counts every failure, and logs the start and the end of an outage and items that are given up. It
 * bounds the number of lines, however long an outage lasts.
 */
import type { Circuit } from '../../runtime/circuit-breaker.ts';
import type { BackendPast, ReportedFailure } from '../../model/exporter-status.ts';
import type { ExportFailure } from '../exporter.ts';
import { failureReason } from './export-outcome.ts';
import { logThrottle } from '../../runtime/throttled-log.ts';
import type { Context } from '../../telemetry/context.ts';

/** The interface of pino. Fields carry no text of a run, a header or an answer. */
export interface OutageLogger {
  warn(fields: object, message: string): void;
  info(fields: object, message: string): void;
}

export interface OutageLogOptions extends Pick<Context, 'clock' | 'telemetry'> {
  /** Name of the entry, called each time: a reload may change it. */
  readonly name: () => string;
  /** Kind of items that the backend gets. */
  readonly what: 'scores' | 'spans';
  readonly logger?: OutageLogger | undefined;
}

export interface OutageLog {
  /** The backend took an item. */
  sent(): void;
  /** A request, or one item of it, failed. */
  failed(outcome: ExportFailure): void;
  /** `isKnown`: false when the circuit closes because no item is left for a probe. */
  circuit(circuit: Circuit, isKnown?: boolean): void;
  /** These items are not retried. */
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

/** Between two lines with the same reason. */
const silenceMs = 60_000;
/** Reasons are few; further ones share one line. */
const reasonsMax = 100;

export function outageLog({ name, what, telemetry, clock, logger }: OutageLogOptions): OutageLog {
  let last: ExportFailure | undefined;
  let sentAtMs: number | undefined;
  let lastFailure: ReportedFailure | undefined;
  /** Logged for this outage, or for one less than `silenceMs` ago. */
  const reasons = new Set<string>();
  let loggedAtMs = -Infinity;
  let isDown = false;
  const givenUp = logThrottle({ clock, everyMs: silenceMs, keysMax: reasonsMax });

  function opened(): void {
    if (last === undefined) return;
    const { reason, todo } = failureReason(last);
    const nowMs = clock.nowMs();
    const isSame = isDown || nowMs - loggedAtMs < silenceMs;
    if (isSame && (reasons.has(reason) || reasons.size >= reasonsMax)) return;
    if (!isSame) reasons.clear();
    reasons.add(reason);
    loggedAtMs = nowMs;
    isDown = true;
    logger?.warn({ exporter: name(), reason, fault: last.error, todo }, messages[what].down);
  }

  return {
    sent: () => void (sentAtMs = clock.nowMs()),
    failed(outcome) {
      const words = failureReason(outcome);
      lastFailure = { atMs: clock.nowMs(), error: outcome.error, ...words };
      // A missing span is not evidence about the backend.
      if (!('isMissing' in outcome)) last = outcome;
      telemetry.add('tracejury.exporter.failures', 1, { 'tracejury.exporter': name(), 'tracejury.reason': words.reason });
      // The outage goes on for another reason.
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
