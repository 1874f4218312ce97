/** Cosines of inputs. */
import { expect, test } from 'vitest';
import { type Direction, directionOf, knownInputs } from '../../src/datasets/near-duplicates.ts';

function direction(...vector: readonly number[]): Direction {
  const found = directionOf(vector);
  if (found === undefined) throw new Error('no direction');
  return found;
}

const faulty: readonly (readonly [string, readonly number[]])[] = [
  ['zeros', [0, 0]],
  ['nothing', []],
  ['infinity', [Infinity, 1]],
];

test.each(faulty)('near duplicates: a vector of %s points nowhere', (_name, vector) => {
  expect(directionOf(vector)).toBeUndefined();
});

test('near duplicates: neither large nor small members lose the direction', () => {
  for (const scale of [1e300, 1, 1e-300]) {
    const known = knownInputs();
    known.add('a', direction(3, 4));
    expect(known.nearest('b', direction(3 * scale, 4 * scale))?.similarity).toBeCloseTo(1, 5);
  }
});

test('near duplicates: the nearest of the others, of the same model', () => {
  const known = knownInputs();
  expect(known.nearest('a', direction(1, 0))).toBeUndefined();
  known.add('east', direction(1, 0));
  known.add('north-east', direction(1, 1));
  known.add('longer', direction(1, 0, 0));
  const nearest = known.nearest('new', direction(0, 1));
  expect(nearest?.id).toBe('north-east');
  expect(nearest?.similarity).toBeCloseTo(Math.SQRT1_2, 6);
  expect(known.nearest('north-east', direction(1, 1))?.id).toBe('east');
});
