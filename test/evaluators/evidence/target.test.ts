import { expect, test } from 'vitest';
import { valueCharsMax } from '../../../evaluators/evidence/target.ts';
import type { AgentTrace } from '../../../src/model/agent-trace.ts';
import type { JsonValue } from '../../../src/model/json.ts';
import { agentTrace, call, spanId } from '../../builders/agent-trace.ts';
import { score } from '../score.ts';

const entry = (on: JsonValue) => ({ use: 'output_contains', options: { text: 'ok', on } });
const searches = [
  call({ name: 'search', result: 'ok then', spanId: spanId(1) }),
  call({ name: 'other', result: 'no' }),
  call({ name: 'search', result: { status: 'bad' }, spanId: spanId(2) }),
  call({ name: 'search', result: 'OK', spanId: spanId(3) }),
];

test('target: each output of a tool is scored, the mean is exact, and each call has its part', () => {
  expect(
    score({ entry: { ...entry({ tool: 'search' }), threshold: 0.6666666666666666 }, trace: agentTrace({ toolCalls: searches }) }),
  ).toMatchObject({
    kind: 'scored',
    score: 2 / 3,
    passed: true,
    explanation: '1 of 3 outputs of search falls short: search (call 3) lacks "ok".',
    evidence: [spanId(2)],
    parts: [
      { index: 0, tool: 'search', score: 1, passed: true, explanation: 'search (call 1) contains "ok".' },
      { index: 2, score: 0, passed: false, spanId: spanId(2) },
      { index: 3, score: 1 },
    ],
    details: { total: 3, full: 2, each: [{ index: 0, score: 1 }, { index: 2, span_id: spanId(2), score: 0 }, { index: 3 }] },
  });
});

const subAgents = [
  { spanId: spanId(9), agent: 'writer', via: 'tool', viaTool: 'ask_writer' },
  { spanId: spanId(8), agent: 'helper', via: 'handoff' },
] as const;
const rows: readonly { readonly name: string; readonly on: JsonValue; readonly trace: Partial<AgentTrace>; readonly want: object }[] = [
  {
    name: 'the final response is looked at by default',
    on: 'final_response',
    trace: { finalResponse: 'all ok', input: 'no' },
    want: { kind: 'scored', score: 1, explanation: 'The final response contains "ok".', parts: [] },
  },
  {
    name: 'the input can be looked at',
    on: 'input',
    trace: { input: 'ok?' },
    want: { kind: 'scored', score: 1, explanation: 'The input contains "ok".' },
  },
  {
    name: 'a run without a final response is skipped',
    on: 'final_response',
    trace: {},
    want: { kind: 'skipped', reason: 'no_final_response' },
  },
  { name: 'a run without an input is skipped', on: 'input', trace: {}, want: { kind: 'skipped', reason: 'no_input' } },
  {
    name: 'a tool that did not run is not a target',
    on: { tool: 'x' },
    trace: { toolCalls: [call({ name: 'x', executed: false }), call({ name: 'y' })] },
    want: { kind: 'skipped', reason: 'no_such_target' },
  },
  {
    name: 'spans without tool data say so',
    on: { tool: 'x' },
    trace: { toolCallsCarried: false },
    want: { kind: 'skipped', reason: 'tool_calls_not_carried' },
  },
  {
    name: 'results must be carried',
    on: { tool: 'x' },
    trace: { toolCalls: [call({ name: 'x', result: undefined })] },
    want: { kind: 'skipped', reason: 'results_not_carried' },
  },
  {
    name: 'a call that failed gave nothing',
    on: { tool: 'x' },
    trace: { toolCalls: [call({ name: 'x', result: undefined, error: { message: 'm', sign: 'is_error' } })] },
    want: { kind: 'scored', score: 0 },
  },
  {
    name: 'each retrieved document is looked at',
    on: { retriever: true },
    trace: { documents: [{ content: 'ok', spanId: spanId(1) }, { content: 'no', spanId: spanId(2) }, { id: 'not carried' }] },
    want: { kind: 'scored', score: 0.5, evidence: [spanId(2)], parts: [] },
  },
  { name: 'without retrieval there is no target', on: { retriever: true }, trace: {}, want: { kind: 'skipped', reason: 'no_such_target' } },
  {
    name: 'contents of documents must be carried',
    on: { retriever: true },
    trace: { documents: [{ id: '1' }] },
    want: { kind: 'skipped', reason: 'results_not_carried' },
  },
  {
    name: 'a sub-agent that was called as a tool gives the outputs of that tool',
    on: { sub_agent: 'writer' },
    trace: { subAgents, toolCalls: [call({ name: 'ask_writer', result: 'ok' })] },
    want: { kind: 'scored', score: 1 },
  },
  {
    name: 'what a sub-agent gave after a hand-over is not known here',
    on: { sub_agent: 'helper' },
    trace: { subAgents },
    want: { kind: 'skipped', reason: 'no_such_target' },
  },
  {
    name: 'an unknown sub-agent is not a target',
    on: { sub_agent: 'constructor' },
    trace: { subAgents },
    want: { kind: 'skipped', reason: 'no_such_target' },
  },
  {
    name: 'the longest text that is looked at',
    on: 'final_response',
    trace: { finalResponse: `ok${'x'.repeat(valueCharsMax - 2)}` },
    want: { kind: 'scored', score: 1 },
  },
  {
    name: 'a text beyond that is too large',
    on: 'final_response',
    trace: { finalResponse: 'x'.repeat(valueCharsMax + 1) },
    want: { kind: 'skipped', reason: 'too_large' },
  },
];
for (const { name, on, trace, want } of rows) {
  test(`target: ${name}`, () => {
    expect(score({ entry: entry(on), trace: agentTrace(trace) })).toMatchObject(want);
  });
}

test('target: any number of outputs is looked at, and those that fall short are named first', () => {
  const toolCalls = Array.from({ length: 5_000 }, (_, at) => call({ name: 'search', result: at === 4_999 ? 'no' : 'ok' }));
  const verdict = score({ entry: entry({ tool: 'search' }), trace: agentTrace({ toolCalls }), limits: { toolCallsMax: 2 } });
  expect(verdict).toMatchObject({
    kind: 'scored',
    score: 0.9998,
    details: { total: 5_000, full: 4_999, parts_left_out: { failed: 0, passed: 4_000 } },
  });
  expect(verdict.kind === 'scored' ? verdict.parts.filter(({ passed }) => !passed).map(({ index }) => index) : []).toEqual([4_999]);
});

test('target: on_empty original scores a run without a final response as one that is null', () => {
  expect(score({ entry: { ...entry('final_response'), on_empty: 'original' }, trace: agentTrace() })).toMatchObject({
    kind: 'scored',
    score: 0,
  });
});

const faulty: readonly JsonValue[] = ['output', {}, { tool: '' }, { tool: 'a', retriever: true }, { retriever: false }];
for (const on of faulty) {
  test(`target: ${JSON.stringify(on)} is refused`, () => {
    expect(() => score({ entry: entry(on), trace: agentTrace() })).toThrow(/^options\.on/);
  });
}
