import { expect, test } from 'vitest';
import type { JsonValue } from '../../src/model/json.ts';
import { agentTrace, call, spanId } from '../builders/agent-trace.ts';
import { score } from './score.ts';

const entry = { use: 'tool_call_output' };
const pairs: readonly { readonly name: string; readonly output: JsonValue; readonly result: JsonValue; readonly equal: boolean }[] = [
  { name: 'equal texts', output: 'x', result: 'x', equal: true },
  { name: 'texts that differ in case', output: 'x', result: 'X', equal: false },
  { name: 'two JSON texts of one value', output: '{"a":1,"b":2}', result: '{"b": 2, "a": 1.0}', equal: true },
  { name: 'a value and its text in a fence', output: { a: 1 }, result: '```json\n{"a": 1}\n```', equal: true },
  { name: 'a number and its text', output: '42', result: 42, equal: true },
  { name: 'an expected number and a text that holds it', output: 42, result: '42', equal: true },
  { name: 'true and 1', output: 1, result: true, equal: false },
  { name: 'nothing and the empty text', output: '', result: null, equal: true },
  { name: 'nothing and zero', output: '', result: 0, equal: false },
  { name: 'a text that is not JSON and an object', output: "{'a': 1}", result: { a: 1 }, equal: false },
];
for (const { name, output, result, equal } of pairs) {
  test(`tool_call_output: ${name} are ${equal ? 'equal' : 'different'}`, () => {
    expect(
      score({
        entry: { ...entry, expect: { tool_outputs: [{ name: 't', output }] } },
        trace: agentTrace({ toolCalls: [call({ result })] }),
      }),
    ).toMatchObject({ kind: 'scored', score: equal ? 1 : 0 });
  });
}

const read = ['pending', 'done'].map((result, at) => call({ name: 'poll', result, spanId: spanId(at + 1) }));
const rows = [
  { name: 'any free call of the tool may return the output', options: {}, outputs: ['done'], want: { score: 1 } },
  {
    name: 'strict looks at the first free call only',
    options: { strict: true },
    outputs: ['done'],
    want: { score: 0, details: { breach: { index: 0, tool: 'poll' } } },
  },
  {
    name: 'one call satisfies one expectation',
    options: {},
    outputs: ['done', 'done'],
    want: { score: 0.5, details: { matched: 1, expected: 2, unmatched: [{ expected_index: 1, reason: 'output_differs' }] } },
  },
  {
    name: 'similarity takes the best pairing',
    options: { mode: 'similarity' },
    outputs: ['dune'],
    want: { score: 0.75, details: { matching: 'exact' } },
  },
];
for (const { name, options, outputs, want } of rows) {
  test(`tool_call_output: ${name}`, () => {
    const expected = { tool_outputs: outputs.map((output) => ({ name: 'poll', output })) };
    expect(score({ entry: { ...entry, options, expect: expected }, trace: agentTrace({ toolCalls: read }) })).toMatchObject({
      kind: 'scored',
      ...want,
    });
  });
}

test('tool_call_output: it is a raw metric unless a threshold is set', () => {
  const expected = { toolOutputs: [{ name: 'poll', output: 'done' }] };
  const trace = agentTrace({ toolCalls: read });
  expect(score({ entry, trace, expected })).toMatchObject({ passed: null, label: '' });
  expect(score({ entry: { ...entry, threshold: 1 }, trace, expected })).toMatchObject({ passed: true, label: 'pass' });
});

test('tool_call_output: the sentence has the actual output, or reports that the call failed', () => {
  const trace = (member: object) => agentTrace({ toolCalls: [call({ name: 'get', result: 'no', spanId: spanId(1), ...member })] });
  const expected = { toolOutputs: [{ name: 'get', output: 'yes' }] };
  expect(score({ entry, trace: trace({}), expected })).toMatchObject({
    evidence: [spanId(1)],
    explanation: '1 of 1 expected tool output was not returned: get (call 1) returned "no" instead of "yes".',
  });
  expect(score({ entry, trace: trace({ error: { message: '', sign: 'is_error' } }), expected })).toMatchObject({
    explanation: '1 of 1 expected tool output was not returned: get (call 1) failed instead of returning "yes".',
    details: { unmatched: [{ reason: 'call_failed' }] },
  });
});

const outcomes = [
  { name: 'without an expectation it is skipped', toolCalls: read, expected: {}, want: { kind: 'skipped', reason: 'no_expectation' } },
  {
    name: 'results of the expected tools must be carried',
    toolCalls: [call({ name: 'poll', result: undefined }), call()],
    expected: { toolOutputs: [{ name: 'poll', output: 'x' }] },
    want: { kind: 'skipped', reason: 'results_not_carried' },
  },
  {
    name: 'a tool that never ran returned nothing',
    toolCalls: [call({ name: 'poll', result: 'x', executed: false })],
    expected: { toolOutputs: [{ name: 'poll', output: 'x' }] },
    want: { kind: 'scored', score: 0 },
  },
  {
    name: 'no call at all is evidence',
    toolCalls: [],
    expected: { toolOutputs: [{ name: 'poll', output: 'x' }] },
    want: { kind: 'scored', score: 0, details: { unmatched: [{ reason: 'not_called' }] } },
  },
  {
    name: 'a tool id wins over names on both sides',
    toolCalls: [call({ name: 'poll', toolId: 'a', result: 'x' })],
    expected: { toolOutputs: [{ name: 'poll', output: 'x', toolId: 'b' }] },
    want: { kind: 'scored', score: 0 },
  },
] as const;
for (const { name, toolCalls, expected, want } of outcomes) {
  test(`tool_call_output: ${name}`, () => {
    expect(score({ entry, trace: agentTrace({ toolCalls: [...toolCalls] }), expected })).toMatchObject(want);
  });
}

const known = [
  call({ name: 'get', toolId: 'tool-7', id: 'call_1', result: 'v' }),
  call({ name: 'put', toolId: 'tool-8', id: 'call_2', result: 'w' }),
];
for (const { name, output, equal } of [
  { name: 'tool-7', output: 'v', equal: true },
  { name: 'call_1', output: 'v', equal: true },
  { name: 'get', output: 'v', equal: true },
  { name: 'tool-8', output: 'v', equal: false },
  { name: 'call_2', output: 'v', equal: false },
  { name: 'tool-9', output: 'v', equal: false },
]) {
  test(`tool_call_output: the name ${name} of an expectation matches ${equal ? 'the call' : 'another call'}`, () => {
    for (const strict of [false, true])
      expect(
        score({
          entry: { ...entry, options: { strict }, expect: { tool_outputs: [{ name, output }] } },
          trace: agentTrace({ toolCalls: known }),
        }),
      ).toMatchObject({ kind: 'scored', score: equal ? 1 : 0 });
  });
}

test('tool_call_output: each compared call has a part and its score, what it returned and what was expected', () => {
  const trace = agentTrace({
    toolCalls: [
      call({ name: 'a', id: 'c1', result: { n: 1 }, spanId: spanId(1) }),
      call({ name: 'b', result: 'no', spanId: spanId(2) }),
      call({ name: 'other', result: 'x', spanId: spanId(3) }),
    ],
  });
  const expected = {
    toolOutputs: [
      { name: 'a', output: { n: 1 } },
      { name: 'b', output: 'yes' },
      { name: 'c', output: 'z' },
    ],
  };
  expect(score({ entry, trace, expected })).toMatchObject({
    score: 1 / 3,
    evidence: [spanId(2)],
    parts: [
      {
        index: 0,
        tool: 'a',
        callId: 'c1',
        spanId: spanId(1),
        score: 1,
        passed: true,
        explanation: 'a (call 1) returned "{"n":1}", as expected.',
      },
      { index: 1, tool: 'b', spanId: spanId(2), score: 0, passed: false, explanation: 'b (call 2) returned "no" instead of "yes".' },
    ],
    details: {
      pairs: [{ expected_index: 0, index: 0, score: 1, actual: '{"n":1}', expected: '{"n":1}' }],
      unmatched: [
        { expected_index: 1, reason: 'output_differs', nearest: { index: 1, score: 0, actual: 'no', expected: 'yes' } },
        { expected_index: 2, reason: 'not_called' },
      ],
    },
  });
});

test('tool_call_output: in similarity the part of a call has the share that it returned', () => {
  const trace = agentTrace({ toolCalls: [call({ name: 'a', result: { n: 1, m: 'x' }, spanId: spanId(1) })] });
  expect(
    score({
      entry: { ...entry, options: { mode: 'similarity' } },
      trace,
      expected: { toolOutputs: [{ name: 'a', output: { n: 1, m: 'y' } }] },
    }),
  ).toMatchObject({
    score: 0.5,
    evidence: [spanId(1)],
    parts: [{ score: 0.5, passed: false }],
    details: { matched: 1, pairs: [{ score: 0.5 }], unmatched: [] },
    explanation:
      '1 of 1 expected tool output was returned in part only: a (call 1) returned "{"n":1,"m":"x"}" instead of "{"n":1,"m":"y"}".',
  });
});

test('tool_call_output: strict compares nothing after the first breach, and names no other call', () => {
  const trace = agentTrace({
    toolCalls: ['a', 'b', 'c', 'd'].map((name, at) => call({ name, result: name === 'b' ? 'wrong' : 'ok', spanId: spanId(at + 1) })),
  });
  const verdict = score({
    entry: { ...entry, options: { strict: true } },
    trace,
    expected: { toolOutputs: ['a', 'b', 'c', 'd', 'missing'].map((name) => ({ name, output: 'ok' })) },
  });
  expect(verdict).toMatchObject({
    score: 0,
    evidence: [spanId(2)],
    explanation: 'Output 2 of 5 was not returned, and strict stops there: b (call 2) returned "wrong" instead of "ok".',
    details: { matched: 1, expected: 5, breach: { index: 1, tool: 'b' }, not_compared: 3, unmatched: [{ expected_index: 1, tool: 'b' }] },
  });
  expect(verdict.kind === 'scored' ? verdict.parts.map(({ tool, passed }) => [tool, passed]) : []).toEqual([
    ['a', true],
    ['b', false],
  ]);
  expect(verdict.details['unmatched']).toHaveLength(1);
});

test('tool_call_output: two expectations without a match name two calls, not one twice', () => {
  const trace = agentTrace({
    toolCalls: [call({ name: 'a', result: 'x', spanId: spanId(1) }), call({ name: 'a', result: 'y', spanId: spanId(2) })],
  });
  expect(
    score({
      entry,
      trace,
      expected: {
        toolOutputs: [
          { name: 'a', output: '1' },
          { name: 'a', output: '2' },
          { name: 'a', output: '3' },
        ],
      },
    }),
  ).toMatchObject({
    evidence: [spanId(1), spanId(2)],
    details: { unmatched: [{ nearest: { index: 0 } }, { nearest: { index: 1 } }, { reason: 'not_called' }] },
  });
});

test('tool_call_output: names may be normalised, and the details say which', () => {
  const run = agentTrace({ toolCalls: [call({ name: 'agent_x7c9' })] });
  const expected = { toolOutputs: [{ name: 'agent', output: 'ok' }] };
  expect(score({ entry, trace: run, expected })).toMatchObject({ score: 0 });
  expect(score({ entry: { ...entry, options: { normalize_tool_names: true } }, trace: run, expected })).toMatchObject({
    score: 1,
    details: { normalized: [{ name: 'agent_x7c9', normalized: 'agent' }] },
  });
});
