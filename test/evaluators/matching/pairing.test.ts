import fc from 'fast-check';
import { expect, test } from 'vitest';
import { exactWeightMax, heaviestPairing, maximumPairing, type Pair } from '../../../evaluators/matching/pairing.ts';

const matrix = fc.integer({ min: 0, max: 5 }).chain((rows) =>
  fc.integer({ min: 0, max: 5 }).chain((columns) =>
    fc.array(fc.array(fc.integer({ min: 0, max: 3 }), { minLength: columns, maxLength: columns }), {
      minLength: rows,
      maxLength: rows,
    }),
  ),
);
const widthOf = (rows: readonly (readonly number[])[]): number => rows[0]?.length ?? 0;

/** Tries everything. */
function best(rows: readonly (readonly number[])[], row = 0, taken: readonly number[] = []): number {
  if (row >= rows.length) return 0;
  const options = (rows[row] ?? []).map((weight, column) =>
    taken.includes(column) ? 0 : weight + best(rows, row + 1, [...taken, column]),
  );
  return Math.max(best(rows, row + 1, taken), ...options);
}

function isOneToOne(pairs: readonly Pair[]): boolean {
  return (
    new Set(pairs.map((pair) => pair.expected)).size === pairs.length && new Set(pairs.map((pair) => pair.actual)).size === pairs.length
  );
}

test('pairing: as many pairs as any pairing has, each a match', () => {
  fc.assert(
    fc.property(matrix, (rows) => {
      const ones = rows.map((row) => row.map((weight) => (weight > 1 ? 1 : 0)));
      const pairs = maximumPairing(rows.length, widthOf(rows), (e, a) => ones[e]?.[a] === 1);
      return isOneToOne(pairs) && pairs.every((pair) => ones[pair.expected]?.[pair.actual] === 1) && pairs.length === best(ones);
    }),
    { numRuns: 500 },
  );
});

test('pairing: one more match never makes fewer pairs', () => {
  fc.assert(
    fc.property(matrix, fc.nat(4), fc.nat(4), (rows, e, a) => {
      const pairs = (extra: boolean): number =>
        maximumPairing(rows.length, widthOf(rows), (row, column) => (rows[row]?.[column] ?? 0) > 1 || (extra && row === e && column === a))
          .length;
      return pairs(true) >= pairs(false);
    }),
  );
});

test('pairing: as much weight as any pairing has', () => {
  fc.assert(
    fc.property(matrix, (rows) => {
      const { pairs, method } = heaviestPairing(rows.length, widthOf(rows), (e, a) => (rows[e]?.[a] ?? 0) / 3);
      const weight = pairs.reduce((sum, pair) => sum + (rows[pair.expected]?.[pair.actual] ?? 0), 0);
      return method === 'exact' && isOneToOne(pairs) && weight === best(rows);
    }),
    { numRuns: 500 },
  );
});

test('pairing: beyond the limit it is greedy and reports it', () => {
  const size = exactWeightMax + 1;
  const { pairs, method } = heaviestPairing(size, size, (e, a) => (e === size - 1 - a ? 1 : 0));
  expect({ pairs: pairs.length, method }).toEqual({ pairs: size, method: 'greedy' });
  expect(heaviestPairing(exactWeightMax, exactWeightMax, () => 1).method).toBe('exact');
});

test('pairing: when each is at its place, that is the heaviest pairing at any size', () => {
  expect(heaviestPairing(1_000, 1_000, (e, a) => (e === a ? 1 : 0.5))).toMatchObject({ method: 'exact', pairs: { length: 1_000 } });
});

test('pairing: equal calls are paired by position', () => {
  expect(maximumPairing(3, 3, () => true)).toEqual([0, 1, 2].map((at) => ({ expected: at, actual: at })));
});
