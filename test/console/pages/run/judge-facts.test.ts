import { expect, test } from 'vitest';
import { judgeFacts } from '../../../../src/console/pages/run/judge-facts.ts';

test('a judge has its model, its tokens and its words', () => {
  expect(
    judgeFacts({ judge_called: true, model: 'm-1', judge_tokens: { input: 10, output: 2 }, explanation: 'All tasks are done.', cached: 1 }),
  ).toEqual({
    model: 'm-1',
    inputTokens: 10,
    outputTokens: 2,
    costUsd: undefined,
    confidence: undefined,
    cached: true,
    answer: 'All tasks are done.',
    ballots: [],
    decidedBy: undefined,
  });
});

test('a single judge has its cost, where the price of its model is known', () => {
  expect(judgeFacts({ judge_requests: 1, judge_tokens: { input: 10, output: 2 }, judge_cost_usd: 0.000014 })).toMatchObject({
    costUsd: 0.000014,
  });
});

test('a jury has its votes and its cost', () => {
  const jury = {
    decided_by: 'majority',
    ballots: [
      { judge: 'main', vote: 2, status: 'scored', label: 'yes', explanation: 'Fine.' },
      { judge: 'other', status: 'not_asked', reason: 'queue_full' },
    ],
    input_tokens: 20,
    output_tokens: 4,
    cost_usd: 0.002,
  };
  expect(judgeFacts({ confidence: 0.5, jury })).toMatchObject({
    inputTokens: 20,
    costUsd: 0.002,
    confidence: 0.5,
    decidedBy: 'majority',
    ballots: [
      { judge: 'main (vote 2)', outcome: 'yes', explanation: 'Fine.' },
      { judge: 'other', outcome: 'queue_full', explanation: '' },
    ],
  });
});

for (const details of [undefined, {}, { model: 'of the run' }, [], 'text'])
  test(`no judge was asked: ${JSON.stringify(details)}`, () => expect(judgeFacts(details)).toBeUndefined());
