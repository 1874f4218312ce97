import { expect, test } from 'vitest';
import { notScored, type RunDecision } from '../../../../src/console/parts/run/not-scored.ts';

function decision(name: string, of: string, reason: string | null = null, more: Partial<RunDecision> = {}): RunDecision {
  return { name, evaluator: name, decision: of, reason, missing: null, ...more };
}

test('scored evaluators are left out, and those with something to do come first', () => {
  const found = notScored(
    [decision('a', 'scored'), decision('b', 'skipped', 'no_tool_calls'), decision('c', 'sampled_out')],
    new Map([['b', 'The agent called no tool.']]),
  );
  expect(found.map(({ name, word }) => [name, word])).toEqual([
    ['c', 'sampled out'],
    ['b', 'skipped'],
  ]);
});

test('a skip names the missing data, where it would stand and the switch', () => {
  const missing = { name: 'tool definitions', todo: 'Switch on X.', places: ['gen_ai.tool.definitions'] };
  expect(
    notScored([decision('v', 'skipped', 'no_tool_definitions', { missing })], new Map([['v', 'The spans carry no tool definitions.']])),
  ).toEqual([
    {
      name: 'v',
      evaluator: 'v',
      word: 'skipped',
      reason: 'The spans carry no tool definitions.',
      todo: 'Switch on X.',
      places: ['gen_ai.tool.definitions'],
    },
  ]);
});

const decisions = ['skipped', 'filtered', 'sampled_out', 'over_budget', 'overload', 'failed', 'a_new_one'];
for (const of of decisions)
  for (const reason of [null, 'no_input', 'queue_full', 'constructor'])
    test(`${of} with the reason ${reason} has words`, () => {
      const [only] = notScored([decision('v', of, reason)], new Map());
      expect(only?.word).not.toBe('');
      expect(only?.reason).toMatch(/\S.*\.$|^no_input$|^queue_full$|^constructor$/);
    });
