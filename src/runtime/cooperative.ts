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

/** Runs `turn` between two steps: it resolves when the event loop has run other work, or rejects to give the work up. */
export async function runInTurns<Result>(steps: Steps<Result>, turn: () => Promise<unknown>): Promise<Result> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await turn();
  }
}
