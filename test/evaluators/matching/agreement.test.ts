import fc from 'fast-check';
import { expect, test } from 'vitest';
import { agreement, agreementWeight, disagreement, preparedSelection, preparedValue } from '../../../evaluators/matching/agreement.ts';
import { argumentDefaults } from '../../../evaluators/matching/arguments.ts';
import { numberOf } from '../../../evaluators/matching/rational.ts';
import type { JsonObject } from '../../../src/model/json.ts';

const rows: readonly {
  readonly name: string;
  readonly expected: JsonObject;
  readonly actual: JsonObject;
  readonly share: number;
  readonly differ: object;
}[] = [
  {
    name: 'equal objects agree whole',
    expected: { a: 1, b: [1, 2] },
    actual: { b: [1.0, 2], a: 1 },
    share: 1,
    differ: { missing: [], extra: [], unequal: [] },
  },
  { name: 'empty objects agree whole', expected: {}, actual: {}, share: 1, differ: { missing: [], extra: [], unequal: [] } },
  {
    name: 'a key with another value does not agree',
    expected: { a: 1, b: 2 },
    actual: { a: 1, b: 3 },
    share: 0.5,
    differ: { unequal: ['b'] },
  },
  {
    name: 'missing and extra keys enlarge the whole',
    expected: { a: 1, b: 2 },
    actual: { a: 1, c: 3 },
    share: 1 / 3,
    differ: { missing: ['b'], extra: ['c'] },
  },
  {
    name: 'objects agree in part',
    expected: { u: { n: 1, m: 2 }, k: 1 },
    actual: { u: { n: 1, m: 3 }, k: 1 },
    share: 0.75,
    differ: { unequal: ['u.m'] },
  },
  { name: 'lists agree whole or not at all', expected: { l: [1, 2] }, actual: { l: [1, 2, 3] }, share: 0, differ: { unequal: ['l'] } },
  { name: 'a boolean is not a number', expected: { a: 1 }, actual: { a: true }, share: 0, differ: { unequal: ['a'] } },
  {
    name: 'null is a value and not a missing key',
    expected: { a: null, b: null },
    actual: { a: null },
    share: 0.5,
    differ: { missing: ['b'] },
  },
  {
    name: 'keys may be members of every object',
    expected: JSON.parse('{"__proto__": 1, "constructor": 2}') as JsonObject,
    actual: { constructor: 2 },
    share: 0.5,
    differ: { missing: ['__proto__'] },
  },
];
for (const { name, expected, actual, share, differ } of rows) {
  test(`agreement: ${name}`, () => {
    const [one, other] = [preparedValue(expected), preparedValue(actual)];
    expect(numberOf(agreement(one, other))).toBe(share);
    expect(agreementWeight(one, other)).toBeCloseTo(share, 12);
    expect(disagreement(one, other)).toMatchObject(differ);
  });
}

test('agreement: it is the same seen from both sides, and 1 only for equal values', () => {
  const value = fc.dictionary(
    fc.constantFrom('a', 'b', 'c'),
    fc.oneof(fc.integer({ min: 0, max: 2 }), fc.dictionary(fc.constantFrom('x', 'y'), fc.integer({ min: 0, max: 1 }))),
  );
  fc.assert(
    fc.property(value, value, (a, b) => {
      const [one, other] = [preparedValue(a), preparedValue(b)];
      expect(agreement(one, other)).toEqual(agreement(other, one));
      expect(numberOf(agreement(one, other)) === 1).toBe(one.text === other.text);
      expect(agreementWeight(one, other)).toBeCloseTo(numberOf(agreement(one, other)), 12);
    }),
  );
});

test('agreement: only the fields of a rule are looked at', () => {
  const rule = { ...argumentDefaults, fields: ['a', 'o.k'] };
  expect(
    numberOf(agreement(preparedSelection({ a: 1, b: 2, o: { k: 1 } }, rule), preparedSelection({ a: 1, b: 3, o: { k: 2 } }, rule))),
  ).toBe(0.5);
});
