import fc from 'fast-check';
import { expect, test } from 'vitest';
import { partOf } from '../../src/datasets/split.ts';

const parts = [
  { name: 'train', share: 0.7 },
  { name: 'dev', share: 0.2 },
  { name: 'test', share: 0.1 },
];
const example = (input: string): { readonly id: string; readonly input: string } => ({ id: input, input });

test('split: parts get about their shares', () => {
  const counts = { train: 0, dev: 0, test: 0 };
  for (let at = 0; at < 2_000; at++) counts[partOf(example(`question ${at.toString(26)}x`), parts, 's') as keyof typeof counts]++;
  // Four standard deviations of a binomial share are less than 0.05 here.
  expect(counts.train / 2_000).toBeCloseTo(0.7, 1);
  expect(Math.abs(counts.dev / 2_000 - 0.2)).toBeLessThan(0.05);
  expect(Math.abs(counts.test / 2_000 - 0.1)).toBeLessThan(0.05);
});

test('split: near-duplicates come into one part, and another seed divides in another way', () => {
  const inputs = Array.from({ length: 50 }, (_, at) => `where is order ${at.toString(26)}-`);
  for (const input of inputs)
    expect(partOf(example(`${input}12345`), parts, 's')).toBe(partOf(example(`${input.toUpperCase()}99999!`), parts, 's'));
  expect(inputs.some((input) => partOf(example(input), parts, 'a') !== partOf(example(input), parts, 'b'))).toBe(true);
});

test('split: every example has one of the parts, at any shares', () => {
  fc.assert(
    fc.property(fc.string(), fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 }), (input, weights) => {
      const sum = weights.reduce((total, one) => total + one, 0);
      const given = weights.map((weight, at) => ({ name: `p${at}`, share: weight / sum }));
      expect(given.map(({ name }) => name)).toContain(partOf(example(input), given, 's'));
    }),
  );
});
