/** Inputs that people reported in public trackers come out as what the agent did, but for those that a visible list names. */
import { expect, test } from 'vitest';
import { caseDifference, fieldCases, inspectedRuns } from './cases.ts';
import { disputed } from './disputed.ts';

const cases = fieldCases();

test('field cases: the list of disputed cases names only cases that exist', () => {
  const names = cases.map(({ name }) => name);
  expect(disputed.filter((one) => !names.includes(one.case))).toEqual([]);
});

test.each(
  cases.flatMap(({ name, expected, inputs }) =>
    inputs.map((files) => ({ title: inputs.length === 1 ? name : `${name} ${files.join(' ').split('/').at(-1)}`, name, expected, files })),
  ),
)('field cases: $title', async ({ name, expected, files }) => {
  const found = caseDifference(expected, await inspectedRuns(files));
  expect(found).toBe(disputed.find((one) => one.case === name)?.difference);
});
