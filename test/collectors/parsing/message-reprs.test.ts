/** Messages in the text form of Python objects, as several SDKs write them. */
import { describe, expect, test } from 'vitest';
import { messageInRepr } from '../../../collectors/parsing/message-reprs.ts';
import { readMessages } from '../../../collectors/parsing/messages.ts';

const call = "ToolCall(tool_name='t', arguments={'x': 1, '_y': True}, id='c1', extra=None)";

const messages: readonly { readonly name: string; readonly text: string; readonly message: object }[] = [
  {
    name: 'Haystack’s message of the user',
    text: "ChatMessage(_role=<ChatRole.USER: 'user'>, _content=[TextContent(text='q')], _name=None, _meta={})",
    message: { role: 'user', text: 'q', requested: [], results: [] },
  },
  {
    name: 'Haystack’s call',
    text: `ChatMessage(_role=<ChatRole.ASSISTANT: 'assistant'>, _content=[${call}], _name=None, _meta={'model': 'm'})`,
    message: { role: 'assistant', requested: [{ id: 'c1', name: 't', arguments: { x: 1, _y: true } }], results: [] },
  },
  {
    name: 'Haystack’s result of a call that failed',
    text: `ChatMessage(_role=<ChatRole.TOOL: 'tool'>, _content=[ToolCallResult(result='boom', origin=${call}, error=True)], _meta={})`,
    message: { role: 'tool', requested: [], results: [{ id: 'c1', name: 't', result: 'boom', isError: true }] },
  },
  {
    name: 'LlamaIndex’s message',
    text: "ChatMessage(role=<MessageRole.ASSISTANT: 'assistant'>, additional_kwargs={}, blocks=[], content=[TextBlock(block_type='text', text='a')])",
    message: { role: 'assistant', text: 'a', requested: [], results: [] },
  },
  {
    name: 'LangChain’s message',
    text: "HumanMessage(content='q', additional_kwargs={}, response_metadata={})",
    message: { role: 'user', text: 'q', requested: [], results: [] },
  },
];

describe('message reprs', () => {
  for (const { name, text, message } of messages)
    test(`message reprs: ${name}`, () => expect(readMessages([text], 'user')).toEqual([message]));

  test.each(['Paris(capital)', "Answer(text='a')", 'ChatMessage(_role=', 'plain words'])('message reprs: %s is not a message', (text) => {
    expect(messageInRepr(text)).toBeUndefined();
    expect(readMessages([text], 'user')).toEqual([{ role: 'user', text, requested: [], results: [] }]);
  });
});
