import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inTurns, oldestOfLargest, shares } from '../../src/model/shares.ts';

test('shares: one holder may take all, and others still find an equal share', () => {
  const own = shares(10);
  const filled = (holder: string): number => {
    let taken = 0;
    for (; own.mayTake(holder); taken++) own.take(holder);
    return taken;
  };
  expect([filled('flood'), filled('a'), filled('b')]).toEqual([10, 5, 4]);
  expect(filled('flood')).toBe(0);
  for (let at = 0; at < 10; at++) own.giveBack('flood');
  expect(own.mayTake('flood')).toBe(true);
});

test('shares: in any state of the holders, one without anything finds room, and the sum stays within its bound', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.boolean()), { maxLength: 300 }), (steps) => {
      const own = shares(12);
      const held = new Map<string, number>();
      for (const [holder, gives] of steps) {
        const before = held.get(holder) ?? 0;
        if (gives) {
          own.giveBack(holder);
          held.set(holder, Math.max(0, before - 1));
        } else if (own.mayTake(holder)) {
          own.take(holder);
          held.set(holder, before + 1);
        } else expect(before).toBeGreaterThan(0);
        expect([...held.values()].reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(12 * (1 + 1 / 2 + 1 / 3 + 1 / 4));
      }
    }),
  );
});

test('shares: items of several holders come in turn, each in its order', () => {
  expect(inTurns(['a1', 'a2', 'a3', 'b1', 'c1', 'c2'], (item) => item.charAt(0))).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
});

test('shares: the holder with the most, by number or by weight, gives its oldest item', () => {
  const items = ['b10', 'a1', 'a2', 'a3', 'b4'];
  const [holder, weight] = [(item: string) => item.charAt(0), (item: string) => Number(item.slice(1))];
  expect([oldestOfLargest(items, holder), oldestOfLargest(items, holder, weight), oldestOfLargest([], holder)]).toEqual([
    'a1',
    'b10',
    undefined,
  ]);
});
