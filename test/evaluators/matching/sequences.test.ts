import fc from 'fast-check';
import { expect, test } from 'vitest';
import { heaviestCommonSubsequence, longestCommonSubsequence } from '../../../evaluators/matching/pairing.ts';

const word = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 7 });
const common = (a: readonly string[], b: readonly string[]) => longestCommonSubsequence(a.length, b.length, (x, y) => a[x] === b[y]);

/** Tries everything. */
function longest(a: readonly string[], b: readonly string[]): number {
  const [first, ...rest] = a;
  if (first === undefined) return 0;
  const at = b.indexOf(first);
  return Math.max(longest(rest, b), at === -1 ? 0 : 1 + longest(rest, b.slice(at + 1)));
}

test('sequences: the pairs are matches in order, as many as can be', () => {
  fc.assert(
    fc.property(word, word, (a, b) => {
      const pairs = common(a, b);
      const inOrder = pairs.every(
        (pair, at) => at === 0 || ((pairs[at - 1]?.expected ?? -1) < pair.expected && (pairs[at - 1]?.actual ?? -1) < pair.actual),
      );
      return inOrder && pairs.every((pair) => a[pair.expected] === b[pair.actual]) && pairs.length === longest(a, b);
    }),
  );
});

test('sequences: the length is the same from either side', () => {
  fc.assert(fc.property(word, word, (a, b) => common(a, b).length === common(b, a).length));
});

test('sequences: a relation that is not transitive still aligns as far as it can', () => {
  const matches = [
    [true, true],
    [false, true],
  ];
  expect(longestCommonSubsequence(2, 2, (e, a) => matches[e]?.[a] === true)).toHaveLength(2);
});

test('sequences: the heaviest common subsequence is in order and outweighs every other', () => {
  fc.assert(
    fc.property(fc.array(fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 4, maxLength: 4 }), { maxLength: 4 }), (table) => {
      const weight = (e: number, a: number): number => table[e]?.[a] ?? 0;
      const pairs = heaviestCommonSubsequence(table.length, 4, weight);
      for (const [at, pair] of pairs.entries()) {
        const before = pairs[at - 1];
        expect(before === undefined || (before.expected < pair.expected && before.actual < pair.actual)).toBe(true);
        expect(weight(pair.expected, pair.actual)).toBeGreaterThan(0);
      }
      const best = (e: number, a: number): number =>
        e >= table.length || a >= 4 ? 0 : Math.max(best(e + 1, a), best(e, a + 1), weight(e, a) + best(e + 1, a + 1));
      expect(pairs.reduce((total, pair) => total + weight(pair.expected, pair.actual), 0)).toBe(best(0, 0));
    }),
  );
});
