import { expect, test } from 'vitest';
import { fromMessages } from '../../src/library/openai-messages.ts';
import type { JsonObject, JsonValue } from '../../src/model/json.ts';

const user = (content: string): JsonObject => ({ role: 'user', content });
const asks = (id: string, name: string, sent: JsonValue = '{}', content: JsonValue = null): JsonObject => ({
  role: 'assistant',
  content,
  tool_calls: [{ id, type: 'function', function: { name, arguments: sent } }],
});
const tells = (id: string | undefined, content: JsonValue, more: JsonObject = {}): JsonObject => ({
  role: 'tool',
  content,
  ...(id === undefined ? {} : { tool_call_id: id }),
  ...more,
});

test('fromMessages: a conversation becomes a trace with input, calls, results, steps and response', () => {
  const { trace, orphanResults } = fromMessages([
    { role: 'system', content: 'Be kind.' },
    user('6 by 7?'),
    asks('c1', 'times', '{"a":6,"b":7}', 'I multiply.'),
    tells('c1', '42'),
    { role: 'assistant', content: '42.' },
  ]);
  expect(orphanResults).toBe(0);
  expect(trace).toMatchObject({
    systemPrompt: 'Be kind.',
    input: '6 by 7?',
    toolCalls: [{ id: 'c1', name: 'times', arguments: { a: 6, b: 7 }, result: '42', executed: true, turn: 2 }],
    messages: [
      { role: 'system', calls: [] },
      { role: 'user', calls: [] },
      { role: 'assistant', text: 'I multiply.', calls: [0] },
      { role: 'tool', text: '42', calls: [] },
      { role: 'assistant', text: '42.', calls: [] },
    ],
    reasoningSteps: ['I multiply.'],
    finalResponse: '42.',
    toolCallsCarried: true,
  });
});

const pairings = [
  {
    name: 'ids tell results apart',
    messages: [asks('a', 'x'), asks('b', 'x'), tells('b', 'B'), tells('a', 'A')],
    results: ['A', 'B'],
    orphans: 0,
  },
  {
    name: 'an id used again belongs to the latest call before the result',
    messages: [asks('a', 'x'), tells('a', '1'), asks('a', 'x'), tells('a', '2')],
    results: ['1', '2'],
    orphans: 0,
  },
  { name: 'a result before its call still finds it', messages: [tells('a', '1'), asks('a', 'x')], results: ['1'], orphans: 0 },
  {
    name: 'a later result replaces an earlier one',
    messages: [asks('a', 'x'), tells('a', 'part'), tells('a', 'whole')],
    results: ['whole'],
    orphans: 0,
  },
  {
    name: 'a result without id answers the earliest unanswered call',
    messages: [asks('a', 'x'), asks('b', 'y'), tells('a', '1'), tells(undefined, '2')],
    results: ['1', '2'],
    orphans: 0,
  },
  {
    name: 'a result without id but with a name answers a call of that name',
    messages: [asks('a', 'x'), asks('b', 'y'), { role: 'function', name: 'y', content: '2' }],
    results: [undefined, '2'],
    orphans: 0,
  },
  {
    name: 'a result that answers nothing is an orphan',
    messages: [asks('a', 'x'), tells('z', '1'), tells(undefined, '2'), tells(undefined, '3')],
    results: ['2'],
    orphans: 2,
  },
  {
    name: 'text parts are one text',
    messages: [
      asks('a', 'x'),
      tells('a', [
        { type: 'text', text: 'one ' },
        { type: 'text', text: 'two' },
      ]),
    ],
    results: ['one two'],
    orphans: 0,
  },
  { name: 'a structured result stays a value', messages: [asks('a', 'x'), tells('a', { n: 1 })], results: [{ n: 1 }], orphans: 0 },
];
for (const { name, messages, results, orphans } of pairings) {
  test(`fromMessages: ${name}`, () => {
    const { trace, orphanResults } = fromMessages(messages);
    expect(trace.toolCalls.map((call) => call.result)).toEqual(results);
    expect(trace.toolCalls.map((call) => call.executed)).toEqual(results.map((result) => result !== undefined));
    expect(orphanResults).toBe(orphans);
  });
}

const sent = [
  { name: 'an object is taken as it is', given: { a: 1 }, want: { arguments: { a: 1 } } },
  { name: 'blank text is no arguments', given: '  ', want: { arguments: {} } },
  { name: 'the word null is no arguments', given: 'null', want: { arguments: {} } },
  { name: 'null is no arguments', given: null, want: { arguments: {} } },
  { name: 'broken text is kept', given: '{"a": 1', want: { arguments: null, argumentsText: '{"a": 1' } },
  { name: 'a list is kept as text', given: [1, 2], want: { arguments: null, argumentsText: '[1,2]' } },
];
for (const { name, given, want } of sent) {
  test(`fromMessages: of arguments, ${name}`, () => {
    expect(fromMessages([asks('a', 'x', given)]).trace.toolCalls).toMatchObject([want]);
  });
}

test('fromMessages: flat calls and the older function_call are read', () => {
  const flat = { role: 'assistant', content: null, tool_calls: [{ id: 'c', name: 't', args: { a: 1 } }] };
  const older = { role: 'assistant', content: null, function_call: { name: 'u', arguments: '{"b":2}' } };
  expect(fromMessages([flat, older]).trace.toolCalls).toMatchObject([
    { id: 'c', name: 't', arguments: { a: 1 } },
    { name: 'u', arguments: { b: 2 } },
  ]);
});

test('fromMessages: a result marked as an error is the error of its call', () => {
  expect(fromMessages([asks('a', 'x'), tells('a', 'no', { status: 'error' })]).trace.toolCalls).toMatchObject([
    { error: { message: 'no', sign: 'result_status' } },
  ]);
});

test('fromMessages: members win over what the messages say', () => {
  expect(fromMessages([user('a')], { input: 'b', toolDefinitions: [{ name: 't' }] }).trace).toMatchObject({
    input: 'b',
    toolDefinitions: [{ name: 't' }],
  });
});

const faults: readonly { readonly messages: JsonValue; readonly says: string }[] = [
  { messages: {}, says: 'messages must be a list of messages' },
  { messages: ['x'], says: 'messages[0] must be a message with a role' },
  { messages: [user('x'), { content: 'y' }], says: 'messages[1].role must be a text' },
  { messages: [{ role: 'assistant', tool_calls: {} }], says: 'messages[0].tool_calls must be a list' },
  { messages: [{ role: 'assistant', tool_calls: [{ id: 'x' }] }], says: 'messages[0].tool_calls[0] must be a call with a name' },
  { messages: Array.from({ length: 5_001 }, () => user('x')), says: 'messages has more than 5000 messages' },
  {
    messages: [{ role: 'assistant', tool_calls: Array.from({ length: 5_001 }, () => ({ name: 't' })) }],
    says: 'messages[0].tool_calls makes more than 5000 calls with those before it',
  },
];
for (const { messages, says } of faults) {
  test(`fromMessages: it is refused when ${says}`, () => {
    expect(() => fromMessages(messages)).toThrow(says);
  });
}
