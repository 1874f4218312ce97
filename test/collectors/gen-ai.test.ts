/** The GenAI conventions on spans and in log records, and what instrumentations make of them. */
import { describe, expect, test } from 'vitest';
import { genAi } from '../../collectors/gen-ai.ts';
import type { AttributeValue, LogRecord } from '../../src/model/span.ts';
import { record, span, type Attributes, type SpanData } from '../builders/spans.ts';
import { testDocumented } from './documented.ts';

const schema = { type: 'object', properties: { x: { type: 'string' } } };

const cases: readonly {
  readonly name: string;
  readonly span?: Partial<SpanData>;
  readonly operation?: string;
  readonly attributes: Attributes;
  readonly facts: object;
  readonly without?: string;
}[] = [
  {
    name: 'an agent',
    operation: 'invoke_agent',
    attributes: {
      'gen_ai.agent.name': 'a',
      'gen_ai.conversation.id': 's',
      'session.id': 'other',
      'gen_ai.input.messages': '[{"role":"user","parts":[{"type":"text","content":"q"}]}]',
    },
    facts: { role: 'agent', agentName: 'a', sessionId: 's', input: 'q' },
  },
  {
    name: 'an agent names the model that it asks',
    operation: 'invoke_agent',
    attributes: { 'gen_ai.agent.name': 'a', 'gen_ai.request.model': 'm', 'gen_ai.response.model': 'm-1' },
    facts: { role: 'agent', model: 'm-1' },
  },
  {
    name: 'an agent span without a name encloses the one that has it',
    operation: 'invoke_agent',
    attributes: {},
    facts: { role: 'workflow' },
  },
  {
    name: 'a node that is called agent is a step of the agent around it',
    operation: 'invoke_agent',
    span: { parent: 9 },
    attributes: { 'gen_ai.agent.name': 'agent', 'gen_ai.usage.input_tokens': 3 },
    facts: { role: 'step' },
    without: 'agentName',
  },
  {
    name: 'an agent without a parent may be called agent',
    operation: 'invoke_agent',
    attributes: { 'gen_ai.agent.name': 'agent' },
    facts: { role: 'agent', agentName: 'agent' },
  },
  {
    name: 'a workflow',
    operation: 'invoke_workflow',
    attributes: { 'gen_ai.workflow.name': 'w' },
    facts: { role: 'workflow', agentName: 'w', agentNameIsGuess: true },
  },
  { name: 'any other operation is a step', operation: 'agent_step', attributes: {}, facts: { role: 'step' } },
  {
    name: 'another word for a request, beside the model and its tokens, is one',
    operation: 'call_llm',
    attributes: { 'gen_ai.request.model': 'm', 'gen_ai.usage.input_tokens': 10 },
    facts: { role: 'model', model: 'm', inputTokens: 10 },
  },
  {
    name: 'only another word for a request is a step',
    operation: 'call_llm',
    attributes: { 'gen_ai.request.model': 'm' },
    facts: { role: 'step', roleIsGuess: true },
  },
  {
    name: 'the making of an agent is a step',
    operation: 'create_agent',
    attributes: { 'gen_ai.agent.name': 'a' },
    facts: { role: 'step' },
  },
  {
    name: 'only a tool name makes no tool',
    operation: 'chat',
    attributes: { 'gen_ai.tool.name': 't', 'gen_ai.tool.call.id': 'c1' },
    facts: { role: 'model' },
  },
  {
    name: 'a tool',
    operation: 'execute_tool',
    attributes: {
      'gen_ai.tool.name': 't',
      'gen_ai.tool.call.id': 'c1',
      'gen_ai.tool.call.arguments': '{"x":1}',
      'gen_ai.tool.call.result': '{"r":1}',
      'gen_ai.tool.description': 'd',
    },
    facts: { role: 'tool', tool: { name: 't', id: 'c1', arguments: { x: 1 }, result: { r: 1 }, description: 'd' } },
  },
  {
    name: 'a tool without a name attribute is named by its span',
    operation: 'execute_tool',
    span: { name: 'execute_tool t' },
    attributes: {},
    facts: { tool: { name: 't' } },
  },
  {
    name: 'a framework’s class is the name of no tool',
    operation: 'execute_tool',
    span: { name: 'execute_tool DynamicStructuredTool' },
    attributes: {},
    facts: { role: 'tool', roleIsGuess: true },
  },
  {
    name: 'a span over the calls of several tools is none',
    operation: 'execute_tool',
    attributes: { 'gen_ai.tool.name': '(merged tools)' },
    facts: { role: 'step' },
    without: 'tool',
  },
  {
    name: 'structured arguments and results',
    operation: 'execute_tool',
    attributes: { 'gen_ai.tool.name': 't', 'gen_ai.tool.call.arguments': { x: 1 }, 'gen_ai.tool.call.result': { r: [1] } },
    facts: { tool: { arguments: { x: 1 }, result: { r: [1] } } },
  },
  {
    name: 'arguments in Python notation',
    operation: 'execute_tool',
    attributes: { 'gen_ai.tool.name': 't', 'gen_ai.tool.call.arguments': "{'x': None, 'y': (1, 2)}" },
    facts: { tool: { arguments: { x: null, y: [1, 2] } } },
  },
  {
    name: 'the id of a call that only its result has',
    operation: 'execute_tool',
    attributes: { 'gen_ai.tool.name': 't', 'gen_ai.tool.call.result': "\"content='r' name='t' tool_call_id='c1'\"" },
    facts: { tool: { result: 'r', id: 'c1' } },
  },
  {
    name: 'a result that reports a failure',
    operation: 'execute_tool',
    attributes: { 'gen_ai.tool.name': 't', 'gen_ai.tool.call.result': '{"content":[{"type":"text","text":"boom"}],"isError":true}' },
    facts: { tool: { result: 'boom', failed: { message: 'boom' } } },
  },
  {
    name: 'the response’s model counts, with tokens',
    operation: 'generate_content',
    attributes: {
      'gen_ai.request.model': 'm',
      'gen_ai.response.model': 'm-1',
      'gen_ai.usage.input_tokens': 10,
      'gen_ai.usage.output_tokens': 2,
      'gen_ai.usage.cache_read.input_tokens': 4,
    },
    facts: { role: 'model', model: 'm-1', inputTokens: 10, outputTokens: 2, cachedInputTokens: 4 },
  },
  ...[
    {
      by: 'versions before 1.27',
      attributes: { 'gen_ai.usage.prompt_tokens': 10, 'gen_ai.usage.completion_tokens': 2 },
      facts: { inputTokens: 10, outputTokens: 2 },
    },
    {
      by: 'version 1.41',
      attributes: { 'gen_ai.usage.input_tokens': 10, 'gen_ai.usage.cache_read.input_tokens': 4, 'gen_ai.usage.reasoning.output_tokens': 1 },
      facts: { inputTokens: 10, cachedInputTokens: 4, reasoningTokens: 1 },
    },
    {
      by: 'SDKs that name details',
      attributes: { 'gen_ai.usage.details.cache_read_tokens': 4, 'gen_ai.usage.details.reasoning_tokens': 1 },
      facts: { cachedInputTokens: 4, reasoningTokens: 1 },
    },
    {
      by: 'SDKs that were early',
      attributes: { 'gen_ai.usage.cache_read_input_tokens': 4, 'gen_ai.usage.reasoning_tokens': 1 },
      facts: { cachedInputTokens: 4, reasoningTokens: 1 },
    },
  ].map(({ by, attributes, facts }) => ({ name: `tokens as ${by} name them`, operation: 'chat', attributes, facts })),
  {
    name: 'a prompt in words may be several messages',
    operation: 'chat',
    attributes: { 'gen_ai.prompt': 'be kind\nq', 'gen_ai.completion': 'a' },
    facts: { outputMessages: [{ role: 'assistant', text: 'a' }] },
    without: 'inputMessages',
  },
  {
    name: 'the prompt of a completion is one',
    operation: 'text_completion',
    attributes: { 'gen_ai.prompt': 'q', 'gen_ai.completion': 'a' },
    facts: { inputMessages: [{ role: 'user', text: 'q' }], outputMessages: [{ text: 'a' }] },
  },
  {
    name: 'a prompt as JSON',
    operation: 'chat',
    attributes: { 'gen_ai.prompt': '[{"role":"user","content":"q"}]' },
    facts: { inputMessages: [{ role: 'user', text: 'q' }] },
  },
  {
    name: 'a retrieval',
    operation: 'retrieval',
    attributes: { 'gen_ai.retrieval.documents': '[{"id":"d","score":0.5}]' },
    facts: { role: 'retriever', documents: [{ id: 'd', score: 0.5 }] },
  },
  ...['plan', 'embeddings', 'create_agent', 'search_memory', 'agent_step'].map((operation) => ({
    name: `${operation} is a step`,
    operation,
    attributes: {},
    facts: { role: 'step' },
  })),
  {
    name: 'tool responses under `response` and under `result`',
    operation: 'chat',
    attributes: {
      'gen_ai.input.messages':
        '[{"role":"tool","parts":[{"type":"tool_call_response","id":"c1","response":"r1"},{"type":"tool_call_response","id":"c2","result":"r2"}]}]',
    },
    facts: {
      inputMessages: [
        {
          role: 'tool',
          results: [
            { id: 'c1', result: 'r1' },
            { id: 'c2', result: 'r2' },
          ],
        },
      ],
    },
  },
  {
    name: 'definitions with parameters, inputSchema, nested, and bare names',
    operation: 'chat',
    attributes: {
      'gen_ai.tool.definitions': JSON.stringify([
        { type: 'function', name: 'a', description: 'd', parameters: schema },
        { name: 'b', inputSchema: schema },
        { type: 'function', function: { name: 'c', parameters: schema } },
        'd',
      ]),
    },
    facts: {
      toolDefinitions: [
        { name: 'a', description: 'd', inputSchema: schema },
        { name: 'b', inputSchema: schema },
        { name: 'c', inputSchema: schema },
        { name: 'd' },
      ],
    },
  },
  {
    name: 'parameters that are null are unknown',
    operation: 'chat',
    attributes: { 'gen_ai.tool.definitions': '[{"name":"a","parameters":null}]' },
    facts: { toolDefinitions: [{ name: 'a' }] },
  },
  {
    name: 'system instructions as parts',
    operation: 'chat',
    attributes: { 'gen_ai.system_instructions': '[{"type":"text","content":"be "},{"type":"text","content":"kind"}]' },
    facts: { systemPrompt: 'be kind' },
  },
  {
    name: 'system instructions as a text',
    operation: 'chat',
    attributes: { 'gen_ai.system_instructions': 'be kind' },
    facts: { systemPrompt: 'be kind' },
  },
  {
    name: 'calls in the text form of Python objects',
    operation: 'chat',
    attributes: {
      'gen_ai.output.messages': JSON.stringify([
        {
          role: 'assistant',
          parts: [
            {
              type: 'text',
              content: `ResponseFunctionToolCall(arguments='{"city":"Val d\\'Isère (73)"}', call_id='c1', name='t', type='function_call')`,
            },
          ],
        },
      ]),
    },
    facts: { outputMessages: [{ role: 'assistant', requested: [{ id: 'c1', name: 't', arguments: { city: "Val d'Isère (73)" } }] }] },
  },
  {
    name: 'a model whose content comes in log records is marked',
    operation: 'chat',
    span: { scope: 'opentelemetry.instrumentation.openai_v2' },
    attributes: {},
    facts: { contentInLogs: true },
  },
  {
    name: 'a model that carries its content itself does not wait for records',
    operation: 'chat',
    span: { scope: 'opentelemetry.instrumentation.openai_v2' },
    attributes: { 'gen_ai.output.messages': '[]' },
    facts: { role: 'model' },
    without: 'contentInLogs',
  },
  {
    name: 'a span without an operation has only its session',
    attributes: { 'gen_ai.system': 'x', 'gen_ai.conversation.id': 's' },
    facts: { sessionId: 's' },
    without: 'role',
  },
];

const logs: readonly { readonly name: string; readonly records: readonly LogRecord[]; readonly facts: object }[] = [
  {
    name: 'one record per message',
    records: [
      message('system', { content: 'be kind' }),
      message('user', { content: 'q' }),
      message('assistant', { tool_calls: [{ id: 'c1', type: 'function', function: { name: 't', arguments: '{"x":1}' } }] }),
      message('tool', { id: 'c1', content: '{"r":1}' }),
      record({ span: 1, event: 'gen_ai.choice', body: { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'a' } } }),
    ],
    facts: {
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
    name: 'a choice without a message around it',
    records: [record({ span: 1, event: 'gen_ai.choice', body: { content: 'a' } })],
    facts: { outputMessages: [{ role: 'assistant', text: 'a' }] },
  },
  {
    name: 'content that was not captured leaves calls and names',
    records: [
      record({
        span: 1,
        event: 'gen_ai.choice',
        body: { message: { role: 'assistant', tool_calls: [{ id: 'c1', function: { name: 't' } }] } },
      }),
    ],
    facts: { outputMessages: [{ requested: [{ id: 'c1', name: 't' }] }] },
  },
  {
    name: 'a tool’s message without content still shows that it was answered',
    records: [message('tool', { id: 'c1' })],
    facts: { inputMessages: [{ role: 'tool', results: [{ id: 'c1' }] }] },
  },
  {
    name: 'input and output in two detail records of one call',
    records: [
      details({ 'gen_ai.input.messages': [{ role: 'user', parts: [{ type: 'text', content: 'q' }] }] }),
      details({
        'gen_ai.output.messages': [
          { role: 'assistant', parts: [{ type: 'tool_call', id: 'fc_1', call_id: 'c1', name: 't', arguments: { x: 1 } }] },
        ],
      }),
    ],
    facts: {
      inputMessages: [{ role: 'user', text: 'q' }],
      outputMessages: [{ requested: [{ id: 'c1', name: 't', arguments: { x: 1 } }] }],
    },
  },
  {
    name: 'results in the role of the user',
    records: [details({ 'gen_ai.input.messages': [{ role: 'user', parts: [{ type: 'tool_call_response', id: 'c1', response: 'r' }] }] })],
    facts: { inputMessages: [{ role: 'tool', results: [{ id: 'c1', result: 'r' }] }] },
  },
  {
    name: 'a record without a body has an empty message',
    records: [record({ span: 1, event: 'gen_ai.user.message' })],
    facts: { inputMessages: [{ role: 'user', requested: [], results: [] }] },
  },
];

function message(role: string, body: AttributeValue): LogRecord {
  return record({ span: 1, event: `gen_ai.${role}.message`, body });
}

function details(attributes: Attributes): LogRecord {
  return record({ span: 1, event: 'gen_ai.client.inference.operation.details', attributes });
}

describe('gen_ai', () => {
  testDocumented('gen-ai', {
    retrieval: {
      of: (trace) => [
        trace?.documents.map(({ id, score }) => [id, score]),
        trace?.reasoningSteps,
        trace?.modelCalls.map(({ inputTokens, cachedInputTokens, reasoningTokens }) => [inputTokens, cachedInputTokens, reasoningTokens]),
      ],
      is: [
        [
          ['d1', 0.83],
          ['d2', 0.41],
        ],
        ['LO83 fits.'],
        [[90, 64, 5]],
      ],
    },
  });
  for (const { name, span: data, operation, attributes, facts, without } of cases) {
    test(`gen_ai: ${name}`, () => {
      const read = genAi.read(
        span({ id: 1, ...data, attributes: { ...(operation === undefined ? {} : { 'gen_ai.operation.name': operation }), ...attributes } }),
      );
      expect(read).toMatchObject(facts);
      if (without !== undefined) expect(read).not.toHaveProperty(without);
    });
  }
  for (const { name, records, facts } of logs)
    test(`gen_ai: log records: ${name}`, () => expect(genAi.logs?.read(records)).toMatchObject(facts));
});
