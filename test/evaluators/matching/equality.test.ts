import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalText, jsonEqual } from '../../../evaluators/matching/equality.ts';
import { parseJson } from '../../../src/model/json.ts';
import type { JsonValue } from '../../../src/model/json.ts';

const json = fc.jsonValue({ maxDepth: 4 }).map((value) => value as JsonValue);
const folding = { trimStrings: true, caseInsensitive: true };

const rows: readonly {
  readonly name: string;
  readonly a: JsonValue | undefined;
  readonly b: JsonValue | undefined;
  readonly equal: boolean;
  readonly tolerant?: boolean;
}[] = [
  { name: '1 and 1.0', a: parseJson('1'), b: parseJson('1.0'), equal: true },
  { name: '0 and -0', a: 0, b: -0, equal: true },
  { name: '1e20 and the same digits in full', a: parseJson('1e20'), b: parseJson('100000000000000000000'), equal: true },
  {
    name: 'long whole numbers that differ in the last digit',
    a: parseJson('1234567890123456789'),
    b: parseJson('1234567890123456788'),
    equal: false,
  },
  { name: 'true and 1', a: true, b: 1, equal: false },
  { name: '1 and its text', a: 1, b: '1', equal: false },
  { name: 'null and a missing key', a: { x: null }, b: {}, equal: false },
  { name: 'objects in another key order', a: { a: 1, b: { c: [1] } }, b: { b: { c: [1] }, a: 1 }, equal: true },
  { name: 'lists in another order', a: [1, 2], b: [2, 1], equal: false },
  { name: 'composed and decomposed letters', a: '\u00e9', b: 'e\u0301', equal: false },
  { name: 'an own __proto__ and none', a: parseJson('{"__proto__": 1}'), b: {}, equal: false },
  { name: 'case', a: 'Paris', b: 'paris', equal: false },
  { name: 'case and white space, tolerantly', a: '\u00a0PARIS ', b: 'paris', equal: true, tolerant: true },
  { name: 'sharp s and ss, tolerantly', a: 'stra\u00dfe', b: 'STRASSE', equal: false, tolerant: true },
  { name: 'both small sigmas, tolerantly', a: '\u03bf\u03c2', b: '\u03bf\u03c3', equal: true, tolerant: true },
  { name: 'keys in another case, tolerantly', a: { A: 1 }, b: { a: 1 }, equal: false, tolerant: true },
];
for (const { name, a, b, equal, tolerant = false } of rows) {
  test(`equality: ${name} are ${equal ? 'equal' : 'different'}`, () => {
    expect(jsonEqual(a ?? null, b ?? null, tolerant ? folding : undefined)).toBe(equal);
  });
}

test('equality: it is symmetric, every value equals itself, and a copy with its keys turned round is equal', () => {
  const turned = (value: JsonValue): JsonValue => {
    if (Array.isArray(value)) return value.map(turned);
    return typeof value === 'object' && value !== null
      ? Object.fromEntries(
          Object.entries(value)
            .toReversed()
            .map(([key, item]) => [key, turned(item)]),
        )
      : value;
  };
  fc.assert(fc.property(json, json, (a, b) => jsonEqual(a, b) === jsonEqual(b, a) && jsonEqual(a, a) && jsonEqual(a, turned(a))));
});

test('equality: values with equal texts are the values of that text', () => {
  fc.assert(fc.property(json, (a) => jsonEqual(parseJson(canonicalText(a)) ?? null, a)));
});

test('equality: values are equal when their canonical texts are, with numbers of both kinds and tolerant texts too', () => {
  const scalar = fc.oneof(
    fc.constantFrom<JsonValue>(0, -0, 1, 1n, 1e20, 10n ** 20n, 0.5, true, false, null, '', ' A', 'a', '1', 'null'),
    fc.bigInt({ min: -3n, max: 3n }),
    fc.integer({ min: -3, max: 3 }),
  );
  const value = fc.letrec<{ readonly value: JsonValue }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      scalar,
      fc.array(tie('value'), { maxLength: 2 }),
      fc.dictionary(fc.constantFrom('a', 'b', '__proto__'), tie('value'), { maxKeys: 2 }),
    ),
  })).value;
  const agree = (a: JsonValue, b: JsonValue, tolerance?: typeof folding): boolean =>
    jsonEqual(a, b, tolerance) === (canonicalText(a, tolerance) === canonicalText(b, tolerance));
  fc.assert(
    fc.property(value, value, (a, b) => agree(a, b) && agree(a, b, folding)),
    { numRuns: 2_000 },
  );
});

test('equality: what is equal exactly is equal tolerantly', () => {
  fc.assert(fc.property(fc.string(), fc.string(), (a, b) => !jsonEqual(a, b) || jsonEqual(a, b, folding)));
});

test('equality: a value that is nested too deep is refused, not walked', () => {
  const nested = (): JsonValue => {
    let value: JsonValue = 1;
    for (let level = 0; level < 10_000; level++) value = [value];
    return value;
  };
  const deep = nested();
  expect(() => canonicalText(deep)).toThrow(/nested deeper/);
  expect(() => jsonEqual(deep, nested())).toThrow(/nested deeper/);
});
