/** Time as an argument: floors 0 to 3 never read the machine's clock. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  nowMs(): number;
}

/** Waits; resolves early, and never rejects, when the signal is aborted. */
export type Sleep = (ms: number, signal?: AbortSignal) => Promise<void>;

export interface ManualClock extends Clock {
  advance(ms: number): void;
}

/** A clock that stands still until it is moved. Tests use it; so does replay of recorded runs. */
export function manualClock(startMs = 1_700_000_000_000): ManualClock {
  let now = startMs;
  return {
    nowMs: () => now,
    advance(ms) {
      now += ms;
    },
  };
}

/** Nanoseconds of epoch milliseconds, to the microsecond: more a double does not hold. */
export function unixNano(ms: number): bigint {
  return BigInt(Math.round(ms * 1_000)) * 1_000n;
}
