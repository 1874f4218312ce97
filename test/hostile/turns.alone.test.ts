/** One request must not hold the event loop: no step of reading it takes long, however it is made. */
import { expect, test } from 'vitest';
import { heavy, longestStepMs } from './turns.ts';

/** Below 50 ms where this was written; `npm run check -- hostile` prints what it is. Before it was read in steps, such a request took 200 to 650 ms. */
const stepMsMax = 150;

for (const one of heavy) {
  test(`hostile: no step of reading ${one.name} takes long`, () => {
    expect(longestStepMs(one).longestMs).toBeLessThan(stepMsMax);
  });
}
