/** Exponential backoff with jitter. */

export interface BackoffOptions {
  /** 0..1. Spreads the attempts of many clients over the second half of the wait; absent: no jitter. */
  readonly random?: () => number;
  readonly firstRestMs?: number;
  readonly longestRestMs?: number;
}

/** 2 ** 30 first waits exceed any longest wait. */
const doublingsMax = 30;

/** The wait after attempt `attempt`, counted from 1: it doubles with every attempt. */
export function backoffMs(attempt: number, { random = () => 1, firstRestMs = 1_000, longestRestMs = 60_000 }: BackoffOptions): number {
  const full = Math.min(longestRestMs, firstRestMs * 2 ** Math.min(attempt - 1, doublingsMax));
  return full / 2 + (full / 2) * random();
}
