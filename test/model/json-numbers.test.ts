/** Integers are read exactly, anywhere in a text. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isJsonArray, parseJson } from '../../src/model/json.ts';

const integer = fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n });
const before = fc.string({ maxLength: 40 });

test('json: an integer is read exactly at each place of a text', () => {
  fc.assert(
    fc.property(before, integer, before, (first, number, last) => {
      const text = `[${JSON.stringify(first)},${number},${JSON.stringify(last)}]`;
      const safe = BigInt(Number(number)) === number && Number.isSafeInteger(Number(number));
      expect(parseJson(text)).toEqual([first, safe ? Number(number) : number, last]);
    }),
  );
});

test('json: sixteen digits in a row are found at each place', () => {
  for (let at = 0; at < 64; at++) {
    const value = parseJson(`[${' '.repeat(at)}9007199254740993]`);
    expect(isJsonArray(value) && value[0]).toBe(9_007_199_254_740_993n);
  }
});

test('json: digits in a row that a character parts are short', () => {
  expect(parseJson(`["${'123456789012345x'.repeat(9)}", 1.5e3]`)).toEqual(['123456789012345x'.repeat(9), 1500]);
});

test('json: texts of digits and fractions beside an integer change nothing about it', () => {
  const digits = fc.stringMatching(/^[0-9]{14,40}$/);
  const fraction = fc.stringMatching(/^-?[1-9]\.[0-9]{14,40}$/);
  fc.assert(
    fc.property(fc.array(digits, { maxLength: 3 }), fc.array(fraction, { maxLength: 3 }), integer, (ids, scores, number) => {
      const safe = Number.isSafeInteger(Number(number));
      const text = `{"ids":${JSON.stringify(ids)},"scores":[${scores.join(',')}],"number":${number}}`;
      expect(parseJson(text)).toEqual({ ids, scores: scores.map(Number), number: safe ? Number(number) : number });
    }),
  );
});

test.each(['1e999', '-1e999', '[1, {"a": 2e400}]', `[${'9'.repeat(400)}.5]`])(
  'json: %s has a number beyond a double, and is refused',
  (text) => {
    expect(parseJson(text)).toBeUndefined();
  },
);
