import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import { agentTrace, call, spanId } from '../builders/agent-trace.ts';
import { score } from './score.ts';

const entry = { use: 'tool_call_args' };
const get = (sent: JsonObject, at = 1) => call({ name: 'get', arguments: sent, spanId: spanId(at) });

const rows: readonly {
  readonly name: string;
  readonly sent: readonly JsonObject[];
  readonly wanted: readonly JsonObject[];
  readonly options: JsonObject;
  readonly want: object;
}[] = [
  {
    name: 'further arguments are free by default',
    sent: [{ a: 1, b: 2 }],
    wanted: [{ a: 1 }],
    options: {},
    want: { score: 1, details: { matched: 1, expected: 1 } },
  },
  {
    name: 'further arguments count in exact mode',
    sent: [{ a: 1, b: 2 }],
    wanted: [{ a: 1 }],
    options: { arguments: { mode: 'exact' } },
    want: { score: 0 },
  },
  {
    name: 'a tool may have its own mode',
    sent: [{ a: 1, b: 2 }],
    wanted: [{ a: 2 }],
    options: { arguments: { mode: 'exact', overrides: { get: 'ignore' } } },
    want: { score: 1 },
  },
  {
    name: 'only listed fields are compared',
    sent: [{ a: 1, b: 2 }],
    wanted: [{ a: 1, b: 3 }],
    options: { arguments: { overrides: { get: { fields: ['a'] } } } },
    want: { score: 1 },
  },
  {
    name: 'the general expectation leaves the special call to the special one',
    sent: [{ a: 1 }, { a: 2 }],
    wanted: [{}, { a: 1 }],
    options: {},
    want: { score: 1 },
  },
  {
    name: 'one call meets one expectation',
    sent: [{ a: 1 }],
    wanted: [{ a: 1 }, { a: 1 }],
    options: {},
    want: { score: 0.5, details: { missing_calls: [{ index: 1, tool: 'get' }] } },
  },
  { name: 'strict is all or nothing', sent: [{ a: 1 }], wanted: [{ a: 1 }, { a: 2 }], options: { strict: true }, want: { score: 0 } },
  {
    name: 'partial credit is the share of agreeing keys',
    sent: [{ a: 1, b: 9 }],
    wanted: [{ a: 1, b: 2 }],
    options: { partial: true },
    want: {
      score: 0.5,
      details: { matched: 0, matching: 'exact', pairs: [{ score: 0.5, unequal: ['b'], missing: [], extra: [] }] },
      parts: [{ score: 0.5, passed: false }],
    },
  },
  {
    name: 'partial credit takes the heaviest pairing',
    sent: [{ a: 1, b: 2 }, { a: 5 }],
    wanted: [
      { a: 1, b: 3 },
      { a: 1, b: 2 },
    ],
    options: { partial: true },
    want: { score: 0.5 },
  },
  {
    name: 'partial credit gives the full one to what the mode accepts',
    sent: [{ a: 1, b: 2 }],
    wanted: [{ a: 1 }],
    options: { partial: true },
    want: { score: 1 },
  },
];
for (const { name, sent, wanted, options, want } of rows) {
  test(`tool_call_args: ${name}`, () => {
    const expected = { toolCalls: wanted.map((one) => ({ name: 'get', arguments: one })) };
    expect(
      score({ entry: { ...entry, options }, trace: agentTrace({ toolCalls: sent.map((one, at) => get(one, at + 1)) }), expected }),
    ).toMatchObject({ kind: 'scored', passed: null, ...want });
  });
}

test('tool_call_args: three thirds are exactly 1', () => {
  const toolCalls = [get({ a: 1, b: 0, c: 0 }), get({ a: 2, b: 0, c: 0 }), get({ a: 3, b: 0, c: 0 })];
  const expected = { toolCalls: [1, 2, 3].map((a) => ({ name: 'get', arguments: { a, b: 1, c: 1 } })) };
  expect(
    score({ entry: { ...entry, threshold: 1 / 3, options: { partial: true } }, trace: agentTrace({ toolCalls }), expected }),
  ).toMatchObject({ score: 1 / 3, passed: true });
});

test('tool_call_args: the sentence names the nearest call and its difference, and the call is evidence', () => {
  const expected = { toolCalls: [{ name: 'get', arguments: { a: 2 } }, { name: 'put' }] };
  expect(score({ entry, trace: agentTrace({ toolCalls: [get({ a: 1 })] }), expected })).toMatchObject({
    explanation:
      '2 of 2 expected calls were not made with the expected arguments: get (nearest is get (call 1): "a" differs); put was not called.',
    evidence: [spanId(1)],
  });
});

const outcomes = [
  {
    name: 'without an expectation it is skipped',
    trace: agentTrace(),
    expected: {},
    options: {},
    limits: {},
    want: { kind: 'skipped', reason: 'no_expectation' },
  },
  {
    name: 'spans that carry no calls are skipped',
    trace: agentTrace({ toolCallsCarried: false }),
    expected: { toolCalls: [] },
    options: {},
    limits: {},
    want: { kind: 'skipped', reason: 'tool_calls_not_carried' },
  },
  {
    name: 'more pairs than the limit are skipped',
    trace: agentTrace({ toolCalls: [get({}), get({})] }),
    expected: { toolCalls: [{ name: 'get' }] },
    options: {},
    limits: { toolCallsMax: 1 },
    want: { kind: 'skipped', reason: 'too_large' },
  },
  {
    name: 'arguments must be carried',
    trace: agentTrace({ toolCalls: [call({ name: 'get', arguments: undefined })] }),
    expected: { toolCalls: [{ name: 'get', arguments: {} }] },
    options: {},
    limits: {},
    want: { kind: 'skipped', reason: 'arguments_not_carried' },
  },
  {
    name: 'none expected and none made is right',
    trace: agentTrace(),
    expected: { toolCalls: [] },
    options: {},
    limits: {},
    want: { kind: 'scored', score: 1, explanation: 'No tool call was expected and none was made.' },
  },
  {
    name: 'none expected and one made is wrong',
    trace: agentTrace({ toolCalls: [get({})] }),
    expected: { toolCalls: [] },
    options: {},
    limits: {},
    want: { kind: 'scored', score: 0, explanation: 'No tool call was expected, yet 1 call was made: get (call 1).' },
  },
  {
    name: 'a name as an SDK changed it is the same tool',
    trace: agentTrace({ toolCalls: [call({ name: 'Send_Mail', arguments: { to: 'a' } })] }),
    expected: { toolCalls: [{ name: 'Send Mail', arguments: { to: 'a' } }] },
    options: {},
    limits: {},
    want: { score: 1 },
  },
  {
    name: 'a tool id wins over names on both sides',
    trace: agentTrace({ toolCalls: [call({ name: 'get', toolId: 'x' })] }),
    expected: { toolCalls: [{ name: 'get', toolId: 'y' }] },
    options: {},
    limits: {},
    want: { score: 0 },
  },
  {
    name: 'names may be normalised, and the details say so',
    trace: agentTrace({ toolCalls: [call({ name: 'get_x7c9' })] }),
    expected: { toolCalls: [{ name: 'get' }] },
    options: { normalize_tool_names: true },
    limits: {},
    want: { score: 1, details: { normalized: [{ name: 'get_x7c9', normalized: 'get' }] } },
  },
  {
    name: 'only_successful leaves out failed calls',
    trace: agentTrace({ toolCalls: [call({ name: 'get', error: { message: '', sign: 'is_error' } })] }),
    expected: { toolCalls: [{ name: 'get' }] },
    options: { only_successful: true },
    limits: {},
    want: { score: 0 },
  },
] as const;
for (const { name, trace, expected, options, limits, want } of outcomes) {
  test(`tool_call_args: ${name}`, () => {
    expect(score({ entry: { ...entry, options: { ...options } }, trace, expected, limits })).toMatchObject(want);
  });
}

test('tool_call_args: an expected call may be written with the id of the tool or of the call as its name', () => {
  const run = agentTrace({ toolCalls: [call({ name: 'n', toolId: 'i1', id: 'c1', arguments: { x: 1 } })] });
  for (const name of ['n', 'i1', 'c1'])
    expect(score({ entry, trace: run, expected: { toolCalls: [{ name, arguments: { x: 1 } }] } })).toMatchObject({
      kind: 'scored',
      score: 1,
    });
  expect(score({ entry, trace: run, expected: { toolCalls: [{ name: 'i1', arguments: {}, toolId: 'i2' }] } })).toMatchObject({ score: 0 });
});
