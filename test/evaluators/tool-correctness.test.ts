import { expect, test } from 'vitest';
import { agentTrace, call, spanId } from '../builders/agent-trace.ts';
import { score } from './score.ts';

const toolCalls = [
  call({ name: 'find', arguments: { q: 'a' }, spanId: spanId(1) }),
  call({ name: 'book', arguments: { n: 1 }, spanId: spanId(2) }),
];
const entry = { use: 'tool_correctness' };
const trace = agentTrace({ toolCalls });

const rows = [
  {
    name: 'the same names are correct',
    mode: 'names_only',
    expected: [{ name: 'book' }, { name: 'find' }],
    want: { score: 1, passed: true, evidence: [] },
  },
  {
    name: 'one unexpected of two lowers the score and is evidence',
    mode: 'names_only',
    expected: [{ name: 'find' }],
    want: { score: 2 / 3, passed: false, evidence: [spanId(2)], details: { unexpected_tools: ['book'] } },
  },
  {
    name: 'the order counts in names_and_order',
    mode: 'names_and_order',
    expected: [{ name: 'book' }, { name: 'find' }],
    want: { score: 0.5, details: { lcs_length: 1 } },
  },
  {
    name: 'arguments count in names_and_args',
    mode: 'names_and_args',
    expected: [
      { name: 'book', arguments: { n: 1 } },
      { name: 'find', arguments: { q: 'b' } },
    ],
    want: {
      score: 0.5,
      details: { matched_count: 1, missing_calls: [{ index: 1, tool: 'find' }], unexpected_calls: [{ index: 0, span_id: spanId(1) }] },
    },
  },
  {
    name: 'an expectation without arguments accepts any',
    mode: 'names_and_args',
    expected: [{ name: 'book' }, { name: 'find' }],
    want: { score: 1 },
  },
  { name: 'an empty expectation with calls made is 0', mode: 'names_only', expected: [], want: { score: 0 } },
];
for (const { name, mode, expected, want } of rows) {
  test(`tool_correctness: ${name}`, () => {
    expect(score({ entry: { ...entry, options: { mode }, expect: { tool_calls: expected } }, trace })).toMatchObject({
      kind: 'scored',
      ...want,
    });
  });
}

test('tool_correctness: three right of five expected is exactly three quarters', () => {
  const calls = ['a', 'b', 'c'].map((name) => call({ name }));
  const expected = { toolCalls: ['a', 'b', 'c', 'd', 'e'].map((name) => ({ name })) };
  expect(score({ entry: { ...entry, threshold: 0.75 }, trace: agentTrace({ toolCalls: calls }), expected })).toMatchObject({
    score: 0.75,
    passed: true,
  });
});

test('tool_correctness: the sentence names what is missing and what was not expected', () => {
  const expected = { toolCalls: [{ name: 'find' }, { name: 'pay' }] };
  expect(score({ entry, trace, expected })).toMatchObject({
    explanation: 'The tool calls differ from what was expected; missing: pay; not expected: book (call 2).',
  });
});

const outcomes = [
  { name: 'without an expectation it is skipped', trace, expected: {}, options: {}, want: { kind: 'skipped', reason: 'no_expectation' } },
  {
    name: 'spans that carry no calls are skipped',
    trace: agentTrace({ toolCallsCarried: false }),
    expected: { toolCalls: [] },
    options: {},
    want: { kind: 'skipped', reason: 'tool_calls_not_carried' },
  },
  {
    name: 'none expected and none called is right',
    trace: agentTrace(),
    expected: { toolCalls: [] },
    options: {},
    want: { kind: 'scored', score: 1 },
  },
  {
    name: 'arguments that are compared must be carried',
    trace: agentTrace({ toolCalls: [call({ name: 'a', arguments: undefined })] }),
    expected: { toolCalls: [{ name: 'a', arguments: { x: 1 } }] },
    options: { mode: 'names_and_args' },
    want: { kind: 'skipped', reason: 'arguments_not_carried' },
  },
  {
    name: 'names need no arguments',
    trace: agentTrace({ toolCalls: [call({ name: 'a', arguments: undefined })] }),
    expected: { toolCalls: [{ name: 'a', arguments: { x: 1 } }] },
    options: { mode: 'names_and_order' },
    want: { kind: 'scored', score: 1 },
  },
  {
    name: 'only_successful leaves out failed calls',
    trace: agentTrace({ toolCalls: [call({ name: 'a', error: { message: '', sign: 'is_error' } })] }),
    expected: { toolCalls: [{ name: 'a' }] },
    options: { only_successful: true },
    want: { kind: 'scored', score: 0 },
  },
] as const;
for (const { name, trace: run, expected, options, want } of outcomes) {
  test(`tool_correctness: ${name}`, () => {
    expect(score({ entry: { ...entry, options: { ...options } }, trace: run, expected })).toMatchObject(want);
  });
}

test('tool_correctness: names may be normalised, and the details say which', () => {
  const run = agentTrace({ toolCalls: [call({ name: 'agent_x7c9' })] });
  const expected = { toolCalls: [{ name: 'agent' }] };
  expect(score({ entry, trace: run, expected })).toMatchObject({ score: 0 });
  expect(score({ entry: { ...entry, options: { normalize_tool_names: true } }, trace: run, expected })).toMatchObject({
    score: 1,
    details: { normalized: [{ name: 'agent_x7c9', normalized: 'agent' }] },
  });
});
