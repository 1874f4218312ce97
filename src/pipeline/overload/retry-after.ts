/** How long a client that is refused is asked to stay away. */

export interface RetryAfter {
  /** Whole seconds, from 1 to the bound. */
  seconds(backlog: Backlog): number;
}

export interface Backlog {
  /** Seconds of work that is accepted and not done. */
  readonly lateSeconds: number;
  /** The strain that refuses, in parts of what it takes to refuse: 1 and more. */
  readonly burden: number;
  /** For how long requests have been refused without a pause. */
  readonly refusingSeconds: number;
}

export interface RetryAfterOptions {
  readonly maxSeconds: number;
  /** 0..1, excluding 1. */
  readonly random: () => number;
}

/** A strain that is half as large again as what refuses adds five seconds. */
const secondsPerBurden = 10;
/** Ten seconds of refusing add one: who comes back meanwhile comes on top of who sends anyway. */
const secondsPerRefusing = 0.1;

/**
 * Grows with the backlog, up to a bound. Whoever was refused together must not come back together: the answer lies anywhere between half of the
 * time and one and a half of it.
 */
export function retryAfter({ maxSeconds, random }: RetryAfterOptions): RetryAfter {
  return {
    seconds({ lateSeconds, burden, refusingSeconds }) {
      const mean =
        1 + Math.max(0, lateSeconds) + Math.max(0, burden - 1) * secondsPerBurden + Math.max(0, refusingSeconds) * secondsPerRefusing;
      return Math.max(1, Math.min(maxSeconds, Math.round(mean * (0.5 + random()))));
    },
  };
}
