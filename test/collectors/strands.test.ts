/** Strands: content in span events, one a message or one for all. */
import { describe } from 'vitest';
import { strands } from '../../collectors/strands.ts';
import type { JsonValue } from '../../src/model/json.ts';
import type { SpanData } from '../builders/spans.ts';
import { testCases, type Case } from './cases.ts';

type Events = NonNullable<SpanData['events']>;

function said(role: string, content: JsonValue): Events[number] {
  return { name: `gen_ai.${role}.message`, attributes: { content: typeof content === 'string' ? content : JSON.stringify(content) } };
}

function choice(message: JsonValue): Events[number] {
  return {
    name: 'gen_ai.choice',
    attributes: { message: typeof message === 'string' ? message : JSON.stringify(message), finish_reason: 'end_turn' },
  };
}

const agent = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'travel' };
const tool = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 't' };
const details = {
  name: 'gen_ai.client.inference.operation.details',
  attributes: {
    'gen_ai.input.messages': '[{"role":"user","parts":[{"type":"text","content":"q"}]}]',
    'gen_ai.output.messages': '[{"role":"assistant","parts":[{"type":"tool_call","id":"c1","name":"t","arguments":{"x":1}}]}]',
  },
};

const cases: readonly Case[] = [
  {
    name: 'an agent’s question, answer and tools',
    attributes: { ...agent, 'gen_ai.agent.tools': '["a", "b"]', 'gen_ai.usage.input_tokens': 240 },
    span: { events: [said('system', [{ text: 'be kind' }]), said('user', [{ text: 'q' }]), choice('a\n')] },
    facts: { input: 'q', output: 'a', systemPrompt: 'be kind', toolDefinitions: [{ name: 'a' }, { name: 'b' }] },
    absent: ['role', 'agentName', 'inputTokens'],
  },
  {
    name: 'the system’s text may be an attribute',
    attributes: { ...agent, system_prompt: 'be kind' },
    facts: { systemPrompt: 'be kind' },
    absent: ['input', 'output'],
  },
  { name: 'an agent without events', attributes: agent, facts: {}, absent: ['input', 'output', 'systemPrompt', 'toolDefinitions'] },
  ...['swarm', 'graph'].map((kind): Case => ({
    name: `a ${kind} encloses several agents; its name is only its kind`,
    attributes: { 'gen_ai.operation.name': `invoke_${kind}`, 'gen_ai.agent.name': kind },
    span: { events: [said('user', 'q'), choice('a')] },
    facts: { role: 'workflow', agentName: kind, agentNameIsGuess: true, input: 'q', output: 'a' },
  })),

  {
    name: 'a swarm without a name is called by its span',
    attributes: { 'gen_ai.operation.name': 'invoke_swarm' },
    span: { name: 'invoke_swarm', events: [{ name: 'gen_ai.user.message' }, { name: 'gen_ai.choice' }] },
    facts: { role: 'workflow', agentName: 'invoke_swarm' },
    absent: ['input', 'output'],
  },
  {
    name: 'a request: questions, uses of tools and their results',
    attributes: { 'gen_ai.operation.name': 'chat' },
    span: {
      events: [
        said('user', [{ text: 'q' }]),
        said('assistant', [{ toolUse: { toolUseId: 'c1', name: 't', input: { x: 1 } } }]),
        said('tool', [{ toolResult: { toolUseId: 'c1', status: 'success', content: [{ text: '{"r":1}' }] } }]),
        choice([{ text: 'a' }]),
      ],
    },
    facts: {
      inputMessages: [
        { role: 'user', text: 'q' },
        { role: 'assistant', requested: [{ id: 'c1', name: 't', arguments: { x: 1 } }] },
        { role: 'tool', results: [{ id: 'c1', result: { r: 1 } }] },
      ],
      outputMessages: [{ role: 'assistant', text: 'a' }],
    },
    absent: ['role'],
  },
  {
    name: 'a result that failed',
    attributes: { 'gen_ai.operation.name': 'chat' },
    span: { events: [said('tool', [{ toolResult: { toolUseId: 'c1', status: 'error', content: [{ text: 'boom' }] } }])] },
    facts: { inputMessages: [{ results: [{ id: 'c1', result: 'boom', isError: true }] }] },
  },
  {
    name: 'one event for all messages',
    attributes: { 'gen_ai.operation.name': 'chat' },
    span: { events: [details] },
    facts: {
      inputMessages: [{ role: 'user', text: 'q' }],
      outputMessages: [{ requested: [{ id: 'c1', name: 't', arguments: { x: 1 } }] }],
    },
  },
  {
    name: 'other events are not messages',
    attributes: { 'gen_ai.operation.name': 'chat' },
    span: { events: [{ name: 'exception' }, said('nobody', 'x'), { name: 'gen_ai.choice.other' }] },
    facts: {},
    absent: ['inputMessages', 'outputMessages'],
  },

  {
    name: 'a tool has arguments and result in events',
    attributes: { ...tool, 'gen_ai.tool.status': 'success' },
    span: { events: [said('tool', '{"x":1}'), choice([{ text: '{"r":1}' }])] },
    facts: { role: 'tool', tool: { arguments: { x: 1 }, result: { r: 1 } } },
    absent: ['tool.failed', 'tool.inputSchema'],
  },
  {
    name: 'a tool that failed',
    attributes: { ...tool, 'gen_ai.tool.status': 'error' },
    span: { events: [choice([{ text: 'boom' }])] },
    facts: { tool: { result: 'boom', failed: { message: 'boom' } } },
    absent: ['tool.arguments'],
  },
  {
    name: 'a tool that failed, as version 1.0 said it',
    attributes: { ...tool, 'tool.status': 'error' },
    facts: { tool: { failed: { message: '' } } },
    absent: ['tool.result'],
  },
  {
    name: 'a tool’s schema',
    attributes: { ...tool, 'gen_ai.tool.json_schema': '{"type":"object"}' },
    facts: { tool: { inputSchema: { type: 'object' } } },
    absent: ['tool.result', 'tool.arguments'],
  },
  {
    name: 'a cycle of the loop has no facts',
    attributes: { 'event_loop.cycle_id': 'x' },
    span: { events: [said('user', 'q')] },
    facts: {},
    absent: ['role', 'input', 'inputMessages'],
  },
  {
    name: 'content of other types',
    attributes: tool,
    span: {
      events: [
        { name: 'gen_ai.tool.message', attributes: { content: 7 } },
        { name: 'gen_ai.choice', attributes: { message: [1] } },
      ],
    },
    facts: { role: 'tool' },
    absent: ['tool.arguments', 'tool.result'],
  },
];

describe('strands', () => {
  testCases(strands, cases, { scope: 'strands.telemetry.tracer' });
});
