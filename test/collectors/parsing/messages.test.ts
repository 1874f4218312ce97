/** Every family of conversations, in one shape. */
import { describe, expect, test } from 'vitest';
import { lastText, messagesMax, readMessages, systemText } from '../../../collectors/parsing/messages.ts';
import type { AttributeValue } from '../../../src/model/span.ts';

/** The same exchange, as every family writes it: a question, two calls, their results, the answer. */
const exchange = [
  { role: 'system', text: 'be kind', requested: [], results: [] },
  { role: 'user', text: 'q', requested: [], results: [] },
  { role: 'assistant', requested: [{ id: 'c1', name: 'f', arguments: { x: 1 } }], results: [] },
  { role: 'tool', requested: [], results: [{ id: 'c1', result: { r: 1 } }] },
  { role: 'assistant', text: 'a', requested: [], results: [] },
];

const families: readonly { readonly name: string; readonly messages: AttributeValue }[] = [
  {
    name: 'OpenAI chat',
    messages: [
      { role: 'developer', content: 'be kind' },
      { role: 'user', content: [{ type: 'text', text: 'q' }] },
      { role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{"x":1}' } }] },
      { role: 'tool', tool_call_id: 'c1', content: '{"r":1}' },
      { role: 'assistant', content: 'a', refusal: null },
    ],
  },
  {
    name: 'OpenAI chat with the calls as the content',
    messages: [
      { role: 'system', content: 'be kind' },
      { role: 'user', content: 'q' },
      { role: 'assistant', content: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{"x":1}' } }] },
      { role: 'tool', tool_call_id: 'c1', content: '{"r":1}' },
      { role: 'assistant', content: 'a' },
    ],
  },
  {
    name: 'OpenAI chat with the calls as one JSON text',
    messages: [
      { role: 'system', content: 'be kind' },
      { role: 'user', content: 'q' },
      { role: 'assistant', tool_calls: '[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\\"x\\":1}"}}]' },
      { role: 'tool', tool_call_id: 'c1', content: '{"r":1}' },
      { role: 'assistant', content: 'a' },
    ],
  },
  {
    name: 'LlamaIndex with blocks, and the calls in what the API answered besides',
    messages: [
      { role: 'system', additional_kwargs: {}, blocks: [{ block_type: 'text', text: 'be kind' }] },
      { role: 'user', additional_kwargs: {}, blocks: [{ block_type: 'text', text: 'q' }] },
      {
        role: 'assistant',
        additional_kwargs: { tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{"x":1}' } }] },
        blocks: [{ block_type: 'tool_call', tool_call_id: 'c1', tool_name: 'f', tool_kwargs: '{"x":1}' }],
      },
      { role: 'tool', tool_call_id: 'c1', content: '{"r":1}' },
      { role: 'assistant', additional_kwargs: {}, blocks: [{ block_type: 'text', text: 'a' }] },
    ],
  },
  {
    name: 'OpenAI Responses items',
    messages: [
      { role: 'system', content: 'be kind' },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'q' }] },
      { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'f', arguments: '{"x":1}', status: 'completed' },
      { type: 'function_call_output', call_id: 'c1', output: '{"r":1}' },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'a' }] },
    ],
  },
  {
    name: 'the GenAI conventions',
    messages: [
      { role: 'system', parts: [{ type: 'text', content: 'be kind' }] },
      { role: 'user', parts: [{ type: 'text', content: 'q' }] },
      { role: 'assistant', parts: [{ type: 'tool_call', id: 'c1', name: 'f', arguments: { x: 1 } }], finish_reason: 'tool_call' },
      { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c1', response: '{"r":1}' }] },
      { role: 'assistant', parts: [{ type: 'text', content: 'a' }] },
    ],
  },
  {
    name: 'Anthropic blocks',
    messages: [
      { role: 'system', content: 'be kind' },
      { role: 'user', content: 'q' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'f', input: { x: 1 } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: '{"r":1}' }] }] },
      { role: 'assistant', content: [{ type: 'text', text: 'a' }] },
    ],
  },
  {
    name: 'Gemini contents in camel case',
    messages: {
      contents: [
        { role: 'system', parts: [{ text: 'be kind' }] },
        { role: 'user', parts: [{ text: 'q' }] },
        { role: 'model', parts: [{ functionCall: { id: 'c1', name: 'f', args: { x: 1 } } }] },
        { role: 'user', parts: [{ functionResponse: { id: 'c1', response: { result: '{"r":1}' } } }] },
        { role: 'model', parts: [{ text: 'a' }] },
      ],
    },
  },
  {
    name: 'Gemini contents in snake case',
    messages: {
      contents: [
        { role: 'system', parts: [{ text: 'be kind' }] },
        { role: 'user', parts: [{ text: 'q' }] },
        { role: 'model', parts: [{ function_call: { id: 'c1', name: 'f', args: { x: 1 } } }] },
        { role: 'user', parts: [{ function_response: { id: 'c1', response: { r: 1 } } }] },
        { role: 'model', parts: [{ text: 'a' }] },
      ],
    },
  },
  {
    name: 'Genkit',
    messages: {
      messages: [
        { role: 'system', content: [{ text: 'be kind' }] },
        { role: 'user', content: [{ text: 'q' }] },
        { role: 'model', content: [{ toolRequest: { name: 'f', ref: 'c1', input: { x: 1 } } }] },
        { role: 'tool', content: [{ toolResponse: { ref: 'c1', output: { r: 1 } } }] },
        { role: 'model', content: [{ text: 'a' }] },
      ],
    },
  },
  {
    name: 'the AI SDK',
    messages: [
      { role: 'system', content: 'be kind' },
      { role: 'user', content: [{ type: 'text', text: 'q' }] },
      { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'f', input: { x: 1 } }] },
      { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c1', output: { type: 'json', value: { r: 1 } } }] },
      { role: 'assistant', content: [{ type: 'text', text: 'a' }] },
    ],
  },
  {
    name: 'LangChain constructors',
    messages: [
      { lc: 1, type: 'constructor', id: ['langchain_core', 'messages', 'SystemMessage'], kwargs: { content: 'be kind' } },
      { lc: 1, id: ['HumanMessage'], kwargs: { content: 'q' } },
      { lc: 1, id: ['AIMessage'], kwargs: { content: '', tool_calls: [{ id: 'c1', name: 'f', args: { x: 1 }, type: 'tool_call' }] } },
      { lc: 1, id: ['ToolMessage'], kwargs: { content: '{"r":1}', tool_call_id: 'c1' } },
      { lc: 1, id: ['AIMessage'], kwargs: { content: 'a' } },
    ],
  },
  {
    name: 'LangChain dictionaries, a list in a list',
    messages: [
      [
        { type: 'system', data: { content: 'be kind' } },
        { type: 'human', data: { content: 'q' } },
        { type: 'ai', data: { content: '', tool_calls: [{ id: 'c1', name: 'f', args: { x: 1 } }] } },
        { type: 'tool', data: { content: '{"r":1}', tool_call_id: 'c1' } },
        { type: 'ai', data: { content: 'a' } },
      ],
    ],
  },
  {
    name: 'Bedrock blocks',
    messages: {
      messages: [
        { role: 'system', content: [{ text: 'be kind' }] },
        { role: 'user', content: [{ text: 'q' }] },
        { role: 'assistant', content: [{ toolUse: { toolUseId: 'c1', name: 'f', input: { x: 1 } } }] },
        { role: 'user', content: [{ toolResult: { toolUseId: 'c1', content: [{ text: '{"r":1}' }], status: 'success' } }] },
        { role: 'assistant', content: [{ text: 'a' }] },
      ],
    },
  },
];

const single: readonly { readonly name: string; readonly raw: AttributeValue | undefined; readonly messages: readonly object[] }[] = [
  {
    name: 'parts of a text that are written as one text',
    raw: [{ role: 'system', content: '[{"type":"text","text":"You "},{"type":"text","text":"help."}]' }],
    messages: [{ role: 'system', text: 'You help.' }],
  },
  {
    name: 'a text that begins like parts and is none',
    raw: [{ role: 'user', content: '[{"type":"text","text":"You' }],
    messages: [{ role: 'user', text: '[{"type":"text","text":"You' }],
  },
  { name: 'nothing', raw: undefined, messages: [] },
  { name: 'an empty text', raw: '', messages: [] },
  { name: 'a plain text', raw: 'q', messages: [{ role: 'user', text: 'q' }] },
  { name: 'one message', raw: '{"role":"assistant","content":"a"}', messages: [{ role: 'assistant', text: 'a' }] },
  { name: 'a pair of role and text', raw: ['human', 'q'], messages: [{ role: 'user', text: 'q' }] },
  {
    name: 'pairs of role and text',
    raw: '{"messages":[["system","s"],["user","q"]]}',
    messages: [
      { role: 'system', text: 's' },
      { role: 'user', text: 'q' },
    ],
  },
  {
    name: 'a choice around a message',
    raw: [{ index: 0, message: { role: 'assistant', content: 'a' } }],
    messages: [{ role: 'assistant', text: 'a' }],
  },
  {
    name: 'texts of several parts',
    raw: [{ role: 'user', content: ['a', { type: 'text', text: 'b' }, { type: 'image', url: 'x' }] }],
    messages: [{ role: 'user', text: 'ab' }],
  },
  {
    name: 'reasoning and thinking',
    raw: [
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm' },
          { type: 'reasoning', text: 'so' },
          { type: 'text', text: 'a' },
        ],
      },
    ],
    messages: [{ text: 'a', reasoning: 'hm\nso' }],
  },
  {
    name: 'a failed result of the AI SDK',
    raw: [{ role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c1', output: { type: 'error-text', value: 'boom' } }] }],
    messages: [{ results: [{ id: 'c1', result: 'boom', isError: true }] }],
  },
  {
    name: 'a failed result of Anthropic',
    raw: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'boom', is_error: true }] }],
    messages: [{ role: 'tool', results: [{ result: 'boom', isError: true }] }],
  },
  {
    name: 'a failed tool message of LangChain',
    raw: [{ lc: 1, id: ['ToolMessage'], kwargs: { content: 'boom', tool_call_id: 'c1', status: 'error' } }],
    messages: [{ results: [{ id: 'c1', result: 'boom', isError: true }] }],
  },
  {
    name: 'results beside a question',
    raw: [
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c1', content: 'r' },
          { type: 'text', text: 'and now?' },
        ],
      },
    ],
    messages: [{ role: 'user', text: 'and now?', results: [{ id: 'c1', result: 'r' }] }],
  },
  {
    name: 'a call without a name is none',
    raw: [{ role: 'assistant', tool_calls: [{ id: 'c1', function: { arguments: '{}' } }, null, 'x'] }],
    messages: [{ requested: [] }],
  },
  {
    name: 'a call whose arguments are not an object',
    raw: [{ role: 'assistant', tool_calls: [{ id: 'c1', function: { name: 'f', arguments: '{"x":' } }] }],
    messages: [{ requested: [{ name: 'f', arguments: null, argumentsText: '{"x":' }] }],
  },
  {
    name: 'roles that are named like members of every object',
    raw: [
      { role: 'constructor', content: 'q' },
      { type: '__proto__', content: 'q' },
    ],
    messages: [
      { role: 'user', text: 'q' },
      { role: 'user', text: 'q' },
    ],
  },
  { name: 'values that are not messages', raw: [null, 1, true], messages: [] },
];

describe('messages', () => {
  for (const { name, messages } of families) {
    test(`messages: ${name}`, () => {
      expect(
        readMessages(messages).map(({ text, end: _end, ...rest }) => (text === undefined || text === '' ? rest : { ...rest, text })),
      ).toEqual(exchange);
      expect(readMessages(JSON.stringify(messages))).toEqual(readMessages(messages));
    });
  }
  for (const { name, raw, messages } of single) {
    test(`messages: ${name}`, () => {
      const read = readMessages(raw);
      expect(read).toHaveLength(messages.length);
      expect(read).toMatchObject(messages);
    });
  }

  test('messages: the role that a caller knows is taken where none is named', () => {
    expect(readMessages('a', 'assistant')).toMatchObject([{ role: 'assistant' }]);
    expect(readMessages([{ content: 'a' }], 'assistant')).toMatchObject([{ role: 'assistant' }]);
  });

  test('messages: the last text of a role and the first of the system', () => {
    const messages = readMessages([
      { role: 'system', content: 's' },
      { role: 'user', content: 'a' },
      { role: 'user', content: '' },
      { role: 'assistant', content: 'b' },
    ]);
    expect([lastText(messages, 'user'), lastText(messages, 'assistant'), lastText(messages, 'tool'), systemText(messages)]).toEqual([
      'a',
      'b',
      undefined,
      's',
    ]);
  });

  test('messages: a conversation that is too long is cut at its beginning', () => {
    const long = readMessages(Array.from({ length: messagesMax + 5 }, (_, index) => ({ role: 'user', content: `${index}` })));
    expect([long.length, long[0]?.text]).toEqual([messagesMax, '5']);
  });

  test('messages: a role as the only member, and calls under the name of tools', () => {
    expect(readMessages(['{"system": "be kind"}', '{"user": "q"}'])).toMatchObject([
      { role: 'system', text: 'be kind' },
      { role: 'user', text: 'q' },
    ]);
    expect(readMessages('{"assistant": "a"}', 'assistant')).toMatchObject([{ role: 'assistant', text: 'a' }]);
    const asked = '{"tools": [{"tool_id": "c1", "tool_name": "f", "tool_arguments": "{\\"x\\": 1}"}]}';
    expect(readMessages(asked, 'assistant')).toEqual([exchange[2]]);
  });

  test('messages: an answer with a user in it is not a message of the user, and an offered tool is not a call', () => {
    expect(readMessages('{"user": "bob"}', 'assistant').filter(({ role }) => role !== 'assistant')).toEqual([]);
    expect(readMessages('{"tools": [{"tool_name": "f"}]}', 'assistant').flatMap(({ requested }) => requested)).toEqual([]);
  });
});
