/** OpenLLMetry: entities with inputs and outputs, and the flattened messages of older versions. */
import { describe, expect, test } from 'vitest';
import { recognises } from '../../collectors/collector.ts';
import { traceloop } from '../../collectors/traceloop.ts';
import type { JsonValue } from '../../src/model/json.ts';
import { span, type Attributes } from '../builders/spans.ts';
import { testCases, type Case } from './cases.ts';

function entity(kind: string, name: string | undefined, input?: JsonValue, output?: JsonValue, others: Attributes = {}): Attributes {
  return {
    'traceloop.span.kind': kind,
    ...(name === undefined ? {} : { 'traceloop.entity.name': name }),
    ...(input === undefined ? {} : { 'traceloop.entity.input': JSON.stringify(input) }),
    ...(output === undefined ? {} : { 'traceloop.entity.output': JSON.stringify(output) }),
    ...others,
  };
}

const toolMessage = {
  lc: 1,
  type: 'constructor',
  id: ['langchain', 'ToolMessage'],
  kwargs: { content: 'boom', tool_call_id: 'c1', status: 'error' },
};

const entities: readonly Case[] = [
  {
    name: 'the name of a prompt is not a message',
    attributes: { 'gen_ai.prompt.name': 'analyze', 'traceloop.workflow.name': 'w' },
    facts: {},
    absent: ['role', 'inputMessages'],
  },
  {
    name: 'a workflow encloses the agent; its name is a guess',
    attributes: entity('workflow', 'plan', { args: ['q'], kwargs: {} }, 'a'),
    facts: { role: 'workflow', agentName: 'plan', agentNameIsGuess: true, input: 'q', output: 'a' },
  },
  {
    name: 'a workflow that the conventions know and that holds no conversation is a step',
    attributes: entity('workflow', 'ChannelWrite', { messages: [] }, { output: '__end__' }, { 'gen_ai.operation.name': 'workflow' }),
    facts: { role: 'step' },
  },
  {
    name: 'the name of the member that holds an answer is not an answer',
    attributes: { 'llm.request.type': 'chat', 'gen_ai.completion.0.role': 'assistant', 'gen_ai.completion.0.content': 'replies' },
    facts: { role: 'model' },
    absent: ['outputMessages'],
  },
  {
    name: 'a step of a workflow that names a tool runs it',
    attributes: entity(
      'task',
      'AgentWorkflow.task',
      undefined,
      { tool_name: 't', tool_kwargs: { x: 1 }, tool_id: 'c1', tool_output: { blocks: [{ text: 'boom' }], tool_name: 't', is_error: true } },
      { 'tool.name': 't', 'tool.arguments': '{"x":1}' },
    ),
    facts: { role: 'tool', tool: { name: 't', id: 'c1', arguments: { x: 1 }, result: 'boom', failed: { message: 'boom' } } },
  },
  {
    name: 'a step whose event names the agent works for it',
    attributes: entity('task', 'AgentWorkflow.task', undefined, { input: [], current_agent_name: 'desk' }),
    facts: { role: 'step', agentName: 'desk' },
  },
  {
    name: 'a team is named without its kind',
    span: { name: 'desk.team' },
    attributes: entity('workflow', undefined),
    facts: { role: 'workflow', agentName: 'desk', agentNameIsGuess: true },
  },
  {
    name: 'a tool with its description',
    attributes: entity('tool', 't', {}, 'a', { 'tool.description': 'does' }),
    facts: { role: 'tool', tool: { name: 't', description: 'does' } },
  },
  {
    name: 'without an entity’s name the span’s counts, without its kind',
    span: { name: 'plan.workflow' },
    attributes: entity('workflow', undefined),
    facts: { agentName: 'plan' },
    absent: ['input', 'output'],
  },
  {
    name: 'an agent is named by the conventions’ attribute',
    attributes: entity('agent', 'entity', { args: [], kwargs: { question: 'q' } }, 'a', { 'gen_ai.agent.name': 'travel' }),
    facts: { role: 'agent', agentName: 'travel', input: 'q', output: 'a' },
  },
  { name: 'else by its entity', attributes: entity('agent', 'travel'), facts: { role: 'agent', agentName: 'travel' } },
  {
    name: 'a span that also names an operation keeps the role which that gives it',
    attributes: entity('workflow', 'plan', { args: ['q'], kwargs: {} }, undefined, { 'gen_ai.operation.name': 'invoke_agent' }),
    facts: { input: 'q' },
    absent: ['role', 'agentName'],
  },
  {
    name: 'a tool that bears the name of its class is named by its result',
    attributes: entity(
      'task',
      'DynamicStructuredTool',
      { args: ['{"x":1}'] },
      { lc: 1, type: 'constructor', id: ['m', 'ToolMessage'], kwargs: { content: 'r', tool_call_id: 'c1', name: 'search' } },
      { 'gen_ai.operation.name': 'execute_tool' },
    ),
    facts: { tool: { name: 'search', id: 'c1', arguments: { x: 1 }, result: 'r' } },
    absent: ['role'],
  },
  {
    name: 'a tool whose result has no name has none here',
    attributes: entity('task', 'DynamicStructuredTool', { args: ['a', 'b'] }, 'r', { 'gen_ai.operation.name': 'execute_tool' }),
    facts: { tool: { result: 'r' } },
    absent: ['tool.name', 'tool.id'],
  },
  {
    name: 'a graph with its whole conversation is a run',
    attributes: entity(
      'workflow',
      undefined,
      { messages: [{ role: 'user', content: 'q' }] },
      {
        messages: [
          { role: 'user', content: 'q' },
          { lc: 1, id: ['m', 'AIMessage'], kwargs: { name: 'travel', content: 'a' } },
        ],
      },
      { 'gen_ai.operation.name': 'workflow' },
    ),
    facts: { role: 'agent', agentName: 'travel', input: 'q', output: 'a', outputMessages: [{ text: 'a' }] },
  },
  { name: 'a task is a step', attributes: entity('task', 'tools', {}, {}), facts: { role: 'step' }, absent: ['input', 'output'] },
  {
    name: 'a task that is named as its agent is a graph at work',
    attributes: entity('task', 'hotel', { messages: [{ role: 'user', content: 'q' }] }, undefined, {
      'traceloop.association.properties.lc_agent_name': 'hotel',
    }),
    facts: { role: 'agent', agentName: 'hotel', input: 'q' },
  },
  { name: 'an unknown kind is ignored', attributes: entity('unknown', 'x', {}, {}), facts: {}, absent: ['role', 'input', 'tool'] },
  ...['session_id', 'thread_id', 'conversation_id', 'chat_id'].map((key): Case => ({
    name: `the session is associated as ${key}`,
    attributes: entity('task', 'x', undefined, undefined, { [`traceloop.association.properties.${key}`]: 's' }),
    facts: { sessionId: 's' },
  })),
  {
    name: 'other associations are not a session',
    attributes: entity('task', 'x', undefined, undefined, { 'traceloop.association.properties.user_id': 'u' }),
    facts: {},
    absent: ['sessionId'],
  },
];

const tools: readonly Case[] = [
  {
    name: 'a decorated function',
    attributes: entity('tool', 't', { args: [], kwargs: { x: 1 } }, { r: 1 }),
    facts: { role: 'tool', tool: { name: 't', arguments: { x: 1 }, result: { r: 1 } } },
    absent: ['tool.id', 'tool.failed'],
  },
  {
    name: 'the conventions’ name counts',
    attributes: entity('tool', 'entity', undefined, undefined, { 'gen_ai.tool.name': 't' }),
    facts: { tool: { name: 't' } },
    absent: ['tool.arguments', 'tool.result'],
  },
  {
    name: 'one argument that is JSON',
    attributes: entity('tool', 't', { args: ['{"x":1}'], kwargs: {} }),
    facts: { tool: { arguments: { x: 1 } } },
  },
  {
    name: 'positional arguments are left out',
    attributes: entity('tool', 't', { args: ['JFK', 'CDG'], kwargs: {} }),
    facts: { role: 'tool' },
    absent: ['tool.arguments', 'tool.argumentsText'],
  },
  {
    name: 'LangChain’s arguments in Python notation',
    attributes: entity('tool', 't', { input_str: "{'x': 1, 'y': None}", tags: [], metadata: {}, inputs: {} }),
    facts: { tool: { arguments: { x: 1, y: null } } },
  },
  {
    name: 'LangChain’s message has what the span lacks: the id, and the failure of the call',
    attributes: entity('tool', 't', undefined, { output: toolMessage, kwargs: { tags: [] } }, { 'gen_ai.task.status': 'success' }),
    facts: { tool: { id: 'c1', result: 'boom', failed: { message: 'boom' } } },
  },
  { name: 'a text result is quoted', attributes: entity('tool', 't', undefined, 'booked'), facts: { tool: { result: 'booked' } } },
  {
    name: 'a result of null, a number and a text with a number are three things',
    attributes: entity('tool', 't', undefined, null),
    facts: { tool: { result: null } },
  },
  { name: 'a number is a number', attributes: entity('tool', 't', undefined, 42), facts: { tool: { result: 42 } } },
  { name: 'a text with a number is a text', attributes: entity('tool', 't', undefined, '42'), facts: { tool: { result: '42' } } },
  {
    name: 'a result without quotes is a text',
    attributes: { 'traceloop.span.kind': 'tool', 'traceloop.entity.name': 't', 'traceloop.entity.output': 'booked' },
    facts: { tool: { result: 'booked' } },
  },
];

const p = 'gen_ai.prompt.';
const models: readonly Case[] = [
  {
    name: 'flattened messages, calls and results',
    attributes: {
      'llm.request.type': 'chat',
      [`${p}0.role`]: 'system',
      [`${p}0.content`]: 'be kind',
      [`${p}1.role`]: 'user',
      [`${p}1.content`]: '[{"type":"text","text":"q"}]',
      [`${p}2.role`]: 'assistant',
      [`${p}2.tool_calls.0.id`]: 'c1',
      [`${p}2.tool_calls.0.name`]: 't',
      [`${p}2.tool_calls.0.arguments`]: '{"x":1}',
      [`${p}3.role`]: 'tool',
      [`${p}3.tool_call_id`]: 'c1',
      [`${p}3.content`]: '{"r":1}',
      'gen_ai.completion.0.content': 'a',
      'gen_ai.completion.0.finish_reason': 'stop',
    },
    facts: {
      role: 'model',
      inputMessages: [
        { role: 'system', text: 'be kind' },
        { role: 'user', text: 'q' },
        { role: 'assistant', requested: [{ id: 'c1', name: 't', arguments: { x: 1 } }] },
        { role: 'tool', results: [{ id: 'c1', result: { r: 1 } }] },
      ],
      outputMessages: [{ role: 'assistant', text: 'a' }],
    },
  },
  {
    name: 'messages beyond the tenth stay in order',
    attributes: {
      'llm.request.type': 'chat',
      ...Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`${p}${at}.content`, `m${at}`])),
    },
    facts: { inputMessages: Array.from({ length: 12 }, (_, at) => ({ text: `m${at}` })) },
  },
  {
    name: 'a plain completion’s prompt',
    attributes: { 'llm.request.type': 'completion', [`${p}0.user`]: 'q', 'gen_ai.completion.0.content': 'a' },
    facts: { role: 'model', inputMessages: [{ role: 'user', text: 'q' }], outputMessages: [{ text: 'a' }] },
  },
  {
    name: 'flattened definitions',
    attributes: {
      'llm.request.type': 'chat',
      'llm.request.functions.0.name': 't',
      'llm.request.functions.0.description': 'd',
      'llm.request.functions.0.parameters': '{"type":"object"}',
    },
    facts: { toolDefinitions: [{ name: 't', description: 'd', inputSchema: { type: 'object' } }] },
    absent: ['inputMessages', 'outputMessages'],
  },
  {
    name: 'the response’s model counts, with tokens under their older names',
    attributes: {
      'llm.request.type': 'chat',
      'gen_ai.request.model': 'm',
      'gen_ai.response.model': 'm-1',
      'gen_ai.usage.prompt_tokens': 120,
      'gen_ai.usage.completion_tokens': 27,
      'gen_ai.usage.cache_read_input_tokens': 16,
      'gen_ai.usage.reasoning_tokens': 7,
      'llm.usage.total_tokens': 147,
    },
    facts: { model: 'm-1', inputTokens: 120, outputTokens: 27, cachedInputTokens: 16, reasoningTokens: 7 },
  },
  {
    name: 'without counts they are unknown',
    attributes: { 'llm.request.type': 'chat', 'gen_ai.usage.prompt_tokens': '120' },
    facts: { role: 'model' },
    absent: ['inputTokens', 'outputTokens', 'model', 'toolDefinitions'],
  },
  ...['embedding', 'rerank', 'unknown'].map((type): Case => ({
    name: `a request of type ${type} is not a model’s turn`,
    attributes: { 'llm.request.type': type, [`${p}0.content`]: 'q' },
    facts: {},
    absent: ['role', 'inputMessages'],
  })),
  {
    name: 'a message that is not an object is left out',
    attributes: { 'llm.request.type': 'chat', [`${p}0`]: 'x', [`${p}1.content`]: 'q' },
    facts: { inputMessages: [{ text: 'q' }] },
  },
  {
    name: 'indexes that are none are left out',
    attributes: {
      'llm.request.type': 'chat',
      [`${p}x.content`]: 'a',
      [`${p}99999999.content`]: 'b',
      [`${p}-1.content`]: 'c',
      [`${p}0.__proto__`]: 'd',
      [`${p}0.content`]: 'q',
    },
    facts: { inputMessages: [{ text: 'q' }] },
  },
];

describe('traceloop', () => {
  testCases(traceloop, [...entities, ...tools, ...models]);

  test('traceloop: the same scopes without its signs are OpenTelemetry’s own', () => {
    expect(
      recognises(
        traceloop,
        span({ id: 1, scope: 'opentelemetry.instrumentation.openai_agents', attributes: { 'gen_ai.operation.name': 'chat' } }),
      ),
    ).toBe(false);
    expect(recognises(traceloop, span({ id: 1, attributes: { 'traceloop.workflow.name': 'w' } }))).toBe(true);
  });
});
