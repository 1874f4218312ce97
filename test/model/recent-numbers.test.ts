import fc from 'fast-check';
import { expect, test } from 'vitest';
import { numberOfText, recentNumbers, recentTexts } from '../../src/model/recent-numbers.ts';
import { propertyRuns } from '../builders/property-runs.ts';

/** Texts that are set one after the other: few over and over, or enough to make the tables grow. */
interface Run {
  readonly from: number;
  readonly count: number;
}

const runs = (textsMax: number, countMax: number): fc.Arbitrary<Run[]> =>
  fc.array(fc.record({ from: fc.nat(textsMax), count: fc.integer({ min: 1, max: countMax }) }), { maxLength: 12 });

const cases = fc.oneof(
  fc.record({ entriesMax: fc.integer({ min: 2, max: 20 }), steps: runs(20, 15) }),
  fc.record({ entriesMax: fc.integer({ min: 400, max: 12_000 }), steps: runs(5_000, 700) }),
);

test('recent numbers: what was set last is there, nothing else is, and no more than the bound is kept', () => {
  fc.assert(
    fc.property(cases, ({ entriesMax, steps }) => {
      const numbers = recentNumbers(entriesMax);
      const texts = recentTexts(entriesMax);
      // Oldest first.
      const model = new Map<string, number>();
      let value = 0;
      for (const { from, count } of steps) {
        for (let at = from; at < from + count; at++) {
          const text = `trace ${at}`;
          const before = numbers.set(text, value);
          if (before !== undefined) expect(before).toBe(model.get(text));
          texts.add(text);
          model.delete(text);
          model.set(text, value++);
        }
        const newest = [...model.keys()].slice(-Math.floor(entriesMax / 2));
        expect(newest.map((text) => numbers.get(text))).toEqual(newest.map((text) => model.get(text)));
        expect(newest.every((text) => texts.has(text))).toBe(true);
      }
      const kept = [...model.keys()].filter((text) => numbers.has(text));
      expect(kept.length).toBeLessThanOrEqual(entriesMax);
      expect(kept.map((text) => numbers.get(text))).toEqual(kept.map((text) => model.get(text)));
      expect(kept.every((text) => texts.has(text))).toBe(true);
      expect([numbers.has('another'), numbers.get('another'), texts.has('another')]).toEqual([false, undefined, false]);
      numbers.clear();
      expect(kept.some((text) => numbers.has(text))).toBe(false);
    }),
    { numRuns: propertyRuns({ short: 10, long: 60 }) },
  );
});

test('recent numbers: any number comes back unchanged, and texts that differ in little do not meet', () => {
  const numbers = recentNumbers(100);
  const values = [0, -0, -1.5, Number.NaN, Infinity, Number.MAX_SAFE_INTEGER, 1_700_000_000_000_000];
  for (const [at, value] of values.entries()) numbers.set(`${at}`, value);
  expect(values.map((_, at) => numbers.get(`${at}`))).toEqual(values);
  expect(['', ' ', '00', '0 '].filter((text) => numbers.has(text))).toEqual([]);
});

test('number of a text: equal for equal texts, and another for another text', () => {
  const texts = Array.from({ length: 5_000 }, (_, at) => `${at / 10} good`);
  expect(new Set(texts.map(numberOfText)).size).toBe(texts.length);
  expect(numberOfText('0.5 good')).toBe(numberOfText(['0.5', 'good'].join(' ')));
});
