import fc from 'fast-check';
import { expect, test } from 'vitest';
import { editDistance, editTextMax, textSimilarity } from '../../../evaluators/matching/similarity.ts';

const word = fc.string({ unit: fc.constantFrom('a', 'b', '\u{1F600}'), maxLength: 8 });

const rows = [
  { a: 'kitten', b: 'sitting', distance: 3 },
  { a: '', b: 'abc', distance: 3 },
  { a: '\u{1F600}', b: 'x', distance: 1 },
];
for (const { a, b, distance } of rows) {
  test(`text: from ${JSON.stringify(a)} to ${JSON.stringify(b)} it is ${distance}`, () => {
    expect(editDistance(a, b)).toBe(distance);
  });
}

test('text: the distance is a metric', () => {
  fc.assert(
    fc.property(word, word, word, (a, b, c) => {
      const [ab, bc, ac] = [editDistance(a, b), editDistance(b, c), editDistance(a, c)];
      return ab === editDistance(b, a) && (ab === 0) === (a === b) && ac <= ab + bc;
    }),
  );
});

test('text: similarity is from 0 to 1, and is 1 for equal texts only', () => {
  fc.assert(
    fc.property(word, word, (a, b) => textSimilarity(a, b) >= 0 && textSimilarity(a, b) <= 1 && (textSimilarity(a, b) === 1) === (a === b)),
  );
});

test('text: texts beyond the limit are equal or not', () => {
  const long = 'x'.repeat(editTextMax + 1);
  expect([
    textSimilarity(long, long),
    textSimilarity(long, `${long}y`),
    textSimilarity('x'.repeat(editTextMax), 'x'.repeat(editTextMax - 1)) > 0.9,
  ]).toEqual([1, 0, true]);
});
