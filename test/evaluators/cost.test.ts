import { expect, test } from 'vitest';
import type { AgentTrace } from '../../src/model/agent-trace.ts';
import type { JsonObject } from '../../src/model/json.ts';
import { agentTrace, spanId } from '../builders/agent-trace.ts';
import { score } from './score.ts';

const prices = { 'm-1': { input_per_million: 0.1, output_per_million: 0.7, cached_per_million: 0.05 }, 'big*': { input_per_million: 10, output_per_million: 30 }, 'big-fast*': { input_per_million: 1, output_per_million: 3 } };
const modelCall = (model: string, inputTokens: number, outputTokens: number, more: object = {}) => ({ model, inputTokens, outputTokens, ...more });
const rows: readonly { readonly name: string; readonly trace: Partial<AgentTrace>; readonly options?: JsonObject; readonly want: object }[] = [
  { name: 'decimals are exact: three tenths are within three tenths', trace: { modelCalls: [modelCall('m-1', 3_000_000, 0)] }, options: { budget: 0.3 }, want: { score: 1, passed: true, explanation: 'The model calls cost 0.3, within the budget of 0.3.', details: { cost: 0.3, by_model: { 'm-1': 0.3 } } } },
  { name: 'cached input has its own price and is a part of the input', trace: { modelCalls: [modelCall('m-1', 2_000_000, 0, { cachedInputTokens: 1_000_000 })] }, options: { budget: 0.15 }, want: { score: 1, details: { cost: 0.15 } } },
  { name: 'more cached tokens than input tokens count as all of them', trace: { modelCalls: [modelCall('m-1', 1_000_000, 0, { cachedInputTokens: 9_000_000 })] }, options: { budget: 0.05 }, want: { score: 1, details: { cost: 0.05 } } },
  { name: 'beyond the budget it is the share, and the dearest call is evidence', trace: { modelCalls: [modelCall('m-1', 0, 1_000_000), modelCall('big-x', 100_000, 0, { spanId: spanId(2) })] }, options: { budget: 0.85 }, want: { score: 0.5, passed: false, evidence: [spanId(2)], explanation: 'The model calls cost 1.7, more than the budget of 0.85; the dearest, of big-x, cost 1.' } },
  { name: 'the longest name that fits counts', trace: { modelCalls: [modelCall('big-fast-2', 1_000_000, 0)] }, options: { budget: 1 }, want: { score: 1, details: { cost: 1 } } },
  { name: 'a call without a model is of the model of the run', trace: { model: 'm-1', modelCalls: [{ inputTokens: 1_000_000 }] }, options: { budget: 0.1 }, want: { score: 1 } },
  { name: 'a model without a price is skipped, never free', trace: { modelCalls: [modelCall('constructor', 1, 1), modelCall('m-1', 1, 1)] }, options: { budget: 1 }, want: { kind: 'skipped', reason: 'no_price', explanation: 'No price is given for "constructor".' } },
  { name: 'without numbers of tokens it is skipped', trace: { modelCalls: [{ model: 'm-1' }] }, options: { budget: 1 }, want: { kind: 'skipped', reason: 'no_tokens' } },
  { name: 'without a budget it is skipped and tells the cost', trace: { modelCalls: [modelCall('m-1', 1_000_000, 0)] }, want: { kind: 'skipped', reason: 'no_expectation', details: { cost: 0.1 } } },
];
for (const { name, trace, options = {}, want } of rows) {
  test(`cost: ${name}`, () => {
    expect(score({ entry: { use: 'cost', options: { prices, ...options } }, trace: agentTrace(trace) })).toMatchObject(want);
  });
}

for (const options of [{}, { prices: {} }, { prices: { m: { input_per_million: 1 } } }, { prices: { m: { input_per_million: -1, output_per_million: 1 } } }]) {
  test(`cost: ${JSON.stringify(options)} is refused`, () => {
    expect(() => score({ entry: { use: 'cost', options }, trace: agentTrace() })).toThrow(/^options\.prices/);
  });
}
