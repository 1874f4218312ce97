/** Where pairs wait for judges, and how many questions they stand for. */
import { expect, test } from 'vitest';
import { configuredEvaluator } from '../../evaluators/configuration/configured.ts';
import { evaluators } from '../../evaluators/index.ts';
import type { PlannedEvaluator } from '../../src/pipeline/evaluation/evaluate.ts';
import { judgeOfQueueKey, judgesOfQueueKey, queueKeyOf, questionsOf, type Payer } from '../../src/service/queue-keys.ts';

function planned(name: string, asked: Partial<PlannedEvaluator>): PlannedEvaluator {
  const result = configuredEvaluator({ use: 'task_completion', name, judge: 'main', expect: { tasks: ['find it'] } }, evaluators);
  if (result.kind === 'faulty') throw new Error('no evaluator');
  return { configured: result.evaluator, sampleRate: 1, ...asked };
}

const budget = { usdPerDay: 1 };
const plan = [
  planned('plain', { judge: 'main' }),
  planned('thrifty', { judge: 'main', budget }),
  planned('thrice', { panel: { judges: ['main'], votes: 3 } }),
  planned('careful', { panel: { judges: ['main'], votes: 2 }, budget }),
  planned('several', { panel: { judges: ['main', 'other'], votes: 2 }, budget }),
];

test('judge parties: an evaluator with a budget waits in a line of its own, and so does one with several judges', () => {
  expect(plan.map(queueKeyOf)).toEqual(['main', 'main thrifty', 'main', 'main careful', 'jury:several']);
  expect(plan.slice(0, 4).map((one) => judgeOfQueueKey(queueKeyOf(one)))).toEqual(['main', 'main', 'main', 'main']);
});

test('judge parties: in a line of votes all that may be asked count, in another one its judge', () => {
  const passing = planned('passing', { panel: { judges: ['main', 'other'], votes: 1, escalate: { to: 'dear', onDisagreement: true } } });
  expect(
    ['main', 'main thrifty', 'jury:several', 'jury:passing', 'jury:gone'].map((party) => judgesOfQueueKey(party, [...plan, passing])),
  ).toEqual([['main'], ['main'], ['main', 'other'], ['main', 'other', 'dear'], ['jury:gone']]);
});

const lines: readonly { readonly party: string; readonly payer: Payer; readonly want: number }[] = [
  { party: 'main', payer: { of: 'judge', name: 'main' }, want: 3 },
  { party: 'main', payer: { of: 'judge', name: 'other' }, want: 0 },
  { party: 'main thrifty', payer: { of: 'judge', name: 'main' }, want: 1 },
  { party: 'main thrifty', payer: { of: 'evaluator', name: 'thrifty' }, want: 1 },
  { party: 'main thrifty', payer: { of: 'evaluator', name: 'main' }, want: 0 },
  { party: 'main careful', payer: { of: 'evaluator', name: 'careful' }, want: 2 },
  { party: 'jury:several', payer: { of: 'judge', name: 'other' }, want: 2 },
  { party: 'jury:several', payer: { of: 'evaluator', name: 'several' }, want: 4 },
  { party: 'jury:gone', payer: { of: 'judge', name: 'main' }, want: 0 },
];
for (const { party, payer, want } of lines)
  test(`judge parties: a pair of ${party} is ${want} questions at the cost of ${payer.of} ${payer.name}`, () =>
    expect(questionsOf(party, payer, plan)).toBe(want));
