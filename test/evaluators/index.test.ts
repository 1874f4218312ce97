import { expect, test } from 'vitest';
import { evaluators } from '../../evaluators/index.ts';

test('evaluators: a version is a whole number from 1', () => {
  expect(evaluators.filter(({ version }) => !Number.isInteger(version) || version < 1).map(({ id }) => id)).toEqual([]);
});
