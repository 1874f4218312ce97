/** Pydantic AI: its first two formats, and what it adds to the GenAI conventions in the later ones. */
import { describe } from 'vitest';
import { pydanticAi } from '../../collectors/pydantic-ai.ts';
import type { JsonValue } from '../../src/model/json.ts';
import { testCases, type Case } from './cases.ts';

const parts = (role: string, ...list: readonly JsonValue[]) => ({ role, parts: list });
const events = JSON.stringify([
  { 'event.name': 'gen_ai.system.message', role: 'system', content: 'be kind' },
  { 'event.name': 'gen_ai.user.message', role: 'user', content: 'q' },
  {
    'event.name': 'gen_ai.assistant.message',
    role: 'assistant',
    tool_calls: [{ id: 'c1', type: 'function', function: { name: 't', arguments: '{"x":1}' } }],
  },
  { 'event.name': 'gen_ai.tool.message', role: 'tool', id: 'c1', name: 't', content: '{"r":1}' },
  { 'event.name': 'gen_ai.choice', index: 0, message: { role: 'assistant', content: 'a' } },
]);

const cases: readonly Case[] = [
  {
    name: 'a node that asks is the request, with the parts of its message',
    attributes: {
      'pydantic_ai.node.type': 'ModelRequestNode',
      'pydantic_ai.request.parts.0.type': 'UserPromptPart',
      'pydantic_ai.request.parts.0.content': 'q',
      'pydantic_ai.request.parts.1.type': 'ToolReturnPart',
      'pydantic_ai.request.parts.1.tool_name': 't',
      'pydantic_ai.request.parts.1.tool_call_id': 'c1',
      'pydantic_ai.request.parts.1.content': "{'r': 1}",
    },
    facts: { role: 'model', inputMessages: [{ role: 'user', text: 'q' }, { results: [{ id: 'c1', name: 't', result: { r: 1 } }] }] },
  },
  {
    name: 'the node after it has the calls of the answer, and the model',
    attributes: {
      'pydantic_ai.node.type': 'CallToolsNode',
      'pydantic_ai.response.model_name': 'm',
      'pydantic_ai.response.parts.0.type': 'ToolCallPart',
      'pydantic_ai.response.parts.0.tool_name': 't',
      'pydantic_ai.response.parts.0.tool_call_id': 'c1',
      'pydantic_ai.response.parts.0.args': '{"x":1}',
    },
    facts: { role: 'step', model: 'm', outputMessages: [{ requested: [{ id: 'c1', name: 't', arguments: { x: 1 } }] }] },
  },
  {
    name: 'any other node is a step',
    attributes: { 'pydantic_ai.node.type': 'End', 'pydantic_ai.response.parts.0.type': 'TextPart' },
    facts: { role: 'step' },
    absent: ['outputMessages'],
  },
  {
    name: 'an agent: the last question of all messages, the final result',
    span: { name: 'invoke_agent travel' },
    attributes: {
      agent_name: 'travel',
      final_result: 'a',
      'pydantic_ai.all_messages': JSON.stringify([
        parts('user', { type: 'text', content: 'old' }),
        parts('assistant', { type: 'text', content: 'x' }),
        parts('user', { type: 'text', content: 'q' }),
        parts('assistant', { type: 'text', content: 'a' }),
      ]),
    },
    facts: { role: 'agent', agentName: 'travel', input: 'q', output: 'a' },
    absent: ['inputTokens', 'outputTokens'],
  },
  {
    name: 'an agent of the first format',
    span: { name: 'agent run' },
    attributes: { agent_name: 'travel', final_result: 'a', all_messages_events: events },
    facts: { role: 'agent', agentName: 'travel', input: 'q', output: 'a' },
  },
  {
    name: 'an agent without a name and content',
    span: { name: 'agent run' },
    facts: { role: 'agent' },
    absent: ['agentName', 'input', 'output', 'sessionId'],
  },

  {
    name: 'a tool of the first formats',
    span: { name: 'running tool' },
    attributes: { 'gen_ai.tool.name': 't', 'gen_ai.tool.call.id': 'c1', tool_arguments: '{"x":1}', tool_response: '{"r":1}' },
    facts: { role: 'tool', tool: { name: 't', id: 'c1', arguments: { x: 1 }, result: { r: 1 } } },
  },
  {
    name: 'a tool whose content was not captured',
    span: { name: 'running tool' },
    attributes: { 'gen_ai.tool.name': 't' },
    facts: { role: 'tool', tool: { name: 't' } },
    absent: ['tool.arguments', 'tool.result', 'tool.id'],
  },
  {
    name: 'the text of a retry is the result',
    span: { name: 'running tool' },
    attributes: { 'gen_ai.tool.name': 't', tool_arguments: '{}', tool_response: 'no hotel in Atlantis\n\nFix the errors and try again.' },
    facts: { tool: { result: 'no hotel in Atlantis\n\nFix the errors and try again.' } },
  },
  {
    name: 'the span around several tools is none of them',
    span: { name: 'running tools' },
    attributes: { tools: ['a', 'b'] },
    facts: {},
    absent: ['role', 'tool'],
  },
  {
    name: 'tools of the later formats are left to the conventions',
    span: { name: 'execute_tool t' },
    attributes: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 't', 'gen_ai.tool.call.arguments': '{}' },
    facts: {},
    absent: ['role', 'tool'],
  },

  {
    name: 'a request of the first format: the choice is the answer',
    span: { name: 'chat m' },
    attributes: { events },
    facts: {
      inputMessages: [
        { role: 'system', text: 'be kind' },
        { role: 'user', text: 'q' },
        { role: 'assistant', requested: [{ id: 'c1', name: 't', arguments: { x: 1 } }] },
        { role: 'tool', results: [{ id: 'c1', name: 't', result: { r: 1 } }] },
      ],
      outputMessages: [{ role: 'assistant', text: 'a' }],
    },
    absent: ['role'],
  },
  {
    name: 'definitions in the request’s parameters',
    span: { name: 'chat m' },
    attributes: {
      model_request_parameters: JSON.stringify({
        function_tools: [{ name: 't', description: 'd', parameters_json_schema: { type: 'object' } }],
        output_mode: 'text',
      }),
    },
    facts: { toolDefinitions: [{ name: 't', description: 'd', inputSchema: { type: 'object' } }] },
    absent: ['inputMessages', 'outputMessages'],
  },
  {
    name: 'parameters and events that are none',
    span: { name: 'chat m' },
    attributes: { model_request_parameters: '[1]', events: '{"event.name":"gen_ai.choice"}' },
    facts: {},
    absent: ['toolDefinitions', 'inputMessages', 'outputMessages'],
  },
  {
    name: 'values of other types',
    span: { name: 'agent run' },
    attributes: { agent_name: 7, final_result: 7, all_messages_events: 7 },
    facts: { role: 'agent' },
    absent: ['agentName', 'input', 'output'],
  },
];

describe('pydantic_ai', () => {
  testCases(pydanticAi, cases, { scope: 'pydantic-ai' });
});
