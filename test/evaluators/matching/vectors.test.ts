import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cosine, readVectors, vectorOf } from '../../../evaluators/matching/vectors.ts';
import type { JsonValue } from '../../../src/model/json.ts';

const number = fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e300, max: 1e300 });
const pair = fc
  .integer({ min: 1, max: 8 })
  .chain((length) =>
    fc.tuple(fc.array(number, { minLength: length, maxLength: length }), fc.array(number, { minLength: length, maxLength: length })),
  );

test('vectors: the cosine is from -1 to 1 for any numbers, and is symmetric', () => {
  fc.assert(
    fc.property(pair, ([a, b]) => {
      const found = cosine(a, b);
      return found >= -1 && found <= 1 && found === cosine(b, a);
    }),
  );
});

test('vectors: a vector has the cosine 1 to itself, -1 to its opposite, and 0 to nothing at all', () => {
  fc.assert(
    fc.property(pair, ([a]) => {
      const own = a.every((one) => one === 0) ? 0 : 1;
      return (
        Math.abs(cosine(a, a) - own) < 1e-12 &&
        Math.abs(
          cosine(
            a,
            a.map((one) => -one),
          ) + own,
        ) < 1e-12 &&
        cosine(
          a,
          a.map(() => 0),
        ) === 0
      );
    }),
  );
});

test('vectors: length does not count', () => {
  const small = fc.array(fc.integer({ min: -9, max: 9 }), { minLength: 3, maxLength: 3 });
  fc.assert(
    fc.property(
      small,
      small,
      fc.integer({ min: 1, max: 1_000 }),
      (a, b, times) =>
        Math.abs(
          cosine(a, b) -
            cosine(
              a.map((one) => one * times),
              b,
            ),
        ) < 1e-9,
    ),
  );
});

test('vectors: any JSON value is a vector of finite numbers or none', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const found = vectorOf(value as JsonValue);
      return found === undefined || (found.length > 0 && found.every((one) => Number.isFinite(one)));
    }),
  );
});

const lists: readonly { readonly name: string; readonly value: JsonValue | undefined; readonly texts: number; readonly want: object }[] = [
  {
    name: 'one vector a text',
    value: [
      [1, 0],
      [0, 1],
    ],
    texts: 2,
    want: {
      kind: 'vectors',
      vectors: [
        [1, 0],
        [0, 1],
      ],
    },
  },
  { name: 'none for no text', value: [], texts: 0, want: { kind: 'vectors', vectors: [] } },
  { name: 'too few', value: [[1]], texts: 2, want: { fault: 'there are 1 vectors for 2 texts' } },
  { name: 'too many', value: [[1], [2]], texts: 1, want: { fault: 'there are 2 vectors for 1 texts' } },
  { name: 'an empty one', value: [[1], []], texts: 2, want: { kind: 'faulty' } },
  { name: 'one with null in it', value: [[1, null]], texts: 1, want: { kind: 'faulty' } },
  { name: 'one with a number that is not finite', value: [[1, Infinity]], texts: 1, want: { kind: 'faulty' } },
  { name: 'one that is a text', value: ['[1, 2]'], texts: 1, want: { kind: 'faulty' } },
  { name: 'different lengths', value: [[1, 2], [1]], texts: 2, want: { fault: 'the vectors have different lengths: 2, 1' } },
  { name: 'no list', value: { a: 1 }, texts: 1, want: { kind: 'faulty' } },
  { name: 'nothing', value: undefined, texts: 1, want: { kind: 'faulty' } },
];
for (const { name, value, texts, want } of lists) test(`vectors: ${name}`, () => expect(readVectors(value, texts)).toMatchObject(want));
