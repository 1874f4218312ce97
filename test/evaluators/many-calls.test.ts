/** Rules whose work grows as the calls do take any run that is taken at all, and say no more about a long one than a reader can use. */
import { expect, test } from 'vitest';
import type { AgentTrace } from '../../src/model/agent-trace.ts';
import type { JsonObject } from '../../src/model/json.ts';
import type { Expectation } from '../../src/model/expectation.ts';
import { agentTrace, call, spanId } from '../builders/agent-trace.ts';
import { score } from './score.ts';

const total = 25_000;
const definition = {
  name: 'get',
  inputSchema: { type: 'object', required: ['u'], properties: { u: { type: 'integer' }, page: { type: 'integer', minimum: 0 } } },
};
/** Calls with their own arguments and results; the last one is a second call for the first thing. */
const toolCalls = Array.from({ length: total }, (_, at) =>
  call({
    name: 'get',
    arguments: { u: at === total - 1 ? 0 : at, page: 1 },
    result: at % 2 === 0 ? 'even' : 'odd',
    spanId: spanId(at + 1),
  }),
);
const modelCalls = Array.from({ length: total }, () => ({ model: 'm', inputTokens: 10, outputTokens: 1 }));
const trace = agentTrace({
  input: 'look at 1, 2 and 3',
  toolCalls,
  modelCalls,
  tokens: { input: 10 * total, output: total },
  toolDefinitions: [definition],
  finalResponse: 'done',
});

interface Row {
  readonly use: string;
  readonly options?: JsonObject;
  readonly expected?: Expectation;
  readonly of?: AgentTrace;
  readonly want: object;
}

const rows: readonly Row[] = [
  {
    use: 'tool_efficiency',
    want: {
      score: 1 - 1 / total,
      explanation: `1 of ${total} tool calls repeats earlier ones: get (call ${total}) repeats call 1 with another result.`,
      details: { redundant_calls: ['get'], parts_left_out: { failed: 0, passed: total - 1_000 } },
    },
  },
  {
    use: 'tool_efficiency',
    options: { arguments: { mode: 'ignore' } },
    want: {
      details: { redundant_calls_left_out: total - 1_001, repeats_left_out: total - 1_001, consecutive_duplicates_left_out: total - 1_001 },
    },
  },
  { use: 'tool_call_validity', want: { score: 1, details: { total_calls: total } } },
  {
    use: 'tool_called',
    options: { name: 'get', times: total },
    want: { score: 1, details: { count: total, calls_left_out: total - 1_000 } },
  },
  {
    use: 'tool_called',
    options: { name: 'get', arguments: { u: 5, page: 1 }, times: 1 },
    want: { score: 1, details: { count: 1, calls_with_other_arguments_left_out: total - 1_001 } },
  },
  {
    use: 'tool_call_count',
    expected: {
      toolCallsCount: [
        { name: 'get', least: total, most: total },
        { name: 'put', least: 1 },
      ],
    },
    want: { score: 0.5 },
  },
  {
    use: 'tool_call_order',
    expected: { toolCallsOrder: ['get', 'get', 'put'] },
    want: { score: 2 / 3, details: { extra_calls_left_out: total - 1_002 } },
  },
  {
    use: 'tool_trajectory',
    options: { mode: 'recall' },
    expected: { toolCalls: [{ name: 'get', arguments: { u: total - 2, page: 1 } }] },
    want: { score: 1, details: { extra_calls_left_out: total - 1_001 } },
  },
  { use: 'tool_correctness', expected: { toolCalls: [{ name: 'get' }, { name: 'put' }] }, want: { score: 2 / 3 } },
  { use: 'tool_call_args', expected: { toolCalls: [{ name: 'get', arguments: { u: 7, page: 1 } }] }, want: { score: 1 } },
  { use: 'tool_call_output', expected: { toolOutputs: [{ name: 'get', output: 'odd' }] }, want: { score: 1 } },
  {
    use: 'expected_tools',
    expected: { toolCalls: [{ name: 'get' }, { name: 'put' }] },
    want: { score: 0.5, details: { extra_calls_left_out: total - 1_001 } },
  },
  {
    use: 'argument_provenance',
    of: { ...trace, toolCalls: toolCalls.map((one, at) => ({ ...one, arguments: { u: at % 100 } })) },
    want: { details: { total, grounded: 750, parts_left_out: { failed: total - 1_750, passed: 750 } } },
  },
  { use: 'loop_detection', want: { score: 1 } },
  { use: 'step_count', options: { max: 10 }, want: { score: 10 / total } },
  { use: 'token_usage', options: { total_budget: 11 * total }, want: { score: 1 } },
  {
    use: 'cost',
    options: { prices: { m: { input_per_million: 1, output_per_million: 1 } }, budget: 1 },
    want: { score: 1, details: { cost: 0.275 } },
  },
  { use: 'final_response_present', want: { score: 1 } },
  {
    use: 'output_contains',
    options: { text: 'even', on: { tool: 'get' } },
    want: { score: 0.5, details: { total, parts_left_out: { failed: total / 2 - 1_000, passed: total / 2 } } },
  },
];

for (const { use, options = {}, expected = {}, of = trace, want } of rows) {
  test(`${use}: takes a run of ${total} calls ${JSON.stringify(options)}`, () => {
    const verdict = score({ entry: { use, options }, trace: of, expected });
    expect(verdict).toMatchObject({ kind: 'scored', ...want });
    if (verdict.kind !== 'scored') return;
    expect(verdict.parts.length).toBeLessThanOrEqual(1_000);
    expect(verdict.evidence.length).toBeLessThanOrEqual(1_000);
    expect(JSON.stringify(verdict.details).length).toBeLessThan(500_000);
  });
}

const pairs = Array.from({ length: 41 }, (_, at) => `t${at}`);
for (const { use, options = {}, expected = {} } of [
  { use: 'tool_call_order', expected: { toolCallsOrder: pairs } },
  { use: 'tool_trajectory', expected: { toolCalls: pairs.map((name) => ({ name })) } },
  { use: 'tool_call_output', expected: { toolOutputs: pairs.map((name) => ({ name, output: 1 })) } },
  { use: 'tool_efficiency', options: { arguments: { mode: 'subset' } } },
] satisfies readonly Omit<Row, 'want'>[]) {
  test(`${use}: skips a run that asks for too many comparisons, and states that nothing was compared ${JSON.stringify(options)}`, () => {
    const verdict = score({ entry: { use, options }, trace, expected });
    expect(verdict).toMatchObject({
      kind: 'skipped',
      reason: 'too_large',
      explanation: expect.stringMatching(/none (of them )?was looked at/) as unknown,
    });
  });
}

test('argument_provenance: skips a run that holds too much to search, and gives the number of calls', () => {
  const verdict = score({ entry: { use: 'argument_provenance' }, trace: { ...trace, input: 'x '.repeat(50_000) } });
  expect(verdict).toMatchObject({
    kind: 'skipped',
    reason: 'too_large',
    explanation: expect.stringContaining(`none of ${total} tool calls was looked at`) as unknown,
  });
});
