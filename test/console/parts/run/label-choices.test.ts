import { expect, test } from 'vitest';
import { labelChoices, labelNames } from '../../../../src/console/parts/run/label-choices.ts';

const verdict = (name: string, passed: boolean | null, label = passed === true ? 'pass' : 'fail') => ({
  name,
  passed,
  label,
  status: 'scored',
});
const run = {
  verdicts: [
    verdict('fine', true),
    verdict('tone', null, 'rude'),
    verdict('broken', false),
    { ...verdict('off', null, 'skipped'), status: 'skipped' },
  ],
  annotations: [
    { name: 'tone', label: 'curt' },
    { name: 'own', label: null },
  ],
};

test('evaluators that failed the run come first', () => {
  expect(labelNames(run)).toEqual(['broken', 'fine', 'tone', 'off', 'own', 'quality']);
});

test('labels are pass, fail, and those that the name has', () => {
  expect(labelChoices(run, 'tone')).toEqual(['pass', 'fail', 'rude', 'curt']);
  expect(labelChoices(run, 'off')).toEqual(['pass', 'fail']);
  expect(labelChoices({ verdicts: Array.from({ length: 20 }, (_, nth) => verdict('n', null, `l${nth}`)) }, 'n')).toHaveLength(9);
});
