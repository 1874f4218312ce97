/** Spring AI: every attribute is a text, and most content is on no span. */
import { describe, expect, test } from 'vitest';
import { recognises } from '../../collectors/collector.ts';
import { springAi } from '../../collectors/spring-ai.ts';
import { span } from '../builders/spans.ts';
import { testCases, type Case } from './cases.ts';

const own = 'spring.ai.tool.';

const cases: readonly Case[] = [
  {
    name: 'a chat client is the run; it names its session and its tools',
    attributes: {
      'spring.ai.kind': 'chat_client',
      'spring.ai.chat.client.conversation.id': 's',
      'spring.ai.chat.client.tool.names': '["a", "b"]',
    },
    facts: { role: 'workflow', sessionId: 's', toolDefinitions: [{ name: 'a' }, { name: 'b' }] },
    absent: ['input', 'output', 'agentName'],
  },
  {
    name: 'an advisor is a step',
    attributes: { 'spring.ai.kind': 'advisor', 'spring.ai.advisor.name': 'call' },
    facts: { role: 'step' },
    absent: ['toolDefinitions', 'sessionId'],
  },
  {
    name: 'a request names its tools and is left to the conventions otherwise',
    attributes: { 'spring.ai.model.request.tool.names': '["a"]', 'gen_ai.operation.name': 'chat' },
    facts: { toolDefinitions: [{ name: 'a' }] },
    absent: ['role'],
  },
  {
    name: 'counts are texts that add up over the turns, so they are left out',
    attributes: { 'spring.ai.model.request.tool.names': '[]', 'gen_ai.usage.input_tokens': '240', 'gen_ai.usage.output_tokens': '60' },
    facts: {},
    absent: ['inputTokens', 'outputTokens', 'toolDefinitions'],
  },

  {
    name: 'a tool, with its contract',
    attributes: {
      'spring.ai.kind': 'tool_call',
      [`${own}definition.name`]: 't',
      [`${own}definition.description`]: 'd',
      [`${own}definition.schema`]: '{\n  "type" : "object"\n}',
      [`${own}call.arguments`]: '{"x":1}',
      [`${own}call.result`]: '{"r":1}',
      'gen_ai.operation.name': 'framework',
    },
    facts: { role: 'tool', tool: { name: 't', description: 'd', inputSchema: { type: 'object' }, arguments: { x: 1 }, result: { r: 1 } } },
    absent: ['tool.id'],
  },
  {
    name: 'the id of a call, as version 2 has it',
    attributes: { 'spring.ai.kind': 'tool_call', [`${own}call.id`]: 'call_1' },
    facts: { tool: { id: 'call_1' } },
  },
  {
    name: 'by default a tool has only its contract',
    span: { name: 'tool_call t' },
    attributes: { 'spring.ai.kind': 'tool_call' },
    facts: { role: 'tool', tool: { name: 't' } },
    absent: ['tool.arguments', 'tool.result', 'tool.description', 'tool.inputSchema'],
  },
  {
    name: 'a text that is quoted as JSON',
    attributes: { 'spring.ai.kind': 'tool_call', [`${own}call.result`]: '"booked"' },
    facts: { tool: { result: 'booked' } },
  },
  {
    name: 'an error is a result like any other',
    attributes: { 'spring.ai.kind': 'tool_call', [`${own}call.result`]: 'booking backend timeout' },
    facts: { tool: { result: 'booking backend timeout' } },
    absent: ['tool.failed'],
  },
  {
    name: 'a schema that is cut short is none',
    attributes: { 'spring.ai.kind': 'tool_call', [`${own}definition.schema`]: '{"type":' },
    facts: { role: 'tool' },
    absent: ['tool.inputSchema'],
  },
  {
    name: 'a query of a vector store is a retrieval',
    attributes: { 'spring.ai.kind': 'vector_store', 'db.operation.name': 'query' },
    facts: { role: 'retriever' },
    absent: ['documents'],
  },
  {
    name: 'what else is done to a vector store is a step',
    attributes: { 'spring.ai.kind': 'vector_store', 'db.operation.name': 'add' },
    facts: { role: 'step' },
  },
  {
    name: 'values of other types',
    attributes: { 'spring.ai.kind': 7, 'spring.ai.chat.client.conversation.id': true, 'spring.ai.chat.client.tool.names': 7 },
    facts: {},
    absent: ['role', 'sessionId', 'toolDefinitions'],
  },
];

describe('spring_ai', () => {
  testCases(springAi, cases);

  test('spring_ai: the scope is the whole application’s and no sign', () => {
    expect(recognises(springAi, span({ id: 1, scope: 'org.springframework.boot', attributes: { 'http.method': 'POST' } }))).toBe(false);
    expect(recognises(springAi, span({ id: 1, attributes: { 'spring.ai.kind': 'advisor' } }))).toBe(true);
  });
});
