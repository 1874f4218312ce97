/** Haystack's tracer: spans are named after what runs, content is in JSON texts. */
import { describe } from 'vitest';
import { haystack } from '../../collectors/haystack.ts';
import { testCases, type Case } from './cases.ts';
import { testDocumented } from './documented.ts';

const component = (type: string, more: object = {}): NonNullable<Case['attributes']> => ({
  'haystack.component.type': type,
  'haystack.component.name': 'c',
  ...more,
});

const cases: readonly Case[] = [
  {
    name: 'an agent in a pipeline is named by its component',
    span: { name: 'haystack.component.run' },
    attributes: component('Agent'),
    facts: { role: 'workflow', agentName: 'c' },
  },
  {
    name: 'an agent without content has its tools',
    span: { name: 'haystack.agent.run' },
    attributes: {
      'haystack.agent.tools': '[{"type":"haystack.tools.tool.Tool","data":{"name":"t","description":"d","parameters":{"type":"object"}}}]',
    },
    facts: { role: 'agent', toolDefinitions: [{ name: 't', description: 'd', inputSchema: { type: 'object' } }] },
    absent: ['input', 'output'],
  },
  {
    name: 'a tool without content',
    span: { name: 'haystack.agent.step.tool' },
    attributes: { 'haystack.tool.name': 't', 'haystack.tool.description': 'd' },
    facts: { role: 'tool', tool: { name: 't', description: 'd' } },
    absent: ['tool.arguments', 'tool.result', 'tool.failed'],
  },
  {
    name: 'a tool that failed',
    span: { name: 'haystack.agent.step.tool' },
    attributes: { 'haystack.tool.name': 't', 'haystack.agent.step.tool.output': '{"error":"boom"}' },
    facts: { tool: { failed: { message: 'boom' } } },
  },
  {
    name: 'a result with more than an error is a result',
    span: { name: 'haystack.agent.step.tool' },
    attributes: { 'haystack.tool.name': 't', 'haystack.agent.step.tool.output': '{"error":null,"rows":[]}' },
    facts: { tool: { result: { error: null, rows: [] } } },
    absent: ['tool.failed'],
  },
  {
    name: 'reasoning does not belong to the answer',
    span: { name: 'haystack.agent.step.llm' },
    attributes: {
      'haystack.agent.step.llm.output':
        '{"replies":[{"role":"assistant","content":[{"reasoning":{"reasoning_text":"hm","extra":{}}},{"text":"a"}],"meta":{"model":"m","usage":{"prompt_tokens":3,"completion_tokens":2}}}]}',
    },
    facts: { role: 'model', model: 'm', inputTokens: 3, outputTokens: 2, outputMessages: [{ text: 'a', reasoning: 'hm' }] },
  },
  {
    name: 'a generator of plain text',
    span: { name: 'haystack.component.run' },
    attributes: component('OpenAIGenerator', {
      'haystack.component.input': '{"prompt":"q"}',
      'haystack.component.output': '{"replies":["a"],"meta":[{"model":"m"}]}',
    }),
    facts: { role: 'model', model: 'm', inputMessages: [{ role: 'user', text: 'q' }], outputMessages: [{ text: 'a' }] },
  },
  {
    name: 'a retriever',
    span: { name: 'haystack.component.run' },
    attributes: component('QdrantEmbeddingRetriever', {
      'haystack.component.output': '{"documents":[{"id":"d1","content":"c","meta":{},"score":0.5}]}',
    }),
    facts: { role: 'retriever', documents: [{ id: 'd1', content: 'c', score: 0.5 }] },
  },
  ...['PromptBuilder', 'ToolInvoker', 'DocumentJoiner', ''].map((type): Case => ({
    name: `${type === '' ? 'a component of no type' : type} is a step`,
    span: { name: 'haystack.component.run' },
    attributes: component(type, { 'haystack.component.output': '{"documents":[{"content":"c"}]}' }),
    facts: { role: 'step' },
    absent: ['documents'],
  })),
  {
    name: 'hooks and steps are steps',
    span: { name: 'haystack.agent.step' },
    attributes: { 'haystack.agent.step': 0 },
    facts: { role: 'step' },
  },
];

describe('haystack', () => {
  testCases(haystack, cases);
  testDocumented('haystack', {
    agent: { of: (trace) => trace?.reasoningSteps, is: ['I need flights.'] },
    retrieval: {
      of: (trace) => trace?.documents.map(({ id, content, score }) => ({ id, content, score })),
      is: [{ id: 'd1', content: 'LO83 leaves at 10:05.', score: 0.83 }],
    },
  });
});
