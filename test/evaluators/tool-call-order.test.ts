import { expect, test } from 'vitest';
import { agentTrace, call, spanId } from '../builders/agent-trace.ts';
import { score } from './score.ts';

const entry = { use: 'tool_call_order' };
const run = (names: readonly string[]) => agentTrace({ toolCalls: names.map((name, at) => call({ name, spanId: spanId(at + 1) })) });

const rows = [
  { name: 'others may come between', called: ['a', 'x', 'b'], order: ['a', 'b'], options: {}, want: { score: 1, evidence: [] } },
  {
    name: 'others cost when extras do',
    called: ['a', 'x', 'b'],
    order: ['a', 'b'],
    options: { penalise_extra: true },
    want: { score: 2 / 3, evidence: [spanId(2)] },
  },
  {
    name: 'others are a breach when it is strict',
    called: ['a', 'x', 'b'],
    order: ['a', 'b'],
    options: { strict: true },
    want: { score: 0 },
  },
  { name: 'strict holds for the same sequence', called: ['a', 'b'], order: ['a', 'b'], options: { strict: true }, want: { score: 1 } },
  {
    name: 'a step out of order is distinguished from a missing one',
    called: ['b', 'a'],
    order: ['a', 'b', 'c'],
    options: {},
    want: {
      score: 1 / 3,
      details: { lcs_length: 1, missing: [{ expected_index: 2, tool: 'c' }], out_of_order: [{ expected_index: 1, index: 0, tool: 'b' }] },
    },
  },
  {
    name: 'a tool expected twice and called once is missing once',
    called: ['a', 'b'],
    order: ['a', 'a', 'b'],
    options: {},
    want: { score: 2 / 3, details: { missing: [{ tool: 'a' }], out_of_order: [] } },
  },
  {
    name: 'names may be normalised',
    called: ['a_x7c9', 'b'],
    order: ['a', 'b'],
    options: { normalize_tool_names: true },
    want: { score: 1, details: { normalized: [{ name: 'a_x7c9', normalized: 'a' }] } },
  },
  {
    name: 'nothing expected and nothing called is right',
    called: [],
    order: [],
    options: {},
    want: { score: 1, explanation: 'No tool call was expected and none was made.' },
  },
  {
    name: 'nothing expected and something called is wrong',
    called: ['a'],
    order: [],
    options: {},
    want: { score: 0, evidence: [spanId(1)] },
  },
];
for (const { name, called, order, options, want } of rows) {
  test(`tool_call_order: ${name}`, () => {
    expect(score({ entry: { ...entry, options, expect: { tool_calls_order: order } }, trace: run(called) })).toMatchObject({
      kind: 'scored',
      passed: null,
      ...want,
    });
  });
}

test('tool_call_order: the sentence names what is missing and what came at the wrong time', () => {
  expect(score({ entry, trace: run(['b', 'a']), expected: { toolCallsOrder: ['a', 'b', 'c'] } })).toMatchObject({
    explanation: '1 of 3 expected steps came in order; missing: c (step 3); out of order: b (call 1).',
    evidence: [spanId(1)],
  });
});

test('tool_call_order: a stable tool id may replace the name', () => {
  expect(
    score({ entry, trace: agentTrace({ toolCalls: [call({ name: 'n', toolId: 'i1' })] }), expected: { toolCallsOrder: ['i1'] } }),
  ).toMatchObject({ score: 1 });
});

test('tool_call_order: without an expectation, without tool data, or with too many calls it is skipped', () => {
  expect(score({ entry, trace: run(['a']) })).toMatchObject({ kind: 'skipped', reason: 'no_expectation' });
  expect(score({ entry, trace: agentTrace({ toolCallsCarried: false }), expected: { toolCallsOrder: ['a'] } })).toMatchObject({
    kind: 'skipped',
    reason: 'tool_calls_not_carried',
  });
  expect(score({ entry, trace: run(['a', 'b']), expected: { toolCallsOrder: ['a'] }, limits: { toolCallsMax: 1 } })).toMatchObject({
    kind: 'skipped',
    reason: 'too_large',
  });
});

test('tool_call_order: a step may be written as the id of the tool or of the call', () => {
  const run = agentTrace({ toolCalls: [call({ name: 'n', toolId: 'i1', id: 'c1' }), call({ name: 'm', id: 'c2' })] });
  for (const steps of [
    ['n', 'm'],
    ['i1', 'c2'],
    ['c1', 'm'],
  ])
    expect(score({ entry, trace: run, expected: { toolCallsOrder: steps } })).toMatchObject({ kind: 'scored', score: 1 });
  expect(score({ entry, trace: run, expected: { toolCallsOrder: ['c2', 'c1'] } })).toMatchObject({ score: 0.5 });
});
