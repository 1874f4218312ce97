import { expect, test } from 'vitest';
import type { AgentTrace } from '../../src/model/agent-trace.ts';
import type { JsonObject } from '../../src/model/json.ts';
import { agentTrace, spanId } from '../builders/agent-trace.ts';
import { score } from './score.ts';

const modelCalls = [
  { inputTokens: 700, outputTokens: 10, spanId: spanId(1) },
  { inputTokens: 300, outputTokens: 90, spanId: spanId(2) },
];
const run = { tokens: { input: 1_000, output: 100 }, modelCalls };
const rows: readonly { readonly name: string; readonly trace: Partial<AgentTrace>; readonly options: JsonObject; readonly want: object }[] =
  [
    {
      name: 'at the budget it is 1',
      trace: run,
      options: { total_budget: 1_100 },
      want: {
        score: 1,
        passed: true,
        explanation: 'The run took 1000 input, 100 output, 1100 total tokens, within its budget.',
        evidence: [],
      },
    },
    {
      name: 'the least share counts, and the largest call of that kind is evidence',
      trace: run,
      options: { input_budget: 2_000, output_budget: 80 },
      want: {
        score: 0.8,
        passed: false,
        explanation: 'The run took more tokens than its budget: 100 of 80 output tokens.',
        evidence: [spanId(2)],
        details: { output_tokens: 100, output_budget: 80 },
      },
    },
    {
      name: 'the largest call by input is evidence',
      trace: run,
      options: { input_budget: 500 },
      want: { score: 0.5, evidence: [spanId(1)] },
    },
    {
      name: 'what has no number cannot be over its budget',
      trace: { tokens: { input: 5 } },
      options: { input_budget: 10, output_budget: 1 },
      want: { score: 1 },
    },
    {
      name: 'numbers of what has a budget must be carried',
      trace: { tokens: { input: 5 } },
      options: { total_budget: 1 },
      want: { kind: 'skipped', reason: 'no_tokens', details: { input_tokens: 5 } },
    },
    {
      name: 'within the budget as far as is known is not within it',
      trace: { tokens: { input: 5, output: 5 }, modelCalls: [{ inputTokens: 5, outputTokens: 5 }, {}, {}] },
      options: { total_budget: 20 },
      want: {
        kind: 'skipped',
        reason: 'no_tokens',
        explanation: '2 of 3 model calls lack a number of tokens that has a budget. The others took 5 input, 5 output, 10 total tokens.',
        details: { calls_without_tokens: 2 },
      },
    },
    {
      name: 'beyond the budget by what is known is beyond it',
      trace: { tokens: { input: 5, output: 5 }, modelCalls: [{ inputTokens: 5, outputTokens: 5 }, {}] },
      options: { total_budget: 5 },
      want: {
        score: 0.5,
        explanation: 'The run took more tokens than its budget: at least 10 of 5 total tokens.',
        details: { calls_without_tokens: 1 },
      },
    },
    {
      name: 'a number without a budget may be missing',
      trace: { tokens: { input: 5 }, modelCalls: [{ inputTokens: 5 }] },
      options: { input_budget: 5 },
      want: { score: 1, details: { input_tokens: 5 } },
    },
    {
      name: 'a request that failed took no tokens',
      trace: { tokens: { input: 5, output: 5 }, modelCalls: [{ inputTokens: 5, outputTokens: 5 }, { failed: true }] },
      options: { total_budget: 10 },
      want: { score: 1 },
    },
    { name: 'without numbers it is skipped', trace: {}, options: { total_budget: 1 }, want: { kind: 'skipped', reason: 'no_tokens' } },
    {
      name: 'without a budget it is skipped and reports the tokens',
      trace: run,
      options: {},
      want: { kind: 'skipped', reason: 'no_expectation', details: { total_tokens: 1_100 } },
    },
  ];
for (const { name, trace, options, want } of rows) {
  test(`token_usage: ${name}`, () => {
    expect(score({ entry: { use: 'token_usage', options }, trace: agentTrace(trace) })).toMatchObject(want);
  });
}
