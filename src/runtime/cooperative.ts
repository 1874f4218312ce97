/** Long work in pieces, so that whoever does it can do other work in between. */

/** Each `yield` is the end of a piece. */
export type Steps<Result> = Generator<undefined, Result, undefined>;

/** Spans that one piece reads, or makes runs of: it takes some milliseconds. A smaller trace is one piece. */
export const spansPerStep = 500;

/** All of it at once. */
export function ended<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
