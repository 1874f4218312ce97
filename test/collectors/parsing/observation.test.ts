/** One input and one output, read as a run, a tool, a model or a retrieval. */
import { describe, expect, test } from 'vitest';
import { observedModel, observedRetrieval, observedRun, observedTool } from '../../../collectors/parsing/observation.ts';
import type { AttributeValue } from '../../../src/model/span.ts';

const chat = [{ role: 'user', content: 'q' }];
const definition = { type: 'function', function: { name: 't', description: 'd', parameters: { type: 'object' } } };
const question = { role: 'user', text: 'q', requested: [], results: [] };
const asks = { role: 'assistant', requested: [{ id: 'c1', name: 't', arguments: { x: 1 } }], results: [] };
const chunk = (delta: AttributeValue): AttributeValue => ({ choices: [{ index: 0, delta }] });
const says = { role: 'assistant', text: 'a', requested: [], results: [] };

const requests: readonly {
  readonly name: string;
  readonly input: AttributeValue;
  readonly messages: readonly object[];
  readonly tools?: readonly object[];
}[] = [
  { name: 'a list of messages', input: chat, messages: [question] },
  { name: 'JSON of a list', input: JSON.stringify(chat), messages: [question] },
  { name: 'a plain text is the user’s', input: 'q', messages: [question] },
  {
    name: 'a request as the chat API takes it',
    input: { model: 'm', messages: chat, tools: [definition] },
    messages: [question],
    tools: [{ name: 't', description: 'd', inputSchema: { type: 'object' } }],
  },
  { name: 'Gemini’s contents', input: { contents: [{ role: 'user', parts: [{ text: 'q' }] }] }, messages: [question] },
  {
    name: 'the Responses API’s input',
    input: { input: [{ role: 'user', content: [{ type: 'input_text', text: 'q' }] }] },
    messages: [question],
  },
  {
    name: 'the Responses API’s input as a text, with instructions',
    input: { instructions: 'be kind', input: 'q' },
    messages: [{ role: 'system', text: 'be kind', requested: [], results: [] }, question],
  },
  {
    name: 'a system text apart, as Anthropic takes it',
    input: { system: 'be kind', messages: chat },
    messages: [{ role: 'system', text: 'be kind', requested: [], results: [] }, question],
  },
  { name: 'LangChain’s prompts', input: { prompts: ['q'] }, messages: [question] },
  { name: 'a member that is null is passed over', input: { messages: null, input: 'q' }, messages: [question] },
  {
    name: 'tools among the messages',
    input: [...chat, { role: 'tool', content: definition }],
    messages: [question],
    tools: [{ name: 't', description: 'd', inputSchema: { type: 'object' } }],
  },
];

const responses: readonly { readonly name: string; readonly output: AttributeValue; readonly messages: readonly object[] }[] = [
  { name: 'a message', output: { role: 'assistant', content: 'a' }, messages: [says] },
  { name: 'a message without a role', output: { content: 'a' }, messages: [says] },
  { name: 'a plain text', output: 'a', messages: [says] },
  {
    name: 'choices',
    output: {
      choices: [
        {
          index: 0,
          finish_reason: 'tool_calls',
          message: {
            role: 'assistant',
            content: null,
            tool_calls: [{ id: 'c1', type: 'function', function: { name: 't', arguments: '{"x":1}' } }],
          },
        },
      ],
    },
    messages: [{ ...asks, end: 'tool_calls' }],
  },
  {
    name: 'generations, a list in a list',
    output: {
      generations: [[{ text: 'a', message: { lc: 1, type: 'constructor', id: ['langchain', 'AIMessage'], kwargs: { content: 'a' } } }]],
    },
    messages: [says],
  },
  { name: 'candidates', output: { candidates: [{ message: { role: 'model', content: [{ text: 'a' }] } }] }, messages: [says] },
  {
    name: 'output items',
    output: { output: [{ type: 'function_call', call_id: 'c1', name: 't', arguments: '{"x":1}' }] },
    messages: [asks],
  },
  { name: 'JSON in a text', output: '{"role":"assistant","content":"a"}', messages: [says] },
  { name: 'chunks of a streamed answer', output: JSON.stringify([chunk({ content: 'a' }), chunk({})]), messages: [says] },
  {
    name: 'chunks of a streamed answer with a call',
    output: [
      chunk({ role: 'assistant', tool_calls: [{ index: 0, id: 'c1', function: { name: 't', arguments: '' } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '{"x"' } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: ':1}' } }] }),
      { choices: [], usage: { prompt_tokens: 7 } },
    ],
    messages: [{ ...asks, text: '' }],
  },
];

const results: readonly { readonly name: string; readonly output: AttributeValue | undefined; readonly tool: object }[] = [
  { name: 'no output is unknown', output: undefined, tool: { name: 't' } },
  { name: 'null is nothing', output: null, tool: { name: 't', result: null } },
  { name: 'false and zero are results', output: false, tool: { name: 't', result: false } },
  {
    name: 'a message has the call’s id',
    output: '{"type":"tool","content":"r","tool_call_id":"c1"}',
    tool: { name: 't', result: 'r', id: 'c1' },
  },
  {
    name: 'a message that failed',
    output: '{"type":"tool","content":"boom","tool_call_id":"c1","status":"error"}',
    tool: { name: 't', result: 'boom', id: 'c1', failed: { message: 'boom' } },
  },
  {
    name: 'a message that failed with more than words',
    output: '{"content":"{\\"code\\":1}","isError":true}',
    tool: { name: 't', result: { code: 1 }, failed: { message: '' } },
  },
];

describe('observation', () => {
  for (const { name, input, messages, tools } of requests) {
    test(`observation: a request as ${name}`, () =>
      expect(observedModel({ name: 'm', input, output: undefined })).toEqual({
        role: 'model',
        inputMessages: messages,
        ...(tools === undefined ? {} : { toolDefinitions: tools }),
      }));
  }
  for (const { name, output, messages } of responses)
    test(`observation: a response as ${name}`, () =>
      expect(observedModel({ name: 'm', input: undefined, output })).toEqual({ role: 'model', outputMessages: messages }));
  for (const { name, output, tool } of results)
    test(`observation: a tool’s output: ${name}`, () => expect(observedTool({ name: 't', input: undefined, output })).toEqual(tool));

  test('observation: a tool’s input is its arguments', () => {
    expect(observedTool({ name: 't', input: '{"args":[],"kwargs":{"x":1}}', output: undefined })).toEqual({
      name: 't',
      arguments: { x: 1 },
    });
    expect(observedTool({ name: 't', input: 'JFK', output: undefined })).toEqual({ name: 't', arguments: null, argumentsText: 'JFK' });
  });

  test('observation: a run keeps the dump beside what was read out of it', () => {
    expect(observedRun({ name: 'r', input: '{"question":"q"}', output: 'a' })).toEqual({
      input: 'q',
      inputDump: '{"question":"q"}',
      output: 'a',
    });
    expect(observedRun({ name: 'r', input: undefined, output: undefined })).toEqual({});
  });

  test('observation: a retrieval without documents is one all the same', () => {
    expect(observedRetrieval(undefined)).toEqual({ role: 'retriever' });
    expect(observedRetrieval(['text'])).toEqual({ role: 'retriever', documents: [{ content: 'text' }] });
  });

  test('observation: an empty model has no facts', () => {
    expect(observedModel({ name: 'm', input: undefined, output: undefined })).toEqual({ role: 'model' });
    expect(observedModel({ name: 'm', input: '{"tools":7,"messages":{}}', output: '{"choices":[]}' })).toMatchObject({ role: 'model' });
  });
});

test('observation: a request in the text form of Python, whose messages and tools are objects', () => {
  const input =
    "{'messages': [ChatMessage(_role=<ChatRole.SYSTEM: 'system'>, _content=[TextContent(text='s')]), " +
    "ChatMessage(_role=<ChatRole.USER: 'user'>, _content=[TextContent(text='q')])], " +
    "'tools': [ComponentTool(name='t', description='d', parameters={'type': 'object'}, function=<function run.<locals>.t at 0x7f947e69>)]}";
  const { inputMessages, toolDefinitions } = observedModel({ name: 'chat', input, output: undefined });
  expect(inputMessages).toMatchObject([
    { role: 'system', text: 's' },
    { role: 'user', text: 'q' },
  ]);
  expect(toolDefinitions).toEqual([{ name: 't', description: 'd', inputSchema: { type: 'object' } }]);
  const cut = input.slice(0, -20);
  expect(observedModel({ name: 'chat', input: cut, output: undefined }).toolDefinitions).toBeUndefined();
});
