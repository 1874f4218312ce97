/** A pair is written in one go, with the bytes of its parts. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { protobufWriter, type ProtobufWriter } from '../../../src/otlp/write/protobuf-writer.ts';
import { propertyRuns } from '../../builders/property-runs.ts';

const texts = [0, 1, 2, 60, 64, 65, 119, 120, 121, 122, 127, 128, 5_000].map((length) => 'x'.repeat(length));
const plain = [...texts, 'é', `${'x'.repeat(59)}é`, '€'.repeat(40), '\ud800'];
const numbers = [
  0,
  1,
  127,
  128,
  2 ** 31,
  2 ** 32,
  Number.MAX_SAFE_INTEGER,
  -1,
  Number.MIN_SAFE_INTEGER,
  -0,
  0.5,
  2 ** 53,
  1e300,
  NaN,
  -Infinity,
];
/** The bytes of the value's message, written as without a pair. */
const values: readonly {
  readonly value: string | number | boolean;
  readonly asDouble: boolean;
  readonly write: (to: ProtobufWriter) => void;
}[] = [
  ...plain.map((value) => ({ value, asDouble: false, write: (to: ProtobufWriter) => to.text(1, value) })),
  ...[true, false].map((value) => ({ value, asDouble: false, write: (to: ProtobufWriter) => to.varint(2, value ? 1 : 0) })),
  ...numbers.map((value) => ({
    value,
    asDouble: false,
    write: (to: ProtobufWriter) => (Number.isSafeInteger(value) && !Object.is(value, -0) ? to.varint(3, value) : to.double(4, value)),
  })),
  ...numbers.map((value) => ({ value, asDouble: true, write: (to: ProtobufWriter) => to.double(4, value) })),
];
const keys = ['k', 'key', 'ключ', 'k'.repeat(61), 'k'.repeat(120), 'k'.repeat(200)];

for (const field of [1, 9, 15, 16, 3_000]) {
  test(`protobuf writer: a pair in field ${field} has the bytes of its parts`, () => {
    const [inOneGo, inParts] = [protobufWriter(), protobufWriter()];
    for (const key of keys) {
      for (const { value, asDouble, write } of values) {
        inOneGo.pair(field, key, value, asDouble);
        inParts.message(field, () => {
          inParts.text(1, key);
          inParts.message(2, () => write(inParts));
        });
        expect([key.length, value, inOneGo.lent().equals(inParts.lent())]).toEqual([key.length, value, true]);
      }
    }
  });
}

test('protobuf writer: a repeated pair has the bytes that it has by itself, after any others', () => {
  const value = fc.oneof(
    fc.constantFrom<string | number | boolean>(0, -0, NaN, 1, 0.5, true, false, '', '0', 'true'),
    fc.nat({ max: 200 }),
    fc.string({ maxLength: 3 }),
    fc.constantFrom(...plain),
  );
  const pair = fc.record({ field: fc.constantFrom(1, 3, 9, 15, 16), key: fc.constantFrom('a', 'b', 'c'), value, asDouble: fc.boolean() });
  fc.assert(
    fc.property(fc.array(pair, { minLength: 1, maxLength: 400, size: 'max' }), (pairs) => {
      const to = protobufWriter();
      for (const one of pairs) {
        to.restart();
        const alone = protobufWriter();
        for (const writer of [to, alone]) writer.pair(one.field, one.key, one.value, one.asDouble);
        expect(to.lent().equals(alone.lent())).toBe(true);
      }
    }),
    { numRuns: propertyRuns({ short: 15, long: 100 }) },
  );
});

test('protobuf writer: more different pairs than it keeps are written unchanged', () => {
  const to = protobufWriter();
  for (let round = 0; round < 2; round++) {
    for (let at = 0; at < 4_000; at++) {
      to.restart();
      to.pair(9, `key ${at >> 4}`, `value ${at} ${'x'.repeat(200)}`, false);
      expect(
        to
          .lent()
          .toString('latin1')
          .endsWith(`value ${at} ${'x'.repeat(200)}`),
      ).toBe(true);
    }
  }
});

test('protobuf writer: a repeated fixed number, and one that comes between, are written unchanged', () => {
  const to = protobufWriter();
  for (const value of [7n, 7n, 2n ** 64n - 1n, 7n]) to.fixed64(1, value);
  expect([0, 1, 2, 3].map((at) => to.lent().readBigUInt64LE(at * 9 + 1))).toEqual([7n, 7n, 2n ** 64n - 1n, 7n]);
});
