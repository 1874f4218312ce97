import { expect, test } from 'vitest';
import { manualClock } from '../../src/model/clock.ts';
import { logThrottle } from '../../src/runtime/throttled-log.ts';

test('log throttle: the first line of a key passes, later ones once per interval with the count since', () => {
  const clock = manualClock();
  const due = logThrottle({ clock, everyMs: 1_000 });
  expect([due('a'), due('a', 5), due('b', 2)]).toEqual([1, undefined, 2]);
  clock.advance(999);
  expect(due('a')).toBeUndefined();
  clock.advance(1);
  expect([due('a', 3), due('a')]).toEqual([9, undefined]);
});

test('log throttle: keys beyond the bound share one line', () => {
  const due = logThrottle({ clock: manualClock(), keysMax: 2 });
  expect(['a', 'b', 'c', 'd', 'a'].map((key) => due(key))).toEqual([1, 1, 1, undefined, undefined]);
});
