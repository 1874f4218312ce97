/** OpenInference: what differs from framework to framework. */
import { describe, expect, test } from 'vitest';
import type { SpanFacts } from '../../collectors/collector.ts';
import { openInference } from '../../collectors/openinference.ts';
import { span, type Attributes, type SpanData } from '../builders/spans.ts';
import { testDocumented } from './documented.ts';

interface Case {
  readonly name: string;
  readonly span?: Partial<SpanData>;
  readonly kind: string;
  readonly attributes: Attributes;
  readonly facts: object;
}

const in0 = 'llm.input_messages.0.message.';
const out0 = 'llm.output_messages.0.message.';
const schema = { type: 'object', properties: { x: { type: 'string' } } };

const cases: readonly Case[] = [
  {
    name: 'an agent is named by its attribute',
    kind: 'AGENT',
    attributes: { 'agent.name': 'a', 'graph.node.id': 'b' },
    facts: { role: 'agent', agentName: 'a' },
  },
  {
    name: 'or by the conventions’ key',
    kind: 'AGENT',
    attributes: { 'gen_ai.agent.name': 'a', 'graph.node.id': 'strands_agent' },
    facts: { agentName: 'a' },
  },
  { name: 'else by its graph node', kind: 'AGENT', attributes: { 'graph.node.id': 'b' }, facts: { agentName: 'b' } },
  {
    name: 'else by LangChain’s metadata',
    kind: 'AGENT',
    attributes: { metadata: '{"lc_agent_name":"a","thread_id":"s"}' },
    facts: { agentName: 'a', sessionId: 's' },
  },
  {
    name: 'else, as a guess, by the span without the method',
    kind: 'AGENT',
    span: { name: 'travel_agent.run' },
    attributes: {},
    facts: { agentName: 'travel_agent', agentNameIsGuess: true },
  },
  { name: 'kinds are read in either case', kind: 'agent', attributes: { 'agent.name': 'a' }, facts: { role: 'agent' } },
  {
    name: 'a chain at the root is the whole run',
    kind: 'CHAIN',
    attributes: { 'input.value': '{"messages":[["user","q"]]}' },
    facts: { role: 'workflow', input: 'q' },
  },
  { name: 'any other chain is a step', kind: 'CHAIN', span: { parent: 9 }, attributes: { 'input.value': 'q' }, facts: { role: 'step' } },
  {
    name: 'LlamaIndex names the agent inside its events',
    kind: 'CHAIN',
    span: { parent: 9 },
    attributes: { 'output.value': "AgentInput(current_agent_name='hotel_agent')" },
    facts: { role: 'step', agentName: 'hotel_agent' },
  },
  {
    name: 'a crew’s task is its input',
    kind: 'CHAIN',
    attributes: { crew_tasks: '[{"description":"find a flight","expected_output":"one"}]', 'output.value': '{"raw":"AF007"}' },
    facts: { input: 'find a flight', output: 'AF007' },
  },
  { name: 'an unknown kind is a step', kind: 'GUARDRAIL', attributes: {}, facts: { role: 'step' } },

  {
    name: 'a tool',
    kind: 'TOOL',
    attributes: { 'tool.name': 't', 'input.value': '{"x":1}', 'output.value': '{"r":1}' },
    facts: { role: 'tool', tool: { name: 't', arguments: { x: 1 }, result: { r: 1 } } },
  },
  {
    name: 'LangChain’s tool message has id, content and failure',
    kind: 'TOOL',
    attributes: { 'tool.name': 't', 'output.value': '{"type":"tool","data":{"content":"boom","tool_call_id":"c1","status":"error"}}' },
    facts: { tool: { name: 't', id: 'c1', result: 'boom', failed: { message: 'boom' } } },
  },
  {
    name: 'smolagents’ frame of arguments',
    kind: 'TOOL',
    attributes: { 'tool.name': 't', 'input.value': '{"args":[],"sanitize_inputs_outputs":true,"kwargs":{"x":1}}' },
    facts: { tool: { arguments: { x: 1 } } },
  },
  {
    name: 'LlamaIndex’ blocks',
    kind: 'TOOL',
    attributes: {
      'tool.name': 't',
      'input.value': '{"kwargs":{"x":1}}',
      'output.value': `{"blocks":[{"text":"{'r': 1}"}],"tool_name":"t","is_error":false}`,
    },
    facts: { tool: { arguments: { x: 1 }, result: { r: 1 } } },
  },
  {
    name: 'tool.parameters as a schema',
    kind: 'TOOL',
    attributes: { 'tool.name': 't', 'tool.parameters': JSON.stringify(schema), 'input.value': '{"x":"1"}' },
    facts: { tool: { inputSchema: schema, arguments: { x: '1' } } },
  },
  {
    name: 'tool.parameters as a bare map of properties',
    kind: 'TOOL',
    attributes: { 'tool.name': 't', 'tool.parameters': '{"x":{"type":"string"}}', 'input.value': '{}' },
    facts: { tool: { inputSchema: schema } },
  },
  {
    name: 'tool.parameters as the call’s own arguments',
    kind: 'TOOL',
    attributes: { 'tool.name': 't', 'tool.parameters': '{"x":"1"}' },
    facts: { tool: { arguments: { x: '1' } } },
  },
  {
    name: 'CrewAI’s description is unwrapped',
    kind: 'TOOL',
    attributes: { 'tool.name': 't', 'tool.description': 'Tool Name: t\nTool Arguments: {}\nTool Description: Does it.' },
    facts: { tool: { description: 'Does it.' } },
  },
  {
    name: 'a hand-over is not a tool call',
    kind: 'TOOL',
    span: { name: 'handoff to hotel_agent' },
    attributes: { 'tool.name': 'handoff_to_hotel_agent', 'input.value': 'a' },
    facts: { role: 'step', handoffTo: 'hotel_agent' },
  },
  {
    name: 'smolagents’ final answer is not a tool call',
    kind: 'TOOL',
    span: { scope: 'openinference.instrumentation.smolagents' },
    attributes: { 'tool.name': 'final_answer' },
    facts: { role: 'step' },
  },
  {
    name: 'a flattened result that lost its status has it from the raw list of messages',
    kind: 'LLM',
    span: { scope: 'openinference.instrumentation.bedrock' },
    attributes: {
      [`${in0}role`]: 'tool',
      [`${in0}content`]: 'boom',
      [`${in0}tool_call_id`]: 'c1',
      'input.value': '[{"role":"user","content":[{"toolResult":{"toolUseId":"c1","content":[{"text":"boom"}],"status":"error"}}]}]',
    },
    facts: { inputMessages: [{ results: [{ id: 'c1', result: 'boom', isError: true }] }] },
  },
  {
    name: 'Haystack’s messages are read from the text form of its objects',
    kind: 'LLM',
    span: { scope: 'openinference.instrumentation.haystack' },
    attributes: {
      [`${in0}role`]: 'tool',
      'input.value':
        "{\"messages\":[\"ChatMessage(_role=<ChatRole.TOOL: 'tool'>, _content=[ToolCallResult(result='r', origin=ToolCall(tool_name='t', arguments={}, id='c1'), error=False)])\"]}",
    },
    facts: { inputMessages: [{ results: [{ id: 'c1', result: 'r' }] }] },
  },
  {
    name: 'BeeAI’s final answer is not a tool call, but the answer',
    kind: 'LLM',
    span: { scope: 'openinference.instrumentation.beeai' },
    attributes: {
      [`${out0}role`]: 'assistant',
      [`${out0}tool_calls.0.tool_call.function.name`]: 'final_answer',
      [`${out0}tool_calls.0.tool_call.function.arguments`]: '{"response":"a"}',
    },
    facts: { outputMessages: [{ text: 'a', requested: [] }] },
  },
  {
    name: 'the span of an event of a call is not a call',
    kind: 'TOOL',
    span: { name: 'error' },
    attributes: { 'input.value': '{"error":"Tool Error"}' },
    facts: { role: 'step' },
  },
  {
    name: 'a final answer elsewhere is a tool like any other',
    kind: 'TOOL',
    attributes: { 'tool.name': 'final_answer' },
    facts: { role: 'tool' },
  },
  { name: 'a nameless, empty tool span is a step', kind: 'TOOL', attributes: {}, facts: { role: 'step' } },

  {
    name: 'messages and calls are flattened into keys',
    kind: 'LLM',
    attributes: {
      [`${in0}role`]: 'user',
      [`${in0}content`]: 'q',
      [`${out0}role`]: 'assistant',
      [`${out0}tool_calls.0.tool_call.id`]: 'c1',
      [`${out0}tool_calls.0.tool_call.function.name`]: 't',
      [`${out0}tool_calls.0.tool_call.function.arguments`]: '{"x":1}',
    },
    facts: {
      role: 'model',
      inputMessages: [{ role: 'user', text: 'q' }],
      outputMessages: [{ role: 'assistant', requested: [{ id: 'c1', name: 't', arguments: { x: 1 } }] }],
    },
  },
  ...(
    [
      ['calls without their ids', { 'tool_calls.0.tool_call.function.name': 't', 'tool_calls.0.tool_call.function.arguments': '{"x":1}' }],
      ['an empty answer', { content: '' }],
    ] as const
  ).map(([name, flattened]) => ({
    name: `${name} beside the whole answer come from that`,
    kind: 'LLM',
    attributes: {
      'llm.input_messages.0.message.role': 'user',
      'llm.input_messages.0.message.content': 'q',
      'llm.output_messages.0.message.role': 'assistant',
      ...Object.fromEntries(Object.entries(flattened).map(([key, value]) => [`llm.output_messages.0.message.${key}`, value])),
      'output.value': '[{"role":"assistant","content":[{"type":"tool-call","toolCallId":"c1","toolName":"t","args":{"x":1}}]}]',
    },
    facts: { outputMessages: [{ requested: [{ id: 'c1', name: 't', arguments: { x: 1 } }] }] },
  })),
  {
    name: 'a whole answer with other calls is another answer',
    kind: 'LLM',
    attributes: {
      'llm.input_messages.0.message.role': 'user',
      'llm.input_messages.0.message.content': 'q',
      'llm.output_messages.0.message.role': 'assistant',
      'llm.output_messages.0.message.tool_calls.0.tool_call.function.name': 't',
      'output.value': '[{"role":"assistant","content":[{"type":"tool-call","toolCallId":"c1","toolName":"u","args":{"x":1}}]}]',
    },
    facts: { outputMessages: [{ requested: [{ name: 't' }] }] },
  },
  {
    name: 'arguments may be JSON in a JSON text',
    kind: 'LLM',
    attributes: {
      [`${out0}role`]: 'assistant',
      [`${out0}tool_calls.0.tool_call.function.name`]: 't',
      [`${out0}tool_calls.0.tool_call.function.arguments`]: '"{\\"x\\":1}"',
    },
    facts: { outputMessages: [{ requested: [{ arguments: { x: 1 } }] }] },
  },
  {
    name: 'content may be flattened into parts',
    kind: 'LLM',
    attributes: {
      [`${in0}role`]: 'user',
      [`${in0}contents.0.message_content.type`]: 'text',
      [`${in0}contents.0.message_content.text`]: 'q',
    },
    facts: { inputMessages: [{ role: 'user', text: 'q' }] },
  },
  {
    name: 'a tool’s message is a result',
    kind: 'LLM',
    attributes: { [`${in0}role`]: 'tool', [`${in0}tool_call_id`]: 'c1', [`${in0}content`]: '{"r":1}' },
    facts: { inputMessages: [{ role: 'tool', results: [{ id: 'c1', result: { r: 1 } }] }] },
  },
  {
    name: 'Gemini’s calls are next to the messages',
    kind: 'LLM',
    attributes: {
      'message.tool_calls.0.tool_call.function.name': 't',
      'message.tool_calls.0.tool_call.function.arguments': '{}',
      [`${out0}role`]: 'assistant',
      [`${out0}content`]: 'a',
    },
    facts: { outputMessages: [{ requested: [{ name: 't' }] }, { text: 'a' }] },
  },
  {
    name: 'tokens and model',
    kind: 'LLM',
    attributes: {
      'llm.model_name': 'm',
      'llm.token_count.prompt': 10,
      'llm.token_count.completion': 2,
      'llm.token_count.prompt_details.cache_read': 4,
    },
    facts: { model: 'm', inputTokens: 10, outputTokens: 2, cachedInputTokens: 4 },
  },
  {
    name: 'a model span without messages and tokens only prepares a request',
    kind: 'LLM',
    attributes: { 'llm.model_name': 'm' },
    facts: { role: 'step' },
  },
  {
    name: 'definitions',
    kind: 'LLM',
    attributes: {
      'llm.tools.0.tool.json_schema': JSON.stringify({ type: 'function', function: { name: 't', description: 'd', parameters: schema } }),
      'llm.token_count.prompt': 1,
    },
    facts: { toolDefinitions: [{ name: 't', description: 'd', inputSchema: schema }] },
  },
  {
    name: 'definitions only in the request’s parameters',
    kind: 'LLM',
    attributes: {
      'llm.invocation_parameters': JSON.stringify({ tools: [{ type: 'function', function: { name: 't' } }] }),
      'llm.token_count.prompt': 1,
    },
    facts: { toolDefinitions: [{ name: 't' }] },
  },
  {
    name: 'documents',
    kind: 'RETRIEVER',
    attributes: {
      'retrieval.documents.0.document.id': 7,
      'retrieval.documents.0.document.content': 'text',
      'retrieval.documents.0.document.score': 0.5,
      'retrieval.documents.1.document.id': 'b',
    },
    facts: { role: 'retriever', documents: [{ id: '7', content: 'text', score: 0.5 }, { id: 'b' }] },
  },
];

describe('openinference', () => {
  testDocumented('openinference-dspy');
  for (const { name, span: data, kind, attributes, facts } of cases) {
    test(`openinference: ${name}`, () => {
      const read: SpanFacts = openInference.read(span({ id: 1, ...data, attributes: { 'openinference.span.kind': kind, ...attributes } }));
      expect(read).toMatchObject(facts);
    });
  }
});
