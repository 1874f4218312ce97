/** A sender is modest when it takes less than half of an equal share, at any load of others. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { manualClock } from '../../../src/model/clock.ts';
import { fairShare } from '../../../src/pipeline/overload/fair-share.ts';

test('fair share: a single sender is never modest, and beside a greedy one a sender of little is', () => {
  const share = fairShare({ clock: manualClock() });
  expect(share.isModest('greedy')).toBe(false);
  share.took('greedy', 1_000);
  expect([share.isModest('greedy'), share.isModest('new')]).toEqual([false, true]);
  share.took('small', 10);
  expect([share.isModest('greedy'), share.isModest('small')]).toEqual([false, true]);
});

test('fair share: none of many equal senders is modest', () => {
  const share = fairShare({ clock: manualClock() });
  const senders = Array.from({ length: 50 }, (_, at) => `sender ${at}`);
  for (const sender of senders) share.took(sender, 100);
  expect(senders.filter(share.isModest)).toEqual([]);
});

test('fair share: what was taken long ago is forgotten by and by', () => {
  const clock = manualClock();
  const share = fairShare({ clock });
  share.took('greedy once', 1_000);
  clock.advance(60_000);
  share.took('greedy now', 1_000);
  expect([share.isModest('greedy once'), share.isModest('greedy now')]).toEqual([true, false]);
});

test('fair share: a bounded number of senders is remembered', () => {
  const share = fairShare({ clock: manualClock(), sendersMax: 2 });
  for (const sender of ['a', 'b', 'c']) share.took(sender, 100);
  // Forgotten, so it counts as new.
  expect(['a', 'b', 'c'].map(share.isModest)).toEqual([true, false, false]);
});

test('fair share: never are all modest who have sent something', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.integer({ min: 1, max: 10_000 }), fc.integer({ min: 0, max: 20_000 })), {
        minLength: 1,
      }),
      (sent) => {
        const clock = manualClock();
        const share = fairShare({ clock });
        for (const [sender, bytes, afterMs] of sent) {
          clock.advance(afterMs);
          share.took(sender, bytes);
        }
        expect(sent.every(([sender]) => share.isModest(sender))).toBe(false);
      },
    ),
  );
});
