import { expect, test } from 'vitest';
import { configuredEvaluator } from '../../evaluators/configuration/configured.ts';
import { evaluators } from '../../evaluators/index.ts';
import { agentTrace, call, spanId } from '../builders/agent-trace.ts';
import { score } from './score.ts';

const trace = agentTrace({ toolCalls: [1, 2, 3, 4].map((at) => call({ name: `t${at}`, spanId: spanId(at) })), modelCalls: [{}, {}] });

const rows = [
  {
    name: 'a run within its budget scores 1',
    trace,
    options: { max: 4 },
    want: { score: 1, passed: true, evidence: [], explanation: 'The run took 4 steps of at most 4.' },
  },
  {
    name: 'a longer run scores the budget over its steps',
    trace,
    options: { max: 3 },
    want: {
      score: 0.75,
      passed: false,
      evidence: [spanId(4)],
      explanation: 'The run took 4 steps, 1 more than the 3 of its budget; t4 (call 4) is the first beyond it.',
    },
  },
  {
    name: 'requests to models may count as well',
    trace,
    options: { max: 3, steps: 'tool_and_model_calls' },
    want: { score: 0.5, details: { steps: 6, tool_calls: 4, model_calls: 2 } },
  },
  { name: 'a run without a step is within any budget', trace: agentTrace(), options: { max: 1 }, want: { score: 1 } },
  {
    name: 'a call that never ran is not a step',
    trace: agentTrace({ toolCalls: [call(), call({ executed: false })] }),
    options: { max: 1 },
    want: { score: 1 },
  },
];
for (const { name, trace: run, options, want } of rows) {
  test(`step_count: ${name}`, () => {
    expect(score({ entry: { use: 'step_count', options }, trace: run })).toMatchObject({ kind: 'scored', ...want });
  });
}

test('step_count: spans without tool data are skipped, and a budget is required', () => {
  expect(score({ entry: { use: 'step_count', options: { max: 1 } }, trace: agentTrace({ toolCallsCarried: false }) })).toMatchObject({
    kind: 'skipped',
    reason: 'tool_calls_not_carried',
  });
  expect(configuredEvaluator({ use: 'step_count' }, evaluators)).toMatchObject({ kind: 'faulty', faults: [{ path: ['options', 'max'] }] });
});
