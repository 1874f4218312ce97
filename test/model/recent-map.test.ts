import fc from 'fast-check';
import { expect, test } from 'vitest';
import { recentMap } from '../../src/model/recent-map.ts';

test('recent: what was set or replaced last is there, what was deleted is not, and no more than the bound is kept', () => {
  const step = fc.tuple(fc.constantFrom('set', 'delete'), fc.integer({ min: 0, max: 30 }), fc.integer());
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 20 }), fc.array(step, { maxLength: 200 }), (entriesMax, steps) => {
      const map = recentMap<number, number>(entriesMax);
      // Oldest first. A deleted entry keeps its place: a map within its bound cannot bring back one that a later entry has pushed out.
      const whole = new Map<number, number | undefined>();
      for (const [kind, key, value] of steps) {
        if (kind === 'set') {
          whole.delete(key);
          whole.set(key, value);
          map.set(key, value);
        } else {
          if (whole.has(key)) whole.set(key, undefined);
          map.delete(key);
        }
      }
      const newest = [...whole].slice(-Math.floor(entriesMax / 2));
      expect(newest.map(([key]) => map.get(key))).toEqual(newest.map(([, value]) => value));
      const kept = Array.from({ length: 31 }, (_, key) => key).filter((key) => map.has(key));
      expect(kept.length).toBeLessThanOrEqual(entriesMax);
      expect(kept.every((key) => map.get(key) === whole.get(key))).toBe(true);
      map.clear();
      expect(kept.some((key) => map.has(key))).toBe(false);
    }),
  );
});
