/** MLflow: every value is quoted as JSON, the type of a span too. */
import { describe } from 'vitest';
import { mlflow } from '../../collectors/mlflow.ts';
import type { JsonValue } from '../../src/model/json.ts';
import type { Attributes } from '../builders/spans.ts';
import { testCases, type Case } from './cases.ts';

function traced(type: string, inputs?: JsonValue, outputs?: JsonValue, others: { readonly [name: string]: JsonValue } = {}): Attributes {
  const members = {
    spanType: type,
    ...(inputs === undefined ? {} : { spanInputs: inputs }),
    ...(outputs === undefined ? {} : { spanOutputs: outputs }),
    ...others,
  };
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [`mlflow.${name}`, JSON.stringify(value)]));
}

const definition = { type: 'function', function: { name: 't', description: 'd', parameters: { type: 'object' } } };

const cases: readonly Case[] = [
  { name: 'a span of another SDK without a type', attributes: traced('null'), facts: {}, absent: ['role'] },
  {
    name: 'an agent and a tool have their own names before their spans’',
    span: { name: 'execute_tool find', parent: 2 },
    attributes: { ...traced('TOOL', { x: 1 }, 'r'), 'gen_ai.tool.name': 'find' },
    facts: { role: 'tool', tool: { name: 'find', arguments: { x: 1 } } },
  },
  {
    name: 'the method of a class that runs a tool is not a name',
    span: { name: 'SimpleTool.__call__', parent: 2 },
    attributes: traced('TOOL', { kwargs: { x: 1 }, sanitize_inputs_outputs: true }),
    facts: { tool: { nameIsGuess: true, arguments: { x: 1 } } },
  },
  {
    name: 'messages and tools of Pydantic AI',
    attributes: traced(
      'LLM',
      {
        messages: [{ instructions: 'You help.', parts: [{ part_kind: 'user-prompt', content: 'q' }] }],
        model_request_parameters: { function_tools: [{ name: 't', parameters_json_schema: { type: 'object' } }] },
      },
      { parts: [{ part_kind: 'tool-call', tool_name: 't', args: '{"x":1}', tool_call_id: 'c' }] },
    ),
    facts: {
      inputMessages: [
        { role: 'system', text: 'You help.' },
        { role: 'user', text: 'q' },
      ],
      outputMessages: [{ role: 'assistant', requested: [{ id: 'c', name: 't', arguments: { x: 1 } }] }],
      toolDefinitions: [{ name: 't', inputSchema: { type: 'object' } }],
    },
  },
  {
    name: 'an outermost agent without an input encloses the agents',
    span: { name: 'chat' },
    attributes: traced('AGENT', '', ''),
    facts: { role: 'workflow', agentName: 'chat', agentNameIsGuess: true },
  },
  {
    name: 'parameters of a request through the Responses API',
    attributes: { ...traced('CHAT_MODEL'), instructions: '"You help."', usage: '{"input_tokens":3,"output_tokens":2}' },
    facts: { systemPrompt: 'You help.', inputTokens: 3, outputTokens: 2 },
  },
  {
    name: 'the thread of a graph is the session',
    attributes: { ...traced('CHAIN'), metadata: '{"thread_id":"t"}' },
    facts: { sessionId: 't' },
  },
  {
    name: 'an agent is named by its span',
    span: { name: 'travel', parent: 9 },
    attributes: traced('AGENT', { question: 'q' }, 'a'),
    facts: { role: 'agent', agentName: 'travel', input: 'q', output: 'a' },
  },
  {
    name: 'an agent may sum up what its requests used',
    attributes: traced('AGENT', { question: 'q' }, 'a', { 'chat.tokenUsage': { input_tokens: 120, output_tokens: 27 } }),
    facts: { role: 'agent', inputTokens: 120, outputTokens: 27 },
  },
  {
    name: 'a tool is named by itself before its span',
    span: { name: 'Tool.t' },
    attributes: { ...traced('TOOL', {}, 'a'), name: '"t"' },
    facts: { tool: { name: 't' } },
  },
  {
    name: 'a model’s name does not begin with the provider that the span names',
    attributes: traced('CHAT_MODEL', undefined, undefined, { 'llm.model': 'openai/m', 'llm.provider': 'openai' }),
    facts: { model: 'm' },
  },
  {
    name: 'a model’s name with another’s provider stays',
    attributes: traced('CHAT_MODEL', undefined, undefined, { 'llm.model': 'meta/m', 'llm.provider': 'openrouter' }),
    facts: { model: 'meta/m' },
  },
  {
    name: 'the runner of a framework encloses the agents',
    span: { name: 'AgentRunner.run' },
    attributes: traced('AGENT', { input: 'q' }, 'a', { 'openai.agent_run_root': true }),
    facts: { role: 'workflow', input: 'q' },
    absent: ['agentName'],
  },
  ...['CHAIN', 'UNKNOWN', 'WORKFLOW', 'somebody’s own'].map((type): Case => ({
    name: `${type} without a parent is the run`,
    span: { name: 'plan' },
    attributes: traced(type, { query: 'q' }, 'a'),
    facts: { role: 'workflow', agentName: 'plan', agentNameIsGuess: true, input: 'q', output: 'a' },
  })),
  {
    name: 'a chain below another span is a step',
    span: { parent: 9 },
    attributes: traced('CHAIN', { query: 'q' }),
    facts: { role: 'step' },
    absent: ['input'],
  },
  ...['EMBEDDING', 'PARSER', 'RERANKER', 'MEMORY', 'GUARDRAIL', 'EVALUATOR'].map((type): Case => ({
    name: `${type} is a step and not a run`,
    attributes: traced(type, { query: 'q' }),
    facts: { role: 'step' },
    absent: ['input', 'agentName'],
  })),

  {
    name: 'a tool',
    span: { name: 't' },
    attributes: traced('TOOL', { x: 1 }, { r: 1 }, { spanFunctionName: 't' }),
    facts: { role: 'tool', tool: { name: 't', arguments: { x: 1 }, result: { r: 1 } } },
    absent: ['tool.id'],
  },
  {
    name: 'a type without quotes is read as well',
    attributes: { 'mlflow.spanType': 'TOOL' },
    facts: { role: 'tool' },
    absent: ['tool.result', 'tool.arguments'],
  },
  { name: 'a tool that returned nothing', attributes: traced('TOOL', {}, null), facts: { tool: { arguments: {}, result: null } } },
  { name: 'a number is a number', attributes: traced('TOOL', {}, 42), facts: { tool: { result: 42 } } },
  { name: 'a text that looks like a number is a text', attributes: traced('TOOL', {}, '42'), facts: { tool: { result: '42' } } },
  { name: 'JSON in the text of a result is read', attributes: traced('TOOL', {}, '{"r":1}'), facts: { tool: { result: { r: 1 } } } },
  {
    name: 'a large integer keeps its digits',
    attributes: { 'mlflow.spanType': '"TOOL"', 'mlflow.spanOutputs': '1234567890123456789' },
    facts: { tool: { result: 1234567890123456789n } },
  },

  {
    name: 'a model as OpenAI’s client is asked and answers',
    attributes: traced(
      'CHAT_MODEL',
      { messages: [{ role: 'user', content: 'q' }], tools: [definition] },
      { choices: [{ message: { role: 'assistant', content: 'a' } }] },
      {
        'llm.model': 'm',
        'chat.tools': [definition],
        'chat.tokenUsage': { input_tokens: 120, output_tokens: 27, total_tokens: 147, cache_read_input_tokens: 16 },
      },
    ),
    facts: {
      role: 'model',
      model: 'm',
      inputMessages: [{ role: 'user', text: 'q' }],
      outputMessages: [{ text: 'a' }],
      toolDefinitions: [{ name: 't', description: 'd', inputSchema: { type: 'object' } }],
      inputTokens: 120,
      outputTokens: 27,
      cachedInputTokens: 16,
    },
  },
  {
    name: 'the Responses API: instructions apart, calls among the output items',
    attributes: traced(
      'LLM',
      { instructions: 'be kind', input: [{ role: 'user', content: 'q' }] },
      { output: [{ type: 'function_call', call_id: 'c1', name: 't', arguments: '{"x":1}' }] },
    ),
    facts: {
      role: 'model',
      inputMessages: [
        { role: 'system', text: 'be kind' },
        { role: 'user', text: 'q' },
      ],
      outputMessages: [{ role: 'assistant', requested: [{ id: 'c1', name: 't', arguments: { x: 1 } }] }],
    },
  },
  {
    name: 'a model without content and counts',
    attributes: traced('CHAT_MODEL'),
    facts: { role: 'model' },
    absent: ['inputMessages', 'outputMessages', 'inputTokens', 'model', 'toolDefinitions'],
  },
  {
    name: 'a retriever',
    attributes: traced('RETRIEVER', { query: 'q' }, [{ page_content: 'text', metadata: { doc_uri: 'a.md', chunk_id: '3' } }]),
    facts: { role: 'retriever', documents: [{ id: 'a.md', content: 'text' }] },
  },
  {
    name: 'broken JSON stays a text',
    attributes: { 'mlflow.spanType': '"TOOL"', 'mlflow.spanInputs': '{"x":', 'mlflow.spanOutputs': '{"r":' },
    facts: { tool: { arguments: null, argumentsText: '{"x":', result: '{"r":' } },
  },
];

describe('mlflow', () => {
  testCases(mlflow, cases);
});
