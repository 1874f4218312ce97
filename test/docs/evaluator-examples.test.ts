/** Each evaluator has one worked example, which ends in a score and uses every answer of its judge. */
import { expect, test } from 'vitest';
import { evaluators } from '../../evaluators/index.ts';
import { exampleIds, exampleOutcome } from './evaluator-examples.ts';

test('docs: each evaluator has an example, in the order of the catalogue', () => {
  expect(exampleIds).toEqual(evaluators.map(({ id }) => id));
});

test.each(evaluators.map((one) => [one.id, one] as const))('docs: the example of %s ends in a score', (_, one) => {
  const { verdict, requests, answers } = exampleOutcome(one);
  expect(verdict.kind).toBe('scored');
  expect(requests).toBe(answers);
});
