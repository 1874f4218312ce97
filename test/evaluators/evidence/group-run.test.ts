import { expect, test } from 'vitest';
import { convergence, groupRun, type GroupRunOptions } from '../../../evaluators/evidence/convergence.ts';
import type { AgentTrace } from '../../../src/model/agent-trace.ts';
import { agentTrace, call } from '../../builders/agent-trace.ts';

const rows: readonly {
  readonly name: string;
  readonly trace: Partial<AgentTrace>;
  readonly options?: GroupRunOptions;
  readonly want: object | undefined;
}[] = [
  {
    name: 'steps are the tool calls that ran',
    trace: { toolCalls: [call(), call({ executed: false }), call()] },
    want: { steps: 2, success: true },
  },
  {
    name: 'requests to models are steps where they are asked for',
    trace: { toolCalls: [call()], modelCalls: [{}, {}] },
    options: { steps: 'tool_and_model_calls' },
    want: { steps: 3, success: true },
  },
  {
    name: 'a run that ended in an error did not succeed',
    trace: { toolCalls: [call()], status: 'error' },
    want: { steps: 1, success: false },
  },
  {
    name: 'a call that failed is a step of a run that may succeed',
    trace: { toolCalls: [call({ error: { message: 'x', sign: 'is_error' } }), call()] },
    want: { steps: 2, success: true },
  },
  { name: 'a run without a call has no step', trace: {}, want: { steps: 0, success: true } },
  { name: 'spans that carry no calls say nothing', trace: { toolCallsCarried: false }, want: undefined },
];
for (const { name, trace, options, want } of rows)
  test(`group run: ${name}`, () => expect(groupRun(agentTrace(trace), options)).toEqual(want));

test('group run: runs go straight into convergence', () => {
  const runs = [2, 4].flatMap((steps) => groupRun(agentTrace({ toolCalls: Array.from({ length: steps }, () => call()) })) ?? []);
  expect(convergence(runs)).toMatchObject({ score: 0.75, details: { runs: 2 } });
});
