/** Laminar: traced functions with one input and one output; models with the conventions' names. */
import { describe } from 'vitest';
import { laminar } from '../../collectors/laminar.ts';
import { testCases, type Case } from './cases.ts';
import { testDocumented } from './documented.ts';

const type = 'lmnr.span.type';
const cut = `${'{"text":"'.padEnd(1_000, 'x')}...[Laminar: truncated]`;

const cases: readonly Case[] = [
  {
    name: 'a span whose input describes an agent of its name',
    span: { name: 'clerk', parent: 2 },
    attributes: { [type]: 'DEFAULT', 'lmnr.span.input': '{"name":"clerk","handoffs":["planner"],"tools":[]}' },
    facts: { role: 'agent', agentName: 'clerk' },
  },
  {
    name: 'a handoff is not a call',
    span: { name: 'agents.handoff', parent: 2 },
    attributes: { [type]: 'TOOL', 'openai.agents.handoff.to': 'planner' },
    facts: { role: 'step', handoffTo: 'planner' },
  },
  {
    name: 'the group of the OpenAI Agents SDK is the session',
    attributes: { [type]: 'DEFAULT', 'lmnr.association.properties.metadata.openai.agents.group_id': 's' },
    facts: { sessionId: 's' },
  },
  {
    name: 'the outermost function encloses the run',
    span: { name: 'plan' },
    attributes: { [type]: 'DEFAULT', 'lmnr.span.input': '{"question":"q"}', 'lmnr.span.output': '"a"' },
    facts: { role: 'workflow', agentName: 'plan', agentNameIsGuess: true, input: 'q', output: 'a' },
  },
  {
    name: 'a function inside it is a step',
    span: { parent: 2 },
    attributes: { [type]: 'DEFAULT', 'lmnr.span.input': '{"question":"q"}' },
    facts: { role: 'step' },
    absent: ['input'],
  },
  {
    name: 'an agent in quotes behind the word for it',
    span: { name: "agent run: 'clerk'", parent: 2 },
    attributes: { [type]: 'DEFAULT', 'lmnr.span.input': '[{"role":"user","content":"q"}]', 'lmnr.span.output': '{"text":"a"}' },
    facts: { role: 'agent', agentName: 'clerk', input: 'q', output: 'a' },
  },
  {
    name: 'another word before the quotes makes no agent',
    span: { name: "step: 'clerk'", parent: 2 },
    attributes: { [type]: 'DEFAULT' },
    facts: { role: 'step' },
    absent: ['agentName'],
  },
  {
    name: 'a tool in quotes behind the word for it',
    span: { name: "tool: 'find order'", parent: 2 },
    attributes: { [type]: 'TOOL', 'lmnr.span.input': '{"x":1}' },
    facts: { role: 'tool', tool: { name: 'find order', arguments: { x: 1 } } },
  },
  {
    name: 'a tool',
    span: { name: 't', parent: 2 },
    attributes: { [type]: 'TOOL', 'lmnr.span.input': '{"x":1}', 'lmnr.span.output': '{"r":1}' },
    facts: { role: 'tool', tool: { name: 't', arguments: { x: 1 }, result: { r: 1 } } },
  },
  {
    name: 'a tool that returned nothing',
    span: { name: 't', parent: 2 },
    attributes: { [type]: 'TOOL', 'lmnr.span.output': 'null' },
    facts: { tool: { result: null } },
  },
  {
    name: 'values that the SDK cut are unknown',
    span: { name: 't', parent: 2 },
    attributes: { [type]: 'TOOL', 'lmnr.span.input': cut, 'lmnr.span.output': cut },
    facts: { tool: { argumentsPart: cut, resultPart: cut } },
    absent: ['tool.arguments', 'tool.result'],
  },
  {
    name: 'a model by the conventions’ names',
    attributes: {
      [type]: 'LLM',
      'gen_ai.response.model': 'm',
      'gen_ai.usage.input_tokens': 9,
      'gen_ai.usage.cache_read_input_tokens': 4,
      'gen_ai.usage.reasoning_output_tokens': 2,
      'gen_ai.output.messages': '[{"role":"assistant","content":"a"}]',
    },
    facts: { role: 'model', model: 'm', inputTokens: 9, cachedInputTokens: 4, reasoningTokens: 2, outputMessages: [{ text: 'a' }] },
  },
  {
    name: 'a model by hand',
    attributes: { [type]: 'LLM', 'lmnr.span.input': '[{"role":"user","content":"q"}]', 'lmnr.span.output': '"a"' },
    facts: { role: 'model', inputMessages: [{ role: 'user', text: 'q' }], outputMessages: [{ text: 'a' }] },
  },
  {
    name: 'sessions',
    attributes: { [type]: 'EVALUATOR', 'lmnr.association.properties.session_id': 's' },
    facts: { role: 'step', sessionId: 's' },
  },
];

describe('laminar', () => {
  testCases(laminar, cases);
  testDocumented('laminar', {
    trip: {
      of: (trace) => trace?.modelCalls.map(({ cachedInputTokens, reasoningTokens }) => [cachedInputTokens, reasoningTokens]),
      is: [
        [64, 5],
        [64, 5],
      ],
    },
  });
});
