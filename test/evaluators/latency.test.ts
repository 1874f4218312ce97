import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import type { AgentTrace } from '../../src/model/agent-trace.ts';
import { agentTrace, call, spanId } from '../builders/agent-trace.ts';
import { score } from './score.ts';

const second = 1_000_000_000n;
const run = { startUnixNano: 1_700_000_000n * second, endUnixNano: 1_700_000_000n * second + 3n * second };
const timed = (seconds: bigint, at: number) => call({ name: 'get', startUnixNano: 0n, endUnixNano: seconds * second, spanId: spanId(at) });
const calls = { toolCalls: [timed(1n, 1), timed(4n, 2), call({ name: 'untimed' })] };

const rows: readonly { readonly name: string; readonly trace: Partial<AgentTrace>; readonly options: JsonObject; readonly want: object }[] =
  [
    {
      name: 'within the budget it is 1',
      trace: run,
      options: { budget_seconds: 3 },
      want: {
        score: 1,
        passed: true,
        explanation: 'The run took 3 s, within the budget of 3 s.',
        details: { seconds: 3, budget_seconds: 3 },
      },
    },
    {
      name: 'beyond the budget it is the share',
      trace: run,
      options: { budget_seconds: 2.4 },
      want: { score: 0.8, passed: false, explanation: 'The run took 3 s, more than the budget of 2.4 s.' },
    },
    {
      name: 'the slowest tool call is named and is evidence',
      trace: calls,
      options: { of: 'slowest_tool_call', budget_seconds: 2 },
      want: {
        score: 0.5,
        evidence: [spanId(2)],
        explanation: 'The slowest tool call, get (call 2), took 4 s, more than the budget of 2 s.',
      },
    },
    {
      name: 'within the budget no call is evidence',
      trace: calls,
      options: { of: 'slowest_tool_call', budget_seconds: 4 },
      want: { score: 1, evidence: [] },
    },
    {
      name: 'without a budget it is skipped and reports the time',
      trace: run,
      options: {},
      want: { kind: 'skipped', reason: 'no_expectation', details: { seconds: 3 } },
    },
    {
      name: 'a run without times is skipped',
      trace: { startUnixNano: 1n },
      options: { budget_seconds: 1 },
      want: { kind: 'skipped', reason: 'no_times' },
    },
    {
      name: 'a run that ends before it begins is skipped',
      trace: { startUnixNano: 2n, endUnixNano: 1n },
      options: { budget_seconds: 1 },
      want: { kind: 'skipped', reason: 'no_times' },
    },
    {
      name: 'calls without times are skipped',
      trace: { toolCalls: [call()] },
      options: { of: 'slowest_tool_call', budget_seconds: 1 },
      want: { kind: 'skipped', reason: 'no_times' },
    },
    {
      name: 'a run without calls is skipped',
      trace: {},
      options: { of: 'slowest_tool_call', budget_seconds: 1 },
      want: { kind: 'skipped', reason: 'no_tool_calls' },
    },
  ];
for (const { name, trace, options, want } of rows) {
  test(`latency: ${name}`, () => {
    expect(score({ entry: { use: 'latency', options }, trace: agentTrace(trace) })).toMatchObject(want);
  });
}

test('latency: a budget of nothing is refused', () => {
  expect(() => score({ entry: { use: 'latency', options: { budget_seconds: 0 } }, trace: agentTrace() })).toThrow(
    /^options\.budget_seconds/,
  );
});
