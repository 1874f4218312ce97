/** Lets so many through at a time, and never faster than a pace. */
import type { Clock, Sleep } from '../model/clock.ts';

export interface ConcurrencyLimiterOptions {
  readonly concurrency: number;
  /** Callers that may wait; more are turned away. */
  readonly waitingMax: number;
  readonly requestsPerMinute?: number;
  readonly clock: Clock;
  readonly sleep: Sleep;
}

export interface ConcurrencyLimiter {
  /** Undefined: turned away, because too many wait or it is closed. */
  through<T>(work: () => Promise<T>): Promise<T | undefined>;
  /** Waits until the pace allows the next request. */
  paced(): Promise<void>;
  /** Turns away all that wait and all that come. */
  close(): void;
}

export function concurrencyLimiter({
  concurrency,
  waitingMax,
  requestsPerMinute,
  clock,
  sleep,
}: ConcurrencyLimiterOptions): ConcurrencyLimiter {
  const waiting: ((admitted: boolean) => void)[] = [];
  const closing = new AbortController();
  let inside = 0;
  let nextAtMs = 0;

  async function admitted(): Promise<boolean> {
    if (closing.signal.aborted) return false;
    if (inside < concurrency) {
      inside++;
      return true;
    }
    if (waiting.length >= waitingMax) return false;
    return await new Promise<boolean>((resolve) => waiting.push(resolve));
  }

  return {
    async through(work) {
      if (!(await admitted())) return undefined;
      try {
        return await work();
      } finally {
        // The place is handed on, so that nobody slips in between.
        const next = waiting.shift();
        if (next === undefined) inside--;
        else next(true);
      }
    },
    async paced() {
      if (requestsPerMinute === undefined) return;
      const now = clock.nowMs();
      const at = Math.max(now, nextAtMs);
      nextAtMs = at + 60_000 / requestsPerMinute;
      if (at > now) await sleep(at - now, closing.signal);
    },
    close() {
      closing.abort();
      for (const turnAway of waiting.splice(0)) turnAway(false);
    },
  };
}
