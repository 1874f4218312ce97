import { expect, test } from 'vitest';
import { configuredEvaluator } from '../../evaluators/configuration/configured.ts';
import { evaluators } from '../../evaluators/index.ts';
import type { JsonValue } from '../../src/model/json.ts';
import { agentTrace, call, spanId } from '../builders/agent-trace.ts';
import { score } from './score.ts';

const entry = { use: 'tool_call_count' };
const trace = agentTrace({ toolCalls: ['a', 'a', 'b'].map((name, at) => call({ name, spanId: spanId(at + 1) })) });

const counts: readonly { readonly count: JsonValue; readonly met: boolean }[] = [
  { count: 2, met: true },
  { count: 1, met: false },
  { count: '2', met: true },
  { count: '>=2', met: true },
  { count: '>= 3', met: false },
  { count: '>2', met: false },
  { count: '<3', met: true },
  { count: '<2', met: false },
  { count: '<=2', met: true },
  { count: '!=2', met: false },
  { count: ['==', 2], met: true },
  { count: ['!=', 3], met: true },
  { count: { min: 2 }, met: true },
  { count: { max: 1 }, met: false },
  { count: { min: 1, max: 2 }, met: true },
];
for (const { count, met } of counts) {
  test(`tool_call_count: two calls are ${met ? '' : 'not '}what ${JSON.stringify(count)} asks for`, () => {
    expect(score({ entry: { ...entry, expect: { tool_calls_count: { a: count } } }, trace })).toMatchObject({
      kind: 'scored',
      score: met ? 1 : 0,
      details: { per_tool: { a: met ? 1 : 0 } },
    });
  });
}

const refused: readonly { readonly count: JsonValue; readonly path: readonly string[] }[] = [
  { count: '=>2', path: ['expect', 'tool_calls_count', 'a'] },
  { count: ['=>', 2], path: ['expect', 'tool_calls_count', 'a'] },
  { count: 'two', path: ['expect', 'tool_calls_count', 'a'] },
  { count: 1.5, path: ['expect', 'tool_calls_count', 'a'] },
  { count: {}, path: ['expect', 'tool_calls_count', 'a'] },
  { count: { min: 3, max: 1 }, path: ['expect', 'tool_calls_count', 'a'] },
  { count: null, path: ['expect', 'tool_calls_count', 'a'] },
];
for (const { count, path } of refused) {
  test(`tool_call_count: ${JSON.stringify(count)} is refused with its path`, () => {
    const configuration = configuredEvaluator({ ...entry, expect: { tool_calls_count: { a: count } } }, evaluators);
    expect(configuration.kind === 'faulty' && configuration.faults.some((fault) => path.every((step, at) => fault.path[at] === step))).toBe(
      true,
    );
  });
}

const identified = agentTrace({
  toolCalls: [
    call({ name: 'x', toolId: 'i1', id: 'c1' }),
    call({ name: 'y', toolId: 'i1', id: 'c2' }),
    call({ name: 'x', toolId: 'i2', id: 'c3' }),
    call({ name: 'i2', id: 'c4' }),
  ],
});
for (const { key, number } of [
  { key: 'i1', number: 2 },
  { key: 'x', number: 2 },
  { key: 'y', number: 1 },
  { key: 'c3', number: 1 },
  { key: 'i2', number: 2 },
  { key: 'i3', number: 0 },
]) {
  test(`tool_call_count: ${key} matches a name, a tool's id or a call's id, and ${number} calls have it`, () => {
    expect(score({ entry: { ...entry, expect: { tool_calls_count: { [key]: number } } }, trace: identified })).toMatchObject({
      kind: 'scored',
      score: 1,
      details: { counts: [{ tool: key, count: number }] },
    });
  });
}

test('tool_call_count: the sentence has the actual and the expected number, and the calls are evidence', () => {
  const expected = {
    toolCallsCount: [
      { name: 'a', most: 1 },
      { name: 'b', least: 1, most: 1 },
      { name: 'c', least: 1 },
    ],
  };
  expect(score({ entry, trace, expected })).toMatchObject({
    score: 1 / 3,
    explanation:
      '2 of 3 tools were not called as often as expected: a was called 2 times instead of at most 1, c was called 0 times instead of at least 1.',
    evidence: [spanId(1), spanId(2)],
    details: {
      counts: [
        { tool: 'a', count: 2, expected: 'at most 1', met: false },
        { tool: 'b', met: true },
        { tool: 'c', count: 0 },
      ],
    },
  });
  expect(score({ entry: { ...entry, options: { strict: true } }, trace, expected })).toMatchObject({ score: 0 });
});

const outcomes = [
  {
    name: 'zero calls of a tool hold when nothing was called',
    trace: agentTrace(),
    expected: { toolCallsCount: [{ name: 'a', least: 0, most: 0 }] },
    options: {},
    want: { score: 1 },
  },
  {
    name: 'expecting nothing at all is right without calls',
    trace: agentTrace(),
    expected: { toolCallsCount: [] },
    options: {},
    want: { score: 1 },
  },
  {
    name: 'expecting nothing at all is wrong with calls',
    trace,
    expected: { toolCallsCount: [] },
    options: {},
    want: { score: 0, explanation: 'No tool call was expected, yet 3 calls were made.' },
  },
  { name: 'without an expectation it is skipped', trace, expected: {}, options: {}, want: { kind: 'skipped', reason: 'no_expectation' } },
  {
    name: 'spans that carry no calls are skipped',
    trace: agentTrace({ toolCallsCarried: false }),
    expected: { toolCallsCount: [] },
    options: {},
    want: { kind: 'skipped', reason: 'tool_calls_not_carried' },
  },
  {
    name: 'names may be normalised',
    trace: agentTrace({ toolCalls: [call({ name: 'a_x7c9' }), call({ name: 'a_b8d1' })] }),
    expected: { toolCallsCount: [{ name: 'a', least: 2 }] },
    options: { normalize_tool_names: true },
    want: { score: 1 },
  },
  {
    name: 'a tool may have the name of a member of every object',
    trace: agentTrace({ toolCalls: [call({ name: '__proto__' })] }),
    expected: { toolCallsCount: [{ name: '__proto__', least: 1 }] },
    options: {},
    want: { score: 1 },
  },
] as const;
for (const { name, trace: run, expected, options, want } of outcomes) {
  test(`tool_call_count: ${name}`, () => {
    expect(score({ entry: { ...entry, options: { ...options } }, trace: run, expected })).toMatchObject(want);
  });
}
