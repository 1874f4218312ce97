import { expect, test } from 'vitest';
import { attemptOf, sharesOf, type Attempt } from '../../../src/pipeline/reporting/evaluability.ts';
import { agentTrace } from '../../builders/agent-trace.ts';

const run = { trace: agentTrace({ agent: 'a' }), dialects: ['gen_ai', 'google_adk'] };
const attempts: readonly {
  readonly name: string;
  readonly ended: Parameters<typeof attemptOf>[1];
  readonly want: Partial<Attempt> | undefined;
}[] = [
  {
    name: 'a score',
    ended: { name: 'e', decision: 'scored' },
    want: { agent: 'a', dialect: 'google_adk', name: 'e', outcome: 'scored', reason: '', need: '' },
  },
  {
    name: 'missing content',
    ended: { name: 'e', decision: 'skipped', reason: 'arguments_not_carried' },
    want: { outcome: 'skipped', reason: 'arguments_not_carried', need: 'tool_arguments' },
  },
  {
    name: 'nothing to look at',
    ended: { name: 'e', decision: 'skipped', reason: 'no_tool_calls' },
    want: { outcome: 'skipped', reason: 'no_tool_calls', need: '' },
  },
  {
    name: 'a failure, whose text is not a label',
    ended: { name: 'e', decision: 'failed', reason: 'judge_timed_out: after 30 s' },
    want: { outcome: 'failed', reason: '', need: '' },
  },
  {
    name: 'a reason that names a member of every object',
    ended: { name: 'e', decision: 'skipped', reason: 'constructor' },
    want: { outcome: 'skipped', reason: 'constructor', need: '' },
  },
  { name: 'a run that was not sampled', ended: { name: 'e', decision: 'sampled_out' }, want: undefined },
  { name: 'a run that a condition leaves out', ended: { name: 'e', decision: 'filtered', reason: 'when' }, want: undefined },
];
for (const { name, ended, want } of attempts) {
  test(`evaluability: how ${name} counts`, () => {
    if (want === undefined) expect(attemptOf(run, ended)).toBeUndefined();
    else expect(attemptOf(run, ended)).toMatchObject(want);
  });
}

test('evaluability: shares are listed by agent, dialect and evaluator, the reasons with the most runs first', () => {
  const base = { agent: 'a', dialect: 'd', name: 'e', reason: '', need: '' } as const;
  const less = { ...base, outcome: 'skipped', reason: 'no_tool_calls' } as const;
  const lacking = { ...base, outcome: 'skipped', reason: 'no_input', need: 'input' } as const;
  expect(
    sharesOf([
      { ...base, outcome: 'scored' },
      less,
      lacking,
      lacking,
      { ...base, outcome: 'failed' },
      { ...base, agent: 'b', outcome: 'scored' },
    ]),
  ).toEqual([
    {
      agent: 'a',
      dialect: 'd',
      name: 'e',
      looked: 5,
      scored: 1,
      failed: 1,
      skipped: [
        { reason: 'no_input', need: 'input', runs: 2 },
        { reason: 'no_tool_calls', need: '', runs: 1 },
      ],
    },
    { agent: 'b', dialect: 'd', name: 'e', looked: 1, scored: 1, failed: 0, skipped: [] },
  ]);
});
