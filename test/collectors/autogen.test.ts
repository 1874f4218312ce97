/** AutoGen’s runtime: the messages to the manager of a group chat describe the run; every message goes on with what its links name. */
import { describe } from 'vitest';
import { autogen } from '../../collectors/autogen.ts';
import type { JsonValue } from '../../src/model/json.ts';
import type { Attributes } from '../builders/spans.ts';
import { testCases, type Case } from './cases.ts';

function sent(message: JsonValue, others: Attributes = {}): Attributes {
  return { 'messaging.operation': 'process', recipient_agent_class: 'SwarmGroupChatManager', message: JSON.stringify(message), ...others };
}

const usage = { prompt_tokens: 120, completion_tokens: 27 };
const text = (source: string, content: JsonValue, models_usage: JsonValue = null): JsonValue => ({
  message: { type: 'TextMessage', source, content, models_usage },
});

const cases: readonly Case[] = [
  {
    name: 'a message that is written or passed on is a step, and goes on with what it links to',
    attributes: { 'messaging.operation': 'create' },
    facts: { role: 'step', followsLinks: true },
    absent: ['input', 'outputMessages'],
  },
  {
    name: 'the beginning of a chat holds the question',
    attributes: sent({ messages: [{ source: 'user', type: 'TextMessage', content: 'q' }], output_task_messages: true }),
    facts: { role: 'step', followsLinks: true, input: 'q' },
  },
  {
    name: 'of several messages the last is the question',
    attributes: sent({ messages: [{ content: 'first' }, { content: 'second' }] }),
    facts: { input: 'second' },
  },
  {
    name: 'an agent gets the same and is ignored',
    attributes: sent({ messages: [{ content: 'q' }] }, { recipient_agent_class: 'ChatAgentContainer' }),
    facts: { role: 'step' },
    absent: ['input'],
  },
  {
    name: 'an answer with tokens is one request to a model',
    attributes: sent(text('hotel', 'booked', usage)),
    facts: { role: 'model', inputTokens: 120, outputTokens: 27, outputMessages: [{ role: 'assistant', text: 'booked' }] },
  },
  {
    name: 'an answer without tokens is not a request',
    attributes: sent(text('hotel', 'booked')),
    facts: { role: 'step', outputMessages: [{ text: 'booked' }] },
    absent: ['inputTokens'],
  },
  {
    name: 'a message of the user is not an answer',
    attributes: sent(text('user', 'q')),
    facts: { role: 'step' },
    absent: ['outputMessages'],
  },
  {
    name: 'a model asks for tools',
    attributes: sent({
      message: { type: 'ToolCallRequestEvent', models_usage: usage, content: [{ id: 'c1', name: 't', arguments: '{"x": 1}' }] },
    }),
    facts: {
      role: 'model',
      outputMessages: [{ role: 'assistant', requested: [{ id: 'c1', name: 't', arguments: { x: 1 } }], results: [] }],
    },
  },
  {
    name: 'tools have answered',
    attributes: sent({
      message: {
        type: 'ToolCallExecutionEvent',
        content: [
          { call_id: 'c1', name: 't', content: "{'r': 1}", is_error: false },
          { call_id: 'c2', content: 'boom', is_error: true },
        ],
      },
    }),
    facts: {
      role: 'step',
      inputMessages: [
        {
          role: 'tool',
          results: [
            { id: 'c1', result: { r: 1 } },
            { id: 'c2', result: 'boom', isError: true },
          ],
        },
      ],
    },
  },
  {
    name: 'a hand-over has no content',
    attributes: sent({ message: { type: 'HandoffMessage', content: 'Transferred', target: 'hotel' } }),
    facts: { role: 'step' },
    absent: ['outputMessages', 'inputMessages'],
  },
  {
    name: 'the same said again in a response counts once',
    attributes: sent({ response: { chat_message: { type: 'TextMessage', content: 'booked', models_usage: usage } } }),
    facts: { role: 'step' },
    absent: ['outputMessages'],
  },
  ...['No Message', '', '{', '[]', '{"message": 7}', '{"messages": [7]}', '{"message":{"type":"ToolCallRequestEvent","content":"x"}}'].map(
    (message): Case => ({
      name: `a message that is none: ${message}`,
      attributes: sent(null, { message }),
      facts: { role: 'step', followsLinks: true },
      absent: ['input'],
    }),
  ),
];

describe('autogen', () => {
  testCases(autogen, cases, { scope: 'autogen SingleThreadedAgentRuntime' });
});
