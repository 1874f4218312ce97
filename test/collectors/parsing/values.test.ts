/** Arguments and results without what frameworks put around them. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonOf, parseText, textOfParts, writtenValue } from '../../../collectors/parsing/parsing.ts';
import { pythonLiteralCharsMax } from '../../../collectors/parsing/python-literal.ts';
import { readArguments, readResult } from '../../../collectors/parsing/values.ts';
import { jsonText, type JsonValue } from '../../../src/model/json.ts';
import type { AttributeValue } from '../../../src/model/span.ts';

const trip = { destination: 'CDG', nights: 2 };
const text = JSON.stringify(trip);

const deep = `{"x":${'['.repeat(200)}${']'.repeat(200)}}`;
const long = `{'x': '${'a'.repeat(pythonLiteralCharsMax)}'}`;

const argumentFrames: readonly { readonly name: string; readonly raw: AttributeValue; readonly read: object }[] = [
  { name: 'an object', raw: trip, read: { arguments: trip } },
  { name: 'JSON', raw: text, read: { arguments: trip } },
  { name: 'JSON in a JSON text', raw: JSON.stringify(text), read: { arguments: trip } },
  { name: 'JSON three levels deep', raw: JSON.stringify(JSON.stringify(text)), read: { arguments: trip } },
  { name: '{"kwargs":{}}', raw: JSON.stringify({ kwargs: trip }), read: { arguments: trip } },
  { name: '{"args":[],"kwargs":{}}', raw: JSON.stringify({ args: [], kwargs: trip }), read: { arguments: trip } },
  { name: '{"args":[{}],"kwargs":{}}', raw: JSON.stringify({ args: [trip], kwargs: {} }), read: { arguments: trip } },
  { name: '{"args":["JSON"],"kwargs":{}}', raw: JSON.stringify({ args: [text], kwargs: {} }), read: { arguments: trip } },
  {
    name: 'smolagents’ three members',
    raw: JSON.stringify({ args: [], sanitize_inputs_outputs: true, kwargs: trip }),
    read: { arguments: trip },
  },
  {
    name: '{"input_str":"Python notation"}',
    raw: JSON.stringify({ input_str: "{'destination': 'CDG', 'nights': 2}", tags: [], metadata: {} }),
    read: { arguments: trip },
  },
  { name: 'a frame around no arguments at all', raw: '{"args":[],"kwargs":{}}', read: { arguments: {} } },
  { name: 'positional arguments with unknown names', raw: '{"args":["JFK","CDG"],"kwargs":{}}', read: {} },
  { name: 'one argument by its place', raw: '{"args":["JFK"],"kwargs":{}}', read: {} },
  { name: 'arguments by place and by name', raw: '{"args":["JFK"],"kwargs":{"destination":"CDG"}}', read: {} },
  {
    name: 'a place that holds a broken object',
    raw: '{"args":["{\\"x\\":"],"kwargs":{}}',
    read: { arguments: null, argumentsText: '{"args":["{\\"x\\":"],"kwargs":{}}' },
  },
  {
    name: 'a tool with a real argument kwargs',
    raw: { kwargs: trip, other: 1 },
    read: { arguments: { kwargs: trip, other: 1 } },
  },
  { name: 'nothing', raw: '  ', read: { arguments: {} } },
  { name: 'an object nested deeper than is read', raw: deep, read: { argumentsPart: deep } },
  {
    name: 'a list nested deeper than is read, which is not an object',
    raw: `[${deep}]`,
    read: { arguments: null, argumentsText: `[${deep}]` },
  },
  { name: 'an object of Python that is longer than is read', raw: long, read: { argumentsPart: long } },
  { name: 'a list', raw: '[1]', read: { arguments: null, argumentsText: '[1]' } },
  { name: 'a list with a large integer', raw: [2n ** 63n], read: { arguments: null, argumentsText: '[9223372036854775808]' } },
  { name: 'bytes', raw: new Uint8Array([1]), read: { arguments: null, argumentsText: '"AQ=="' } },
  { name: 'integers beyond 2^53', raw: '{"id":1234567890123456789}', read: { arguments: { id: 1234567890123456789n } } },
];

const flight = { flight: 'AF007' };
const carried = JSON.stringify(flight);

const resultFrames: readonly { readonly name: string; readonly raw: AttributeValue; readonly read: object }[] = [
  { name: '{"content":…}', raw: { content: carried }, read: { result: flight } },
  {
    name: '{"output":{…}} around a message',
    raw: JSON.stringify({ output: { type: 'tool', content: carried, tool_call_id: 'c1' } }),
    read: { result: flight, callId: 'c1' },
  },
  { name: '{"output":{…}} of a user', raw: { output: { price: 1 } }, read: { result: { output: { price: 1 } } } },
  {
    name: '{"type":"tool","data":{…}}',
    raw: JSON.stringify({ type: 'tool', data: { content: carried, tool_call_id: 'c1', name: 't', status: 'success' } }),
    read: { result: flight, callId: 'c1', toolName: 't' },
  },
  {
    name: '{"type":"tool","data":{…}} that failed',
    raw: { type: 'tool', data: { content: 'boom', tool_call_id: 'c1', status: 'error' } },
    read: { result: 'boom', callId: 'c1', failed: true },
  },
  {
    name: '{"lc":1,"kwargs":{"content":…}}',
    raw: JSON.stringify({
      lc: 1,
      type: 'constructor',
      id: ['ToolMessage'],
      kwargs: { content: carried, tool_call_id: 'c1', status: 'error' },
    }),
    read: { result: flight, callId: 'c1', failed: true },
  },
  { name: '{"output":{"lc":1,…}}', raw: { output: { lc: 1, kwargs: { content: carried } } }, read: { result: flight } },
  {
    name: '{"type":"text","value":{"lc":1,…}}',
    raw: { type: 'text', value: { lc: 1, kwargs: { content: carried } } },
    read: { result: flight },
  },
  { name: 'a value with its unit', raw: { type: 'percent', value: { of: 5 } }, read: { result: { type: 'percent', value: { of: 5 } } } },
  {
    name: '{"blocks":[{"text":…}]}',
    raw: JSON.stringify({ blocks: [{ block_type: 'text', text: "{'flight': 'AF007'}" }], tool_name: 't', is_error: true }),
    read: { result: flight, failed: true },
  },
  { name: '[{"text":…}]', raw: JSON.stringify([{ text: carried }]), read: { result: flight } },
  { name: '{"type":"text","text":…}', raw: { type: 'text', text: carried }, read: { result: flight } },
  {
    name: '{"type":"text","text":…,"annotations":null}',
    raw: JSON.stringify({ type: 'text', text: carried, annotations: null }),
    read: { result: flight },
  },
  {
    name: '{"id","name","response"}',
    raw: JSON.stringify({ id: 'c1', name: 't', response: flight }),
    read: { result: flight, callId: 'c1' },
  },
  ...['lg_name', 'graph'].map((sign) => ({
    name: `LangGraph’s command with ${sign}, whose message answers`,
    raw: {
      output: {
        [sign]: sign === 'graph' ? null : 'Command',
        update: { files: {}, messages: [{ lc: 1, kwargs: { content: carried, tool_call_id: 'c1' } }] },
        goto: [],
      },
    },
    read: { result: flight, callId: 'c1' },
  })),
  {
    name: 'a command without a message',
    raw: { lg_name: 'Command', update: { seen: true }, goto: [] },
    read: { result: { lg_name: 'Command', update: { seen: true }, goto: [] } },
  },
  {
    name: 'what is said of a failure and nothing else',
    raw: { status: 'error', message: 'no such flight' },
    read: { result: 'no such flight', failed: true },
  },
  {
    name: 'the state of something that a tool looked up',
    raw: { status: 'error', message: 'late', order: 'A-1' },
    read: { result: { status: 'error', message: 'late', order: 'A-1' } },
  },
  { name: 'an MCP result', raw: { content: [{ type: 'text', text: carried }], isError: false }, read: { result: flight } },
  {
    name: 'a result of Strands and Bedrock, with the id of its call',
    raw: { toolUseId: 'c1', status: 'success', content: [{ text: carried }] },
    read: { result: flight, callId: 'c1' },
  },
  {
    name: 'a result of Strands and Bedrock that failed',
    raw: { toolUseId: 'c1', status: 'error', content: [{ text: 'boom' }] },
    read: { result: 'boom', callId: 'c1', failed: true },
  },
  {
    name: 'an object that happens to have a content among others',
    raw: { content: 'c', author: 'a' },
    read: { result: { content: 'c', author: 'a' } },
  },
  { name: 'an object that happens to have a type', raw: { type: 'text', size: 4 }, read: { result: { type: 'text', size: 4 } } },
  { name: 'an empty list', raw: '[]', read: { result: [] } },
  { name: 'a list of other things', raw: [{ text: 'a', id: 1 }], read: { result: [{ text: 'a', id: 1 }] } },
  { name: 'null', raw: null, read: { result: null } },
  { name: 'a text with a quote at either end that is not JSON', raw: '"a" and "b"', read: { result: '"a" and "b"' } },
];

const json = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<JsonValue>;

describe('values', () => {
  for (const { name, raw, read } of argumentFrames) test(`values: arguments as ${name}`, () => expect(readArguments(raw)).toEqual(read));
  test('values: a call of the tool with its arguments is the arguments', () => {
    const call = { name: 't', arguments: { x: 1 } };
    expect(readArguments(JSON.stringify(call), 't')).toEqual({ arguments: { x: 1 } });
    expect(readArguments({ ...call, arguments: '{"x":1}', id: 'c1' }, 't')).toEqual({ arguments: { x: 1 } });
    expect(readArguments(call, 'call_tool')).toEqual({ arguments: call });
    expect(readArguments(call)).toEqual({ arguments: call });
  });
  for (const { name, raw, read } of resultFrames) test(`values: a result as ${name}`, () => expect(readResult(raw)).toEqual(read));

  test('values: absent arguments are unknown', () => expect(readArguments(undefined)).toEqual({}));

  test('values: arguments survive any number of the known frames', () => {
    const frames: readonly ((value: JsonValue) => JsonValue)[] = [
      (value) => jsonText(value),
      (value) => (typeof value === 'string' ? { input_str: value } : { kwargs: value, args: [] }),
      (value) => ({ args: [value], kwargs: {} }),
    ];
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom('a', 'b', '__proto__', 'toString'), json),
        fc.array(fc.constantFrom(...frames), { maxLength: 3 }),
        (value, around) => {
          const framed = around.reduce<JsonValue>((inner, frame) => frame(inner), value);
          // As texts: a large whole number may come back as a big integer.
          expect(jsonText(readArguments(framed).arguments ?? 'none')).toBe(jsonText(value));
        },
      ),
    );
  });

  test('values: what is written as JSON keeps its type, and what is not stays a text', () => {
    expect([undefined, 'null', '42', '"42"', 'true', '{"a":1}', 'plain', ''].map(writtenValue)).toEqual([
      undefined,
      null,
      42,
      '42',
      true,
      { a: 1 },
      'plain',
      '',
    ]);
  });

  test('values: bytes anywhere in a value become base64', () => {
    expect(jsonOf([new Uint8Array([255]), { a: { b: new Uint8Array([0]) } }])).toEqual(['/w==', { a: { b: 'AA==' } }]);
  });

  test('values: a value that holds no bytes is given unchanged', () => {
    const value = { a: [1] };
    expect(jsonOf(value)).toBe(value);
  });

  test('values: only texts that hold an object, a list or a quoted text are parsed', () => {
    expect(['1', 'true', 'null', ' {"a":1} ', '"a"', "{'a': 1}", '[1', '{}x'].map(parseText)).toEqual([
      '1',
      'true',
      'null',
      { a: 1 },
      'a',
      { a: 1 },
      '[1',
      '{}x',
    ]);
  });

  test('values: texts of parts are put together, and a list that holds anything else is left unchanged', () => {
    expect([
      textOfParts([{ type: 'text', text: 'a' }, { type: 'output_text', text: 'b' }, { text: 'c' }]),
      textOfParts([{ type: 'image', url: 'x' }]),
      textOfParts([]),
      textOfParts(['a']),
    ]).toEqual([{ result: 'abc' }, undefined, undefined, undefined]);
  });
});
