import { expect, test } from 'vitest';
import { configuredEvaluator } from '../../evaluators/configuration/configured.ts';
import { evaluators } from '../../evaluators/index.ts';
import { fromMessages } from '../../src/library/openai-messages.ts';
import type { JsonObject, JsonValue } from '../../src/model/json.ts';
import { agentTrace, call, spanId } from '../builders/agent-trace.ts';
import { score } from './score.ts';

const user: JsonObject = { role: 'user', content: 'u' };
const says: JsonObject = { role: 'assistant', content: 'done' };
const asks = (...calls: readonly (readonly [string, JsonObject])[]): JsonObject => ({
  role: 'assistant',
  content: null,
  tool_calls: calls.map(([name, sent]) => ({ name, args: sent })),
});
const scored = (messages: readonly JsonValue[], reference: readonly JsonValue[], options: JsonObject = {}) =>
  score({ entry: { use: 'trajectory_match', options, expect: { messages: reference } }, trace: fromMessages(messages).trace });

const a: readonly [string, JsonObject] = ['a', { x: 1 }];
const wide: readonly [string, JsonObject] = ['a', { x: 1, y: 2 }];
const b: readonly [string, JsonObject] = ['b', {}];

const rows: readonly {
  readonly name: string;
  readonly got: readonly JsonValue[];
  readonly reference: readonly JsonValue[];
  readonly options: JsonObject;
  readonly want: object;
}[] = [
  {
    name: 'texts play no part',
    got: [user, asks(a), says],
    reference: [{ role: 'user', content: 'v' }, asks(a), { role: 'assistant', content: 'other' }],
    options: {},
    want: { score: 1, passed: true },
  },
  { name: 'the order of calls inside a message is free', got: [asks(a, b)], reference: [asks(b, a)], options: {}, want: { score: 1 } },
  {
    name: 'calls belong to their message',
    got: [asks(a), asks(b)],
    reference: [asks(b), asks(a)],
    options: {},
    want: {
      score: 0,
      details: {
        matched_count: 0,
        differences: [
          { index: 0, problem: 'calls' },
          { index: 1, problem: 'calls' },
        ],
      },
    },
  },
  {
    name: 'another role is a difference',
    got: [user, user],
    reference: [user, says],
    options: {},
    want: {
      score: 0,
      explanation: 'The run differs from the reference; the first difference is at message 2 (user instead of assistant).',
    },
  },
  {
    name: 'a missing message is a difference',
    got: [user],
    reference: [user, says],
    options: {},
    want: { score: 0, details: { differences: [{ index: 1, problem: 'missing_message', expected_role: 'assistant' }] } },
  },
  {
    name: 'graded, strict is the share of messages that agree',
    got: [user, asks(a), says],
    reference: [user, asks(b), says],
    options: { graded: true },
    want: { score: 2 / 3 },
  },
  {
    name: 'unordered wants the same calls anywhere',
    got: [asks(a, b)],
    reference: [asks(b), asks(a), says],
    options: { compare: 'unordered' },
    want: { score: 1, details: { precision: 1, recall: 1 } },
  },
  {
    name: 'unordered takes the best pairing',
    got: [asks(wide, a)],
    reference: [asks(a, wide)],
    options: { compare: 'unordered', arguments: { mode: 'subset' } },
    want: { score: 1 },
  },
  {
    name: 'graded, unordered is over the longer side',
    got: [asks(a, b)],
    reference: [asks(a)],
    options: { compare: 'unordered', graded: true },
    want: { score: 0.5 },
  },
  { name: 'subset allows omissions', got: [asks(a)], reference: [asks(a, b)], options: { compare: 'subset' }, want: { score: 1 } },
  { name: 'subset allows no further calls', got: [asks(a, b)], reference: [asks(a)], options: { compare: 'subset' }, want: { score: 0 } },
  { name: 'superset allows further calls', got: [asks(a, b)], reference: [asks(a)], options: { compare: 'superset' }, want: { score: 1 } },
  {
    name: 'superset allows no omissions',
    got: [asks(a)],
    reference: [asks(a, b)],
    options: { compare: 'superset' },
    want: { score: 0, details: { missing_calls: [{ index: 1, tool: 'b' }] } },
  },
  {
    name: 'further arguments are free in subset mode',
    got: [asks(wide)],
    reference: [asks(a)],
    options: { arguments: { mode: 'subset' } },
    want: { score: 1 },
  },
  {
    name: 'the modes of arguments change places where the reference contains the run',
    got: [asks(wide)],
    reference: [asks(a)],
    options: { compare: 'subset', arguments: { overrides: { a: { mode: 'subset' } } } },
    want: { score: 0 },
  },
  {
    name: 'and the other way round',
    got: [asks(wide)],
    reference: [asks(a)],
    options: { compare: 'subset', arguments: { overrides: { a: 'superset' } } },
    want: { score: 1 },
  },
  {
    name: 'only fields of one tool may be compared',
    got: [asks(wide)],
    reference: [asks(['a', { x: 1, y: 3 }])],
    options: { arguments: { overrides: { a: { fields: ['x'] } } } },
    want: { score: 1 },
  },
  {
    name: 'names may be normalised',
    got: [asks(['agent_x7c9', {}])],
    reference: [asks(['agent', {}])],
    options: { normalize_tool_names: true },
    want: { score: 1 },
  },
  { name: 'nothing on either side is right', got: [], reference: [], options: {}, want: { score: 1 } },
];
for (const { name, got, reference, options, want } of rows) {
  test(`trajectory_match: ${name}`, () => {
    expect(scored(got, reference, options)).toMatchObject({ kind: 'scored', ...want });
  });
}

test('trajectory_match: the sentence names what is missing and what is extra, and the extra call is evidence', () => {
  const trace = agentTrace({ toolCalls: [call({ name: 'a', arguments: { x: 2 }, spanId: spanId(1) })] });
  expect(
    score({ entry: { use: 'trajectory_match', options: { compare: 'unordered' }, expect: { messages: [asks(a)] } }, trace }),
  ).toMatchObject({
    explanation: 'The run differs from the reference; missing: a (nearest is a (call 1): "x" differs); extra: a (call 1).',
    evidence: [spanId(1)],
  });
});

test('trajectory_match: a run without messages is compared by its input, turns of calls, results and response', () => {
  const toolCalls = [call({ name: 'a', turn: 1 }), call({ name: 'b', turn: 1 }), call({ name: 'a' })];
  const trace = agentTrace({ input: 'u', toolCalls, finalResponse: 'done' });
  const tool: JsonObject = { role: 'tool', content: 'r' };
  const reference = [user, asks(['b', {}], ['a', {}]), tool, tool, asks(['a', {}]), tool, says];
  expect(score({ entry: { use: 'trajectory_match', expect: { messages: reference } }, trace })).toMatchObject({
    score: 1,
    details: { messages_told: false, message_count: 7 },
  });
});

test('trajectory_match: it is skipped without a reference, without tool data, without arguments, or when it is too large', () => {
  const entry = { use: 'trajectory_match', expect: { messages: [asks(a)] } };
  expect(score({ entry: { use: 'trajectory_match' }, trace: agentTrace() })).toMatchObject({ kind: 'skipped', reason: 'no_expectation' });
  expect(score({ entry, trace: agentTrace({ toolCallsCarried: false }) })).toMatchObject({
    kind: 'skipped',
    reason: 'tool_calls_not_carried',
  });
  expect(score({ entry, trace: agentTrace({ toolCalls: [call({ name: 'a', arguments: undefined })] }) })).toMatchObject({
    kind: 'skipped',
    reason: 'arguments_not_carried',
  });
  expect(score({ entry, trace: agentTrace({ toolCalls: [call(), call()] }), limits: { toolCallsMax: 1 } })).toMatchObject({
    kind: 'skipped',
    reason: 'too_large',
  });
});

const refused: readonly { readonly messages: JsonValue; readonly path: readonly (string | number)[] }[] = [
  { messages: 'x', path: ['expect', 'messages'] },
  { messages: [{ content: 'x' }], path: ['expect', 'messages', 0, 'role'] },
  { messages: [{ role: 'assistant', tool_calls: [{ name: 't', args: '{"a' }] }], path: ['expect', 'messages', 0, 'tool_calls'] },
];
for (const { messages, path } of refused) {
  test(`trajectory_match: the reference ${JSON.stringify(messages)} is refused with its path`, () => {
    const configuration = configuredEvaluator({ use: 'trajectory_match', expect: { messages } }, evaluators);
    expect(configuration.kind === 'faulty' ? configuration.faults.map((fault) => fault.path) : []).toContainEqual(path);
  });
}
