/** A pair of texts is written in one go where it is short and plain, and says the same where it is not. */
import { expect, test } from 'vitest';
import { protobufWriter } from '../../src/otlp/protobuf-writer.ts';

const texts = [0, 1, 2, 60, 64, 65, 119, 120, 121, 122, 127, 128, 5_000].map((length) => 'x'.repeat(length));
const values = [...texts, 'é', `${'x'.repeat(59)}é`, '€'.repeat(40), '\ud800'];
const keys = ['k', 'key', 'ключ', 'k'.repeat(61), 'k'.repeat(120), 'k'.repeat(200)];

for (const field of [1, 9, 15, 16, 3_000]) {
  test(`protobuf writer: a pair in field ${field} has the bytes of its parts`, () => {
    const [inOneGo, inParts] = [protobufWriter(), protobufWriter()];
    for (const key of keys) {
      for (const value of values) {
        inOneGo.textPair(field, key, value);
        inParts.message(field, () => {
          inParts.text(1, key);
          inParts.message(2, () => inParts.text(1, value));
        });
        expect([key.length, value.length, inOneGo.lent().equals(inParts.lent())]).toEqual([key.length, value.length, true]);
      }
    }
  });
}
