/** Langfuse: one input and one output on every observation, in any form of the integration. */
import { describe, expect, test } from 'vitest';
import { recognises } from '../../collectors/collector.ts';
import { langfuse } from '../../collectors/langfuse.ts';
import { span, type Attributes } from '../builders/spans.ts';
import { testCases, type Case } from './cases.ts';

function observation(type: string, members: { readonly [member: string]: Attributes[string] } = {}, others: Attributes = {}): Attributes {
  return {
    'langfuse.observation.type': type,
    ...Object.fromEntries(Object.entries(members).map(([name, value]) => [`langfuse.observation.${name}`, value])),
    ...others,
  };
}

const call = {
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'c1', type: 'function', function: { name: 't', arguments: '{"x":1}' } }],
};
const definition = { type: 'function', function: { name: 't', description: 'd', parameters: { type: 'object' } } };

const kinds: readonly Case[] = [
  {
    name: 'an agent is named by its span',
    span: { name: 'travel', parent: 9 },
    attributes: observation('agent', { input: 'q', output: 'a' }, { 'session.id': 's' }),
    facts: { role: 'agent', agentName: 'travel', input: 'q', output: 'a', sessionId: 's' },
  },
  {
    name: 'a node of a graph is a step, even one of type agent',
    span: { name: 'agent', parent: 9 },
    attributes: observation('agent', { 'metadata.langgraph_node': 'agent' }),
    facts: { role: 'step' },
  },
  {
    name: 'the outermost span is the run, its name is a guess',
    span: { name: 'plan_trip' },
    attributes: observation('span', { input: '{"args":["q"],"kwargs":{}}', output: 'a' }),
    facts: { role: 'workflow', agentName: 'plan_trip', agentNameIsGuess: true, input: 'q', output: 'a' },
  },
  {
    name: 'a chain that is outermost is the run, too',
    span: { name: 'c' },
    attributes: observation('chain', { input: '{"args":[],"kwargs":{"question":"q"}}' }),
    facts: { role: 'workflow', input: 'q' },
    absent: ['output'],
  },
  {
    name: 'below a web server’s span the SDK marks what is outermost',
    span: { parent: 9 },
    attributes: observation('span', { input: 'q' }, { 'langfuse.internal.is_app_root': true }),
    facts: { role: 'workflow', input: 'q' },
  },
  {
    name: 'a span with a remote parent may be marked as the root',
    span: { parent: 9 },
    attributes: observation('span', { input: 'q' }, { 'langfuse.internal.as_root': true }),
    facts: { role: 'workflow', input: 'q' },
  },
  {
    name: 'what the developer calls the trace’s input and output counts',
    attributes: observation(
      'span',
      { input: '{"args":[{"tenant":1}],"kwargs":{}}', output: '{"ok":true}' },
      { 'langfuse.trace.input': 'q', 'langfuse.trace.output': 'a' },
    ),
    facts: { input: 'q', output: 'a' },
  },
  {
    name: 'an inner agent keeps its own input',
    span: { parent: 9 },
    attributes: observation('agent', { input: 'own' }, { 'langfuse.trace.input': 'q' }),
    facts: { input: 'own' },
  },
  {
    name: 'a thread of LangGraph is the session where nothing else is',
    attributes: observation('span', { 'metadata.thread_id': '"t"' }, {}),
    facts: { sessionId: 't' },
  },
  {
    name: 'a session before a thread',
    attributes: observation('span', { 'metadata.thread_id': '"t"' }, { 'session.id': 's' }),
    facts: { sessionId: 's' },
  },
  { name: 'the older name of the session', attributes: observation('span', {}, { 'langfuse.session.id': 's' }), facts: { sessionId: 's' } },
  ...['span', 'chain', 'unheard of'].map((type): Case => ({
    name: `${type} below another span is a step`,
    span: { parent: 9 },
    attributes: observation(type, { input: 'q' }),
    facts: { role: 'step' },
    absent: ['input'],
  })),
  ...['embedding', 'evaluator', 'guardrail', 'event'].map((type): Case => ({
    name: `${type} is a step and not a run`,
    attributes: observation(type, { input: 'q' }),
    facts: { role: 'step' },
    absent: ['input', 'agentName'],
  })),
  {
    name: 'a retriever has its documents',
    attributes: observation('retriever', { output: '[{"page_content":"text","metadata":{"source":"a.md"},"type":"Document","id":"d1"}]' }),
    facts: { role: 'retriever', documents: [{ id: 'd1', content: 'text' }] },
  },
  {
    name: 'a retriever without output has none',
    attributes: observation('retriever'),
    facts: { role: 'retriever' },
    absent: ['documents'],
  },
];

const tools: readonly Case[] = [
  {
    name: 'a tool is named by its span',
    span: { name: 't' },
    attributes: observation('tool', { input: '{"x":1}', output: '{"r":1}' }),
    facts: { role: 'tool', tool: { name: 't', arguments: { x: 1 }, result: { r: 1 } } },
    absent: ['tool.id', 'tool.failed'],
  },
  {
    name: 'a tool’s observed function has its arguments by name',
    attributes: observation('tool', { input: '{"args":[],"kwargs":{"x":1}}' }),
    facts: { tool: { arguments: { x: 1 } } },
    absent: ['tool.result'],
  },
  {
    name: 'arguments without names are left out',
    attributes: observation('tool', { input: '{"args":["JFK","CDG"],"kwargs":{}}' }),
    facts: { role: 'tool' },
    absent: ['tool.arguments', 'tool.argumentsText'],
  },
  {
    name: 'LangChain’s message is unwrapped, its call id is quoted in the metadata',
    attributes: observation('tool', {
      output: '{"content":"{\\"r\\":1}","type":"tool","name":"t","tool_call_id":"other","status":"success"}',
      'metadata.tool_call_id': '"c1"',
    }),
    facts: { tool: { id: 'c1', result: { r: 1 } } },
    absent: ['tool.failed'],
  },
  {
    name: 'a tool failed by its level, with status unset',
    attributes: observation('tool', { level: 'ERROR', status_message: 'boom' }),
    facts: { tool: { failed: { message: 'boom' } } },
  },
  { name: 'a failure without words', attributes: observation('tool', { level: 'ERROR' }), facts: { tool: { failed: { message: '' } } } },
  {
    name: 'other levels are not failures',
    attributes: observation('tool', { level: 'WARNING', status_message: 'slow' }),
    facts: { role: 'tool' },
    absent: ['tool.failed'],
  },
];

const generations: readonly Case[] = [
  {
    name: 'a request with messages and tools',
    attributes: observation('generation', {
      input: JSON.stringify({ messages: [{ role: 'user', content: 'q' }], tools: [definition] }),
      output: JSON.stringify(call),
      'model.name': 'm',
    }),
    facts: {
      role: 'model',
      model: 'm',
      inputMessages: [{ role: 'user', text: 'q' }],
      outputMessages: [{ requested: [{ id: 'c1', name: 't', arguments: { x: 1 } }] }],
      toolDefinitions: [{ name: 't', description: 'd', inputSchema: { type: 'object' } }],
    },
  },
  {
    name: 'tools among the messages are definitions and no messages',
    attributes: observation('generation', {
      input: JSON.stringify([
        { role: 'user', content: 'q' },
        { role: 'tool', content: definition },
        { role: 'tool', content: '{"r":1}', tool_call_id: 'c1' },
      ]),
    }),
    facts: {
      inputMessages: [{ role: 'user' }, { role: 'tool', results: [{ id: 'c1', result: { r: 1 } }] }],
      toolDefinitions: [{ name: 't' }],
    },
    absent: ['outputMessages'],
  },
  {
    name: 'tokens are the rest and what was taken out of it',
    attributes: observation('generation', {
      usage_details: '{"input":104,"input_cache_read":16,"output":20,"output_reasoning":7,"total":147}',
    }),
    facts: { inputTokens: 120, outputTokens: 27, cachedInputTokens: 16, reasoningTokens: 7 },
  },
  {
    name: 'tokens as the JavaScript SDK takes them out',
    attributes: observation('generation', {
      usage_details: '{"input":2140,"input_cached_tokens":1024,"output":96,"output_reasoning_tokens":310,"total":3570}',
    }),
    facts: { inputTokens: 3164, outputTokens: 406, cachedInputTokens: 1024, reasoningTokens: 310 },
  },
  {
    name: 'tokens that a total shows to be whole',
    attributes: observation('generation', { usage_details: '{"input":120,"input_cached_tokens":16,"output":30,"total":150}' }),
    facts: { inputTokens: 120, outputTokens: 30, cachedInputTokens: 16 },
  },
  {
    name: 'tokens under the API’s names',
    attributes: observation('generation', {
      usage_details:
        '{"prompt_tokens":120,"completion_tokens":27,"prompt_tokens_details":{"cached_tokens":16},"completion_tokens_details":{"reasoning_tokens":0}}',
    }),
    facts: { inputTokens: 120, outputTokens: 27, cachedInputTokens: 16, reasoningTokens: 0 },
  },
  {
    name: 'only one side was counted',
    attributes: observation('generation', { usage_details: '{"input":100,"input_audio":20,"total":120,"prompt_tokens_details":[]}' }),
    facts: { inputTokens: 120 },
    absent: ['outputTokens', 'cachedInputTokens'],
  },
  {
    name: 'no content and no usage is unknown',
    attributes: observation('generation'),
    facts: { role: 'model' },
    absent: ['inputMessages', 'outputMessages', 'toolDefinitions', 'inputTokens', 'outputTokens', 'model'],
  },
  {
    name: 'usage that is none',
    attributes: observation('generation', { usage_details: '[1]', 'model.name': 7 }),
    facts: { role: 'model' },
    absent: ['inputTokens', 'model'],
  },
  {
    name: 'counts that are texts are ignored',
    attributes: observation('generation', { usage_details: '{"input":"120","__proto__":{"output":1}}' }),
    facts: { role: 'model' },
    absent: ['inputTokens', 'outputTokens'],
  },
];

describe('langfuse', () => {
  testCases(langfuse, [...kinds, ...tools, ...generations]);

  test('langfuse: spans of other SDKs in the same trace are not its own', () => {
    expect(recognises(langfuse, span({ id: 1, scope: 'langfuse-sdk', attributes: { 'http.method': 'GET' } }))).toBe(false);
    expect(recognises(langfuse, span({ id: 1, attributes: observation('span') }))).toBe(true);
  });
});
