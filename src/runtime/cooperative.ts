/** Long work in steps: the event loop runs other work between two of them. */

/** Each `yield` ends a step. */
export type Steps<Result> = Generator<undefined, Result, undefined>;

/** Runs all steps at once, and returns the result. */
export function runSteps<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
