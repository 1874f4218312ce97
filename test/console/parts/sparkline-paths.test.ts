import { expect, test } from 'vitest';
import { sparklinePaths } from '../../../src/console/parts/sparkline-paths.ts';

const scale = { width: 104, height: 24 };

test.each([
  { name: 'nothing', values: [], want: [] },
  { name: 'only absent values', values: [null, Number.NaN], want: [] },
  { name: 'two values', values: [0, 1], want: ['M2 22L102 2'] },
  { name: 'equal values in the middle', values: [3, 3], want: ['M2 12L102 12'] },
  { name: 'a gap', values: [0, 1, null, 1, 0], want: ['M2 22L27 2', 'M77 2L102 22'] },
  { name: 'a single point', values: [null, 1, null], want: ['M52 12h1'] },
])('sparkline: $name', ({ values, want }) => {
  expect(sparklinePaths(values, scale)).toEqual(want);
});

test('sparkline: a given scale holds', () => {
  expect(sparklinePaths([0.5, 0.5], { ...scale, min: 0, max: 1 })).toEqual(['M2 12L102 12']);
});
