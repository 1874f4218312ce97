/** Reading a request between other work: a large one must not keep the small ones waiting. */
import type { Steps } from '../runtime/cooperative.ts';
import { aborted } from './body.ts';

/** What the steps give; the event loop turns between two of them. Rejects with `aborted` when the client is gone meanwhile. */
export function inTurns<Result>(steps: Steps<Result>, isGone: () => boolean): Promise<Result> {
  return new Promise((resolve, reject) => {
    const fail = (reason: unknown): void => reject(reason);
    const turn = (): void => {
      // What a client that is gone has sent is held by nobody's lease any more.
      if (isGone()) return fail(aborted);
      try {
        const step = steps.next();
        if (step.done === true) resolve(step.value);
        else setImmediate(turn);
      } catch (error) {
        fail(error);
      }
    };
    turn();
  });
}
