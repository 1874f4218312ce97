/** The Vercel AI SDK: versions 4 to 6 write the same things under different names. */
import { describe, expect, test } from 'vitest';
import { vercelAi } from '../../collectors/vercel-ai.ts';
import { span, type Attributes } from '../builders/spans.ts';

const schema = { type: 'object', properties: { x: { type: 'string' } } };

const cases: readonly { readonly name: string; readonly operation: string; readonly attributes: Attributes; readonly facts: object }[] = [
  {
    name: 'the outer span is the agent, named by its function',
    operation: 'ai.generateText',
    attributes: { 'ai.telemetry.functionId': 'f', 'ai.prompt': '{"system":"be kind","prompt":"q"}', 'ai.response.text': 'a' },
    facts: { role: 'agent', agentName: 'f', input: 'q', systemPrompt: 'be kind', output: 'a' },
  },
  {
    name: 'without a function the name is a guess',
    operation: 'ai.streamText',
    attributes: {},
    facts: { role: 'agent', agentNameIsGuess: true },
  },
  {
    name: 'the prompt may be messages',
    operation: 'ai.generateText',
    attributes: {
      'ai.prompt':
        '{"messages":[{"role":"user","content":"old"},{"role":"assistant","content":"x"},{"role":"user","content":[{"type":"text","text":"q"}]}]}',
    },
    facts: { input: 'q' },
  },
  {
    name: 'an object is an answer',
    operation: 'ai.generateObject',
    attributes: { 'ai.response.object': '{"r":1}' },
    facts: { role: 'agent', output: '{"r":1}' },
  },
  {
    name: 'sessions go by the names that people give them',
    operation: 'ai.generateText',
    attributes: { 'ai.telemetry.metadata.thread_id': 's' },
    facts: { sessionId: 's' },
  },
  {
    name: 'tokens of version 4',
    operation: 'ai.generateText.doGenerate',
    attributes: { 'ai.usage.promptTokens': 10, 'ai.usage.completionTokens': 2 },
    facts: { role: 'model', inputTokens: 10, outputTokens: 2 },
  },
  {
    name: 'details of tokens of version 6',
    operation: 'ai.generateText.doGenerate',
    attributes: {
      'ai.usage.inputTokens': 10,
      'ai.usage.inputTokenDetails.cacheReadTokens': 4,
      'ai.usage.outputTokenDetails.reasoningTokens': 1,
    },
    facts: { inputTokens: 10, cachedInputTokens: 4, reasoningTokens: 1 },
  },
  {
    name: 'tokens of version 5',
    operation: 'ai.streamText.doStream',
    attributes: {
      'ai.usage.inputTokens': 10,
      'ai.usage.outputTokens': 2,
      'ai.usage.cachedInputTokens': 3,
      'ai.usage.reasoningTokens': 1,
      'ai.response.model': 'm',
      'ai.model.id': 'other',
    },
    facts: { role: 'model', inputTokens: 10, outputTokens: 2, cachedInputTokens: 3, reasoningTokens: 1, model: 'm' },
  },
  {
    name: 'calls of version 4',
    operation: 'ai.generateText.doGenerate',
    attributes: { 'ai.response.toolCalls': '[{"toolCallType":"function","toolCallId":"c1","toolName":"t","args":"{\\"x\\":1}"}]' },
    facts: { outputMessages: [{ requested: [{ id: 'c1', name: 't', arguments: { x: 1 } }] }] },
  },
  {
    name: 'calls of version 5',
    operation: 'ai.generateText.doGenerate',
    attributes: {
      'ai.response.text': 'hm',
      'ai.response.reasoning': 'why',
      'ai.response.toolCalls': '[{"toolCallId":"c1","toolName":"t","input":"{\\"x\\":1}"}]',
    },
    facts: { outputMessages: [{ text: 'hm', reasoning: 'why', requested: [{ id: 'c1', name: 't', arguments: { x: 1 } }] }] },
  },
  {
    name: 'results in messages',
    operation: 'ai.generateText.doGenerate',
    attributes: {
      'ai.prompt.messages':
        '[{"role":"tool","content":[{"type":"tool-result","toolCallId":"c1","toolName":"t","output":{"type":"error-text","value":"boom"}}]}]',
    },
    facts: { inputMessages: [{ role: 'tool', results: [{ id: 'c1', name: 't', result: 'boom', isError: true }] }] },
  },
  {
    name: 'definitions of version 4: texts with parameters',
    operation: 'ai.generateText.doGenerate',
    attributes: { 'ai.prompt.tools': [JSON.stringify({ type: 'function', name: 't', description: 'd', parameters: schema })] },
    facts: { toolDefinitions: [{ name: 't', description: 'd', inputSchema: schema }] },
  },
  {
    name: 'definitions of version 5: texts with inputSchema',
    operation: 'ai.generateText.doGenerate',
    attributes: { 'ai.prompt.tools': [JSON.stringify({ type: 'function', name: 't', inputSchema: schema })] },
    facts: { toolDefinitions: [{ name: 't', inputSchema: schema }] },
  },
  {
    name: 'a tool',
    operation: 'ai.toolCall',
    attributes: { 'ai.toolCall.name': 't', 'ai.toolCall.id': 'c1', 'ai.toolCall.args': '{"x":1}', 'ai.toolCall.result': '{"r":1}' },
    facts: { role: 'tool', tool: { name: 't', id: 'c1', arguments: { x: 1 }, result: { r: 1 } } },
  },
  {
    name: 'a tool whose name and call id an exporter moved to the names of the conventions',
    operation: 'ai.toolCall',
    attributes: { 'gen_ai.tool.name': 't', 'gen_ai.tool.call.id': 'c1', 'ai.toolCall.args': '{"x":1}' },
    facts: { role: 'tool', tool: { name: 't', id: 'c1', arguments: { x: 1 } } },
  },
  { name: 'any other span of the SDK is a step', operation: 'ai.embed', attributes: {}, facts: { role: 'step' } },
];

describe('vercel_ai', () => {
  for (const { name, operation, attributes, facts } of cases) {
    test(`vercel_ai: ${name}`, () => {
      expect(vercelAi.read(span({ id: 1, attributes: { 'ai.operationId': operation, ...attributes } }))).toMatchObject(facts);
    });
  }
});
