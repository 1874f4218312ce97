import { expect, test } from 'vitest';
import type { AgentTrace, ModelCall } from '../../../src/model/agent-trace.ts';
import { runFigures } from '../../../src/pipeline/reporting/run-figures.ts';
import { agentTrace } from '../../builders/agent-trace.ts';
import { run } from '../../builders/scored-run.ts';

const prices = { m: { inputPerMillion: 10, outputPerMillion: 100 } };
const figuresOf = runFigures({ prices, taskOf: () => undefined });
const calls = (...modelCalls: readonly ModelCall[]): Partial<AgentTrace> => ({ modelCalls });

const cases: readonly (readonly [name: string, trace: Partial<AgentTrace>, figures: object])[] = [
  ['nothing is known of an empty run', {}, {}],
  [
    'tokens and cost of its model calls',
    calls({ model: 'm', inputTokens: 100, outputTokens: 10 }, { model: 'm', inputTokens: 300, outputTokens: 0 }),
    { inputTokens: 400, outputTokens: 10, costUsd: 0.005 },
  ],
  [
    'a call without a price leaves the cost unknown',
    calls({ model: 'm', inputTokens: 1, outputTokens: 1 }, { model: 'other', inputTokens: 1, outputTokens: 1 }),
    { inputTokens: 2, outputTokens: 2 },
  ],
  [
    'a call without tokens leaves the cost unknown',
    calls({ model: 'm', inputTokens: 1, outputTokens: 1 }, { model: 'm' }),
    { inputTokens: 1, outputTokens: 1 },
  ],
  [
    'the cost on spans replaces a price',
    calls({ model: 'other', inputTokens: 1, outputTokens: 1, toldCost: 0.25 }),
    { inputTokens: 1, outputTokens: 1, costUsd: 0.25 },
  ],
  [
    'the sum on the agent’s span',
    { model: 'm', tokens: { input: 200, output: 10 } },
    { inputTokens: 200, outputTokens: 10, costUsd: 0.003 },
  ],
  [
    'parts of tokens that no store has a column for',
    calls({ model: 'x', inputTokens: 1.5, outputTokens: 0.2 }, { model: 'x', inputTokens: 1.25, outputTokens: 0.2 }),
    { inputTokens: 3, outputTokens: 0 },
  ],
  ['numbers that are none are unknown', calls({ model: 'x', inputTokens: -5, outputTokens: Infinity }), {}],
  ['numbers whose sum over runs would not be finite are unknown', calls({ model: 'x', inputTokens: 1e308, outputTokens: Number.NaN }), {}],
];
for (const [name, trace, figures] of cases) {
  test(`run figures: ${name}`, () => {
    const { models: _models, ...whole } = figuresOf(run({ trace: agentTrace(trace) }));
    expect(whole).toEqual(figures);
  });
}

test('run figures: each model has its own calls, tokens and cost; what is unknown is left out', () => {
  const trace = calls(
    { model: 'm', inputTokens: 100, outputTokens: 10 },
    { model: 'other', inputTokens: 1, outputTokens: 1 },
    { model: 'm', inputTokens: 300, outputTokens: 0 },
    { model: 'silent' },
  );
  expect(figuresOf(run({ trace: agentTrace(trace) })).models).toEqual([
    { model: 'm', calls: 2, errors: 0, inputTokens: 400, outputTokens: 10, costUsd: 0.005, took: [] },
    { model: 'other', calls: 1, errors: 0, inputTokens: 1, outputTokens: 1, took: [] },
    { model: 'silent', calls: 1, errors: 0, took: [] },
  ]);
});

test('run figures: one prompt has one hash, and no text of it is kept', () => {
  const hashOf = (systemPrompt: string): string | undefined => figuresOf(run({ trace: agentTrace({ systemPrompt }) })).prompt;
  expect(hashOf('Be kind.')).toBe(hashOf('Be kind.'));
  expect(hashOf('Be kind.')).not.toBe(hashOf('Be kind!'));
  expect(hashOf('Be kind.')).toMatch(/^[0-9a-f]{12}$/);
});

test('run figures: the task is that of the configuration', () => {
  expect(runFigures({ prices, taskOf: ({ spanId }) => `task of ${spanId}` })(run())).toEqual({ task: `task of ${run().spanId}` });
});
