/** Koog: the conventions with an id for a name; by default every text is a placeholder. */
import { describe } from 'vitest';
import { koog } from '../../collectors/koog.ts';
import { testCases, type Case } from './cases.ts';
import { testDocumented } from './documented.ts';

const system = { name: 'gen_ai.system.message', attributes: { role: 'system', content: 's' } };
const user = { name: 'gen_ai.user.message', attributes: { role: 'user', content: 'q' } };
const asks = {
  name: 'gen_ai.choice',
  attributes: { role: 'tool', tool_calls: '[{"function":{"name":"t","arguments":"{\\"x\\":1}"},"id":"c1","type":"function"}]' },
};
const told = { name: 'gen_ai.tool.message', attributes: { role: 'tool', content: '{"r":1}', id: 'c1' } };
const answer = { name: 'gen_ai.assistant.message', attributes: { role: 'assistant', content: 'a' } };

const cases: readonly Case[] = [
  {
    name: 'an agent is named by its id',
    attributes: { 'koog.event.id': 'e', 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.id': 'travel' },
    facts: { role: 'agent', agentName: 'travel' },
  },
  {
    name: 'a name is better than an id',
    attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.id': '7', 'gen_ai.agent.name': 'travel' },
    facts: { agentName: 'travel' },
  },
  {
    name: 'instructions have a name without the conventions’ prefix',
    attributes: { 'gen_ai.operation.name': 'chat', system_instructions: '[{"type":"text","content":"be kind"}]' },
    facts: { systemPrompt: 'be kind' },
  },
  {
    name: 'a placeholder is not an instruction',
    attributes: { 'gen_ai.operation.name': 'chat', system_instructions: 'HIDDEN:non-empty' },
    facts: {},
    absent: ['systemPrompt'],
  },
  {
    name: 'strategies and nodes are steps',
    attributes: { 'koog.node.id': 'call_llm', 'koog.node.input': 'q' },
    facts: { role: 'step' },
    absent: ['input'],
  },
  {
    name: 'a tool is left to the conventions',
    attributes: { 'koog.event.id': 'e', 'gen_ai.operation.name': 'execute_tool' },
    facts: {},
    absent: ['role', 'tool'],
  },
  {
    name: 'a call that the first request asks for',
    span: { events: [system, user, asks] },
    attributes: { 'gen_ai.operation.name': 'chat' },
    facts: {
      inputMessages: [{ role: 'system' }, { role: 'user', text: 'q' }],
      outputMessages: [{ requested: [{ id: 'c1', name: 't', arguments: { x: 1 } }] }],
    },
  },
  {
    name: 'the same call in the history of the next is not an answer',
    span: { events: [system, user, asks, told, answer] },
    attributes: { 'gen_ai.operation.name': 'chat' },
    facts: {
      inputMessages: [{}, {}, { requested: [{ id: 'c1' }] }, { results: [{ id: 'c1', result: { r: 1 } }] }],
      outputMessages: [{ text: 'a', requested: [] }],
    },
  },
  {
    name: 'events beside attributes are left to these',
    span: { events: [user, answer] },
    attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.output.messages': '[]' },
    facts: {},
    absent: ['inputMessages', 'outputMessages'],
  },
  {
    name: 'values of other types',
    attributes: { 'koog.event.id': 7, 'gen_ai.operation.name': 7, system_instructions: 7 },
    facts: { role: 'step' },
    absent: ['systemPrompt'],
  },
];

describe('koog', () => {
  testCases(koog, cases);
  testDocumented('koog', {
    hidden: {
      of: (trace) => ({
        calls: trace?.toolCalls.map((call) => [call.name, call.arguments, call.argumentsText, call.result]),
        input: trace?.input,
        response: trace?.finalResponse,
        tools: trace?.toolDefinitions,
      }),
      is: {
        calls: [['find_flights', undefined, undefined, undefined]],
        input: undefined,
        response: undefined,
        tools: [{ name: 'find_flights', description: 'Finds flights.' }],
      },
    },
  });
});
