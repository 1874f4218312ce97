/** Equal values have equal fingerprints, and others have not. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fingerprint, type Printable } from '../../../src/pipeline/assembly/fingerprint.ts';
import { longSuite, propertyRuns } from '../../builders/property-runs.ts';

const leaf = fc.oneof(
  fc.constantFrom<Printable>(null, true, false, 0, 1, -1, 1.5, '', 'a', 'b', 'ab', '0', 'null', 0n, 1n, 2n ** 70n),
  fc.string({ maxLength: 6 }),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.bigInt(),
);
const { value } = fc.letrec<{ value: Printable }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    leaf,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__', ''), tie('value'), { maxKeys: 4 }),
  ),
}));

describe('fingerprint', () => {
  test('fingerprint: of a value with its members in another order, or with absent ones, is the same', () => {
    fc.assert(
      fc.property(value, (one) => fingerprint(reordered(one)) === fingerprint(one)),
      { numRuns: propertyRuns({ short: 200, long: 2_000 }) },
    );
  });

  test('fingerprint: of two values is the same only when they are', () => {
    fc.assert(
      fc.property(value, value, (one, other) => (fingerprint(one) === fingerprint(other)) === (text(one) === text(other))),
      { numRuns: propertyRuns({ short: 500, long: 5_000 }) },
    );
  });

  test('fingerprint: of many near values are all different', () => {
    const values: Printable[] = Array.from({ length: longSuite ? 20_000 : 4_000 }, (_, at) => [
      at,
      String(at),
      BigInt(at),
      [at],
      { [at]: at },
      { a: at, b: -at },
    ]).flat();
    expect(new Set(values.map(fingerprint)).size).toBe(values.length);
  });

  const different: readonly (readonly [name: string, one: Printable, other: Printable])[] = [
    ['a number and its text', 1, '1'],
    ['an integer and a bigint', 1, 1n],
    ['nothing and an empty object', null, {}],
    ['an empty list and an empty object', [], {}],
    ['a list in a list', [[1], 2], [[1, 2]]],
    ['members that change places', { a: 1, b: 2 }, { a: 2, b: 1 }],
    ['a member that moves inwards', { a: 1, b: {} }, { b: { a: 1 } }],
    ['two integers beyond 64 bits', 2n ** 64n, 0n],
    ['two integers that a double cannot distinguish', 9007199254740993n, 9007199254740992n],
    ['texts that are cut elsewhere', ['ab', 'c'], ['a', 'bc']],
  ];
  for (const [name, one, other] of different)
    test(`fingerprint: distinguishes ${name}`, () => expect(fingerprint(one)).not.toBe(fingerprint(other)));
});

function reordered(one: Printable): Printable {
  if (typeof one !== 'object' || one === null) return one;
  if (Array.isArray(one)) return one.map(reordered);
  return Object.fromEntries(
    [...Object.entries(one), ['absent', undefined] as const].reverse().map(([key, inner]) => [key, reordered(inner)]),
  );
}

/** Minus zero is zero: JSON does not distinguish them. */
function text(one: Printable): string {
  if (typeof one === 'bigint') return `${one}n`;
  if (typeof one !== 'object' || one === null) return JSON.stringify(one);
  if (Array.isArray(one)) return `[${one.map(text).join()}]`;
  return `{${Object.entries(one)
    .map(([key, inner]) => `${JSON.stringify(key)}:${text(inner)}`)
    .sort()
    .join()}}`;
}
