import { expect, test } from 'vitest';
import type { ToolCall } from '../../src/model/agent-trace.ts';
import type { JsonObject, JsonValue } from '../../src/model/json.ts';
import { agentTrace, call, spanId } from '../builders/agent-trace.ts';
import { score } from './score.ts';

const entry = { use: 'argument_provenance' };
const input = 'Book 2 rooms in Oslo for Ann-Marie, at most 1,500.50 EUR, ref AB-12';

const values: readonly { readonly sent: JsonObject; readonly grounded: boolean }[] = [
  { sent: { city: 'oslo' }, grounded: true },
  { sent: { city: ' OSLO ' }, grounded: true },
  { sent: { city: 'OSL' }, grounded: false },
  { sent: { city: 'slo' }, grounded: false },
  { sent: { name: 'Ann-Marie' }, grounded: true },
  { sent: { rooms: 2 }, grounded: true },
  { sent: { rooms: '2' }, grounded: true },
  { sent: { rooms: 12 }, grounded: true },
  { sent: { rooms: 1 }, grounded: false },
  { sent: { price: 1500.5 }, grounded: true },
  { sent: { price: -1500.5 }, grounded: false },
  { sent: { nested: [{ ref: 'AB-12' }] }, grounded: true },
  { sent: { nested: [{ ref: 'AB-13' }] }, grounded: false },
  { sent: { flag: true, none: null, empty: '', list: [] }, grounded: true },
  { sent: {}, grounded: true },
];
for (const { sent, grounded } of values) {
  test(`argument_provenance: ${JSON.stringify(sent)} is ${grounded ? '' : 'not '}in the input`, () => {
    expect(score({ entry, trace: agentTrace({ input, toolCalls: [call({ arguments: sent })] }) })).toMatchObject({
      kind: 'scored',
      score: grounded ? 1 : 0,
      passed: null,
    });
  });
}

const find = (result: JsonValue, more: Partial<ToolCall> = {}) => call({ name: 'find', arguments: {}, result, ...more });
const book = (id: string, more: Partial<ToolCall> = {}) =>
  call({ name: 'book', arguments: { id }, result: 'ok', spanId: spanId(7), ...more });
const flows: readonly { readonly name: string; readonly toolCalls: readonly ToolCall[]; readonly want: number }[] = [
  { name: 'a value of an earlier result has a source', toolCalls: [find({ rooms: [{ id: 'r-9' }] }), book('r-9')], want: 1 },
  { name: 'a key of an earlier result is a source', toolCalls: [find({ 'r-9': 'free' }), book('r-9')], want: 1 },
  { name: 'a result that is JSON text is read', toolCalls: [find('{"id": "caf\\u00e9"}'), book('caf\u00e9')], want: 1 },
  { name: 'a later result is not a source', toolCalls: [book('r-9'), find('r-9')], want: 0.5 },
  { name: 'a value that a call returned has a source from then on', toolCalls: [book('r-9'), find('r-9'), book('r-9')], want: 2 / 3 },
  { name: 'a call of the same turn is not a source', toolCalls: [find('r-9', { turn: 1 }), book('r-9', { turn: 1 })], want: 0.5 },
  { name: 'a call of an earlier turn is one', toolCalls: [find('r-9', { turn: 1 }), book('r-9', { turn: 2 })], want: 1 },
  {
    name: 'what an error said is a source',
    toolCalls: [find(null, { error: { message: 'use r-9 instead', sign: 'is_error' } }), book('r-9')],
    want: 1,
  },
];
for (const { name, toolCalls, want } of flows) {
  test(`argument_provenance: ${name}`, () => {
    expect(score({ entry, trace: agentTrace({ input, toolCalls }) })).toMatchObject({ kind: 'scored', score: want });
  });
}

test('argument_provenance: the culprits are named with their paths, values and spans', () => {
  const toolCalls = [book('r-1', { arguments: { guest: { id: 'r-1' }, rooms: 2 } }), find('x')];
  expect(score({ entry, trace: agentTrace({ input, toolCalls }) })).toMatchObject({
    explanation: '1 of 2 tool calls has arguments of unknown origin: book (call 1): guest.id "r-1".',
    evidence: [spanId(7)],
    parts: [{ passed: false }, { passed: true }],
    details: { grounded: 1, total: 2, ungrounded: [{ index: 0, tool: 'book', values: 2, ungrounded: 1, paths: ['guest.id'] }] },
  });
});

test('argument_provenance: tools can be left out, and the system prompt is a source', () => {
  const trace = agentTrace({
    input,
    systemPrompt: 'The hotel id is h-1.',
    toolCalls: [call({ name: 'think', arguments: { text: 'new' } }), book('h-1')],
  });
  expect(score({ entry: { ...entry, options: { ignore_tools: ['think'] } }, trace })).toMatchObject({ score: 1, details: { total: 1 } });
});

const skips = [
  { name: 'no call', trace: agentTrace({ input }), reason: 'no_tool_calls' },
  { name: 'no input', trace: agentTrace({ toolCalls: [call()] }), reason: 'no_input' },
  { name: 'no arguments', trace: agentTrace({ input, toolCalls: [call({ arguments: undefined })] }), reason: 'arguments_not_carried' },
  { name: 'no tool data', trace: agentTrace({ input, toolCallsCarried: false }), reason: 'tool_calls_not_carried' },
  { name: 'sources that are too long', trace: agentTrace({ input: 'x'.repeat(2_000_001), toolCalls: [call()] }), reason: 'too_large' },
  {
    name: 'too many different values for long sources',
    trace: agentTrace({
      input: 'x'.repeat(1_000_000),
      toolCalls: [call({ arguments: { list: Array.from({ length: 201 }, (_, at) => `v${at}`) } })],
    }),
    reason: 'too_large',
  },
] as const;
for (const { name, trace, reason } of skips) {
  test(`argument_provenance: ${name} is skipped as ${reason}`, () => {
    expect(score({ entry, trace })).toMatchObject({ kind: 'skipped', reason });
  });
}

const words = 'aa '.repeat(650_000);
const within = { city: 'a' };
const busy: readonly { readonly name: string; readonly toolCalls: readonly ToolCall[]; readonly want: JsonObject }[] = [
  {
    name: 'a value within words at too many places is skipped',
    toolCalls: [call({ arguments: within })],
    want: { kind: 'skipped', reason: 'too_large' },
  },
  {
    name: 'such a value hides no other that has no source',
    toolCalls: [call({ arguments: within }), call({ arguments: { id: 'r-1' } })],
    want: { kind: 'scored', score: 0, details: { grounded: 0, total: 1, unsearched: [{ index: 0 }] } },
  },
  {
    name: 'such a value beside one without a source is a fault of its call',
    toolCalls: [call({ arguments: { ...within, id: 'r-1' } })],
    want: { kind: 'scored', score: 0, details: { grounded: 0, total: 1 } },
  },
  {
    name: 'such a value keeps no other call green',
    toolCalls: [call({ arguments: within }), call({ arguments: { id: 'aa' } })],
    want: { kind: 'skipped', reason: 'too_large' },
  },
];
for (const { name, toolCalls, want } of busy) {
  test(`argument_provenance: ${name}`, () => {
    expect(score({ entry, trace: agentTrace({ input: words, toolCalls }) })).toMatchObject(want);
  });
}
