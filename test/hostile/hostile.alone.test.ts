/** The corpus against the whole service, one case after the other, with a good request behind each. `npm run check -- hostile` shows it as a table. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { turnMsMax } from './case.ts';
import { corpus } from './corpus.ts';
import { outcomeOf } from './runner.ts';
import { openTarget, type Target } from './target.ts';

/** Other threads of the machine slow this one's processor: caches and clock are theirs too. */
const busy = 3;
let target: Target;
let number = 0;

beforeAll(async () => {
  target = await openTarget();
});

afterAll(() => target.stop());

for (const [door, cases] of Object.entries(corpus)) {
  describe(`hostile ${door}`, () => {
    for (const one of cases) {
      test(`hostile: ${one.name}`, async () => {
        const { faults, turnMs } = await outcomeOf(target, one, ++number);
        expect(faults).toEqual([]);
        const most = busy * (one.want.turnMs ?? turnMsMax);
        // A full collection of the heap can fall into any turn, but not into the same turn twice.
        const least = turnMs < most ? turnMs : Math.min(turnMs, (await outcomeOf(target, one, ++number)).turnMs);
        expect(least).toBeLessThan(most);
      });
    }
  });
}

test('hostile: every case has a distinct name, and there are more than three hundred', () => {
  const names = Object.entries(corpus).flatMap(([door, cases]) => cases.map(({ name }) => `${door}: ${name}`));
  expect(new Set(names).size).toBe(names.length);
  expect(names.length).toBeGreaterThan(300);
});
