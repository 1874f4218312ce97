/** The time as an argument: floors 0 to 3 never read the machine's clock. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  nowMs(): number;
}

/** Waits. Resolves early, and never rejects, when the signal aborts. */
export type Sleep = (ms: number, signal?: AbortSignal) => Promise<void>;

export interface ManualClock extends Clock {
  advance(ms: number): void;
}

/** A clock that moves only by `advance`, for tests and for the replay of recorded runs. */
export function manualClock(startMs = 1_700_000_000_000): ManualClock {
  let now = startMs;
  return {
    nowMs: () => now,
    advance(ms) {
      now += ms;
    },
  };
}

/** Converts epoch milliseconds to nanoseconds, rounded to the microsecond, which is the precision of a double. */
export function unixNano(ms: number): bigint {
  return BigInt(Math.round(ms * 1_000)) * 1_000n;
}
