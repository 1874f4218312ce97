import { expect, test } from 'vitest';
import type { AgentTrace } from '../../src/model/agent-trace.ts';
import type { JsonObject } from '../../src/model/json.ts';
import { agentTrace, spanId } from '../builders/agent-trace.ts';
import { score } from './score.ts';

const prices = {
  'm-1': { input_per_million: 0.1, output_per_million: 0.7, cached_per_million: 0.05 },
  'big*': { input_per_million: 10, output_per_million: 30 },
  'big-fast*': { input_per_million: 1, output_per_million: 3 },
};
const modelCall = (model: string, inputTokens: number, outputTokens: number, more: object = {}) => ({
  model,
  inputTokens,
  outputTokens,
  ...more,
});
const rows: readonly {
  readonly name: string;
  readonly trace: Partial<AgentTrace>;
  readonly options?: JsonObject;
  readonly want: object;
}[] = [
  {
    name: 'decimals are exact: three tenths are within three tenths',
    trace: { modelCalls: [modelCall('m-1', 3_000_000, 0)] },
    options: { budget: 0.3 },
    want: {
      score: 1,
      passed: true,
      explanation: 'The model calls cost 0.3, within the budget of 0.3.',
      details: { cost: 0.3, by_model: { 'm-1': 0.3 } },
    },
  },
  {
    name: 'cached input has its own price and is a part of the input',
    trace: { modelCalls: [modelCall('m-1', 2_000_000, 0, { cachedInputTokens: 1_000_000 })] },
    options: { budget: 0.15 },
    want: { score: 1, details: { cost: 0.15 } },
  },
  {
    name: 'more cached tokens than input tokens were reported',
    trace: { modelCalls: [modelCall('m-1', 1_000_000, 0, { cachedInputTokens: 2_000_000 })] },
    options: { budget: 0.2 },
    want: { score: 1, details: { cost: 0.2 } },
  },
  {
    name: 'cached input without a separate price costs as other input',
    trace: { modelCalls: [modelCall('big', 100_000, 0, { cachedInputTokens: 60_000 })] },
    options: { budget: 1 },
    want: { score: 1, details: { cost: 1 } },
  },
  {
    name: 'tokens of reasoning are among those of the output',
    trace: { modelCalls: [modelCall('m-1', 0, 1_000_000, { reasoningTokens: 900_000 })] },
    options: { budget: 0.7 },
    want: { score: 1, details: { cost: 0.7 } },
  },
  {
    name: 'beyond the budget it is the share, and the dearest call is evidence',
    trace: { modelCalls: [modelCall('m-1', 0, 1_000_000), modelCall('big-x', 100_000, 0, { spanId: spanId(2) })] },
    options: { budget: 0.85 },
    want: {
      score: 0.5,
      passed: false,
      evidence: [spanId(2)],
      explanation: 'The model calls cost 1.7, more than the budget of 0.85; the dearest, of big-x, cost 1.',
    },
  },
  {
    name: 'the longest name that fits counts',
    trace: { modelCalls: [modelCall('big-fast-2', 1_000_000, 0)] },
    options: { budget: 1 },
    want: { score: 1, details: { cost: 1 } },
  },
  {
    name: 'a call without a model is of the model of the run',
    trace: { model: 'm-1', modelCalls: [{ inputTokens: 1_000_000, outputTokens: 0 }] },
    options: { budget: 0.1 },
    want: { score: 1 },
  },
  {
    name: 'the name of an endpoint has the price of its model',
    trace: { modelCalls: [modelCall('openai/m-1-2025-08-07', 1_000_000, 0), modelCall('us.maker.big-fast-v1:0', 1_000_000, 0)] },
    options: { budget: 1.1 },
    want: { score: 1, details: { cost: 1.1, by_model: { 'openai/m-1-2025-08-07': 0.1, 'us.maker.big-fast-v1:0': 1 } } },
  },
  {
    name: 'a name that is given wins over a shorter one and over a beginning',
    trace: { modelCalls: [modelCall('x/m-1', 1_000_000, 0), modelCall('big-1', 1_000_000, 0)] },
    options: {
      prices: {
        ...prices,
        'x/m-1': { input_per_million: 5, output_per_million: 5 },
        'big-1': { input_per_million: 7, output_per_million: 7 },
      },
      budget: 12,
    },
    want: { score: 1, details: { cost: 12 } },
  },
  {
    name: 'a model that is said less about than its price has none',
    trace: { modelCalls: [modelCall('m', 1, 1)] },
    options: { budget: 1 },
    want: { kind: 'skipped', reason: 'no_price', explanation: 'No price is given for "m".', details: { model_calls: 1, models: ['m'] } },
  },
  {
    name: 'a model without a price is skipped, never free, and the rest is reported as a part',
    trace: { modelCalls: [modelCall('constructor', 1, 1), modelCall('m-1', 1_000_000, 0)] },
    options: { budget: 1 },
    want: {
      kind: 'skipped',
      reason: 'no_price',
      explanation: 'No price is given for "constructor". The other call cost 0.1.',
      details: { model_calls: 2, models: ['constructor'], known_cost: 0.1, known_calls: 1 },
    },
  },
  {
    name: 'one call that lacks a number of tokens is reported in the singular',
    trace: { modelCalls: [{ model: 'm-1' }, modelCall('m-1', 1_000_000, 0)] },
    options: { budget: 1 },
    want: { kind: 'skipped', reason: 'no_tokens', explanation: '1 of 2 model calls lacks a number of tokens. The other call cost 0.1.' },
  },
  {
    name: 'a call that lacks a number of tokens leaves the cost unknown',
    trace: {
      modelCalls: [{ model: 'm-1', inputTokens: 5 }, { model: 'm-1' }, modelCall('m-1', 1_000_000, 0), modelCall('m-1', 1_000_000, 0)],
    },
    options: { budget: 1 },
    want: {
      kind: 'skipped',
      reason: 'no_tokens',
      explanation: '2 of 4 model calls lack a number of tokens. The other 2 calls cost 0.2.',
      details: { model_calls: 4, calls_without_tokens: 2, known_cost: 0.2, known_calls: 2 },
    },
  },
  {
    name: 'tokens of free calls may be unknown',
    trace: { modelCalls: [{ model: 'embed', inputTokens: 1_000_000 }] },
    options: { prices: { embed: { input_per_million: 0.02, output_per_million: 0 } }, budget: 0.02 },
    want: { score: 1, details: { cost: 0.02 } },
  },
  {
    name: 'a request that failed without tokens was not charged',
    trace: { modelCalls: [{ model: 'm-1', failed: true }, modelCall('m-1', 1_000_000, 0, { failed: true })] },
    options: { budget: 0.1 },
    want: { score: 1, details: { cost: 0.1 } },
  },
  {
    name: 'tokens of the run are taken where no call is known',
    trace: { model: 'm-1', tokens: { input: 1_000_000, output: 1_000_000 } },
    options: { budget: 0.8 },
    want: { score: 1, details: { cost: 0.8 } },
  },
  {
    name: 'tokens of the run are not added to those of its calls',
    trace: { tokens: { input: 9, output: 9 }, modelCalls: [modelCall('m-1', 1_000_000, 0)] },
    options: { budget: 0.1 },
    want: { score: 1, details: { cost: 0.1 } },
  },
  {
    name: 'the cost in the spans is next to the computed one',
    trace: {
      modelCalls: [modelCall('m-1', 1_000_000, 0, { toldCost: 0.1 }), modelCall('m-1', 0, 0, { toldCost: 0.2 }), modelCall('m-1', 0, 0)],
    },
    options: { budget: 0.1 },
    want: { score: 1, details: { cost: 0.1, told_cost: 0.3, calls_with_told_cost: 2 } },
  },
  {
    name: 'the cost in the spans is not a price',
    trace: { modelCalls: [modelCall('m-2', 1, 1, { toldCost: 0.1 })] },
    options: { budget: 1 },
    want: { kind: 'skipped', reason: 'no_price', details: { told_cost: 0.1 } },
  },
  {
    name: 'without numbers of tokens it is skipped',
    trace: { modelCalls: [{ model: 'm-1' }] },
    options: { budget: 1 },
    want: { kind: 'skipped', reason: 'no_tokens' },
  },
  {
    name: 'without a budget it is skipped and reports the cost',
    trace: { modelCalls: [modelCall('m-1', 1_000_000, 0)] },
    want: { kind: 'skipped', reason: 'no_expectation', details: { cost: 0.1 } },
  },
];
for (const { name, trace, options = {}, want } of rows) {
  test(`cost: ${name}`, () => {
    expect(score({ entry: { use: 'cost', options: { prices, ...options } }, trace: agentTrace(trace) })).toMatchObject(want);
  });
}

for (const options of [{ prices: { m: { input_per_million: 1 } } }, { prices: { m: { input_per_million: -1, output_per_million: 1 } } }]) {
  test(`cost: ${JSON.stringify(options)} is refused`, () => {
    expect(() => score({ entry: { use: 'cost', options }, trace: agentTrace() })).toThrow(/^options\.prices/);
  });
}
