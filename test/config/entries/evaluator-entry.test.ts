import { expect, test } from 'vitest';
import { evaluators } from '../../../evaluators/index.ts';
import { expressionNames, raiseNames } from '../../../src/config/entries/evaluator-entry.ts';

const value = {
  evaluators: [
    'tool_error',
    { use: 'task_completion', name: 'goal', judge: 'main' },
    { use: 'toxicity', judges: ['main'], votes: 3 },
    { use: 'http', name: 'mine', options: { url: 'http://127.0.0.1:1/' } },
  ],
};

test('evaluator names: an expression about a scored run may name every entry, and ask judges for their confidence', () => {
  expect(expressionNames(value, evaluators)).toEqual({
    evaluators: ['tool_error', 'goal', 'toxicity', 'mine'],
    judged: ['goal', 'toxicity'],
  });
});

test('evaluator names: before the sample is drawn only rules are known', () => {
  expect(raiseNames(value, evaluators)).toMatchObject({
    evaluators: ['tool_error'],
    judged: [],
    late: { names: ['goal', 'toxicity', 'mine'] },
  });
});
