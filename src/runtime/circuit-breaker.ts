/**
 * A circuit breaker for one backend, without a clock: it says how long to rest, and is told when the rest is over. Closed, everything may be
 * sent; open, nothing; half open, one item is sent to see whether the backend is there again.
 */

export type Circuit = 'closed' | 'half_open' | 'open';

export interface Breaker {
  circuit(): Circuit;
  /** The backend took something: it works. */
  succeeded(): void;
  /** The backend took nothing. Gives how long to leave it alone, in milliseconds, when this opened the circuit. */
  failed(retryAfterMs?: number): number | undefined;
  /** The rest is over, or nobody wants to wait for its end. */
  rested(): void;
}

export interface BreakerOptions {
  /** 0..1; spreads the probes of many processes. */
  readonly random: () => number;
  /** Failures in a row that open the circuit. */
  readonly failuresMax?: number;
  readonly firstRestMs?: number;
  readonly longestRestMs?: number;
}

/** A backend that asks for more is asked again after this all the same: it may have meant another unit. */
const retryAfterMsMax = 3_600_000;

export function breaker(options: BreakerOptions): Breaker {
  const { failuresMax = 5 } = options;
  let circuit: Circuit = 'closed';
  let failures = 0;
  /** How often it opened since the backend last took something. */
  let openings = 0;
  return {
    circuit: () => circuit,
    succeeded() {
      circuit = 'closed';
      failures = 0;
      openings = 0;
    },
    failed(retryAfterMs) {
      failures++;
      // What was on its way when it opened says nothing new.
      if (circuit === 'open' || (circuit === 'closed' && failures < failuresMax && retryAfterMs === undefined)) return undefined;
      circuit = 'open';
      openings++;
      return Math.max(restMs(openings, options), Math.min(retryAfterMs ?? 0, retryAfterMsMax));
    },
    rested() {
      if (circuit === 'open') circuit = 'half_open';
    },
  };
}

/** Doubles with every attempt; half of it is chance. */
export function restMs(
  attempts: number,
  { random, firstRestMs = 1_000, longestRestMs = 60_000 }: Omit<BreakerOptions, 'failuresMax'>,
): number {
  const full = Math.min(longestRestMs, firstRestMs * 2 ** Math.min(attempts - 1, 30));
  return full / 2 + (full / 2) * random();
}
