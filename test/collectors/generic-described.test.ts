/** The reader by evidence: agents that are described as data, handoffs, and what stands in frames or on the step around. */
import { describe } from 'vitest';
import { generic } from '../../collectors/generic.ts';
import { testCases, type Case } from './cases.ts';

const cases: readonly Case[] = [
  {
    name: 'what only points to instructions is no prompt',
    attributes: { 'acme.span.kind': 'agent', 'acme.instructions': "<bound method Agent.instructions of Agent(name='clerk')>" },
    facts: { role: 'agent' },
    absent: ['systemPrompt'],
  },
  {
    name: 'the one argument of a traced run is its input',
    attributes: { 'acme.span.kind': 'agent', 'acme.input': '{"args":["q"],"reset":true}', model: 'm' },
    facts: { input: 'q', model: 'm' },
  },
  {
    name: 'flat arguments of the method that runs a tool',
    span: { name: 'SimpleTool' },
    attributes: { 'acme.span.kind': 'tool', 'acme.tool.name': 'find', 'acme.input': '{"args":{},"x":1,"sanitize_inputs_outputs":true}' },
    facts: { tool: { name: 'find', arguments: { x: 1 } } },
  },
  {
    name: 'a tool to answer with is offered, and its call is none',
    span: { name: 'FinalAnswerTool' },
    attributes: { 'acme.span.kind': 'tool', 'acme.tool.name': 'final_answer', 'acme.tool.description': 'd' },
    facts: { role: 'step', toolDefinitions: [{ name: 'final_answer', description: 'd' }] },
  },
  {
    name: 'a span whose input has its name and tools is an agent',
    span: { name: 'clerk', parent: 2 },
    attributes: { 'acme.input': '{"name":"clerk","tools":["find"],"output_type":"str"}' },
    facts: { role: 'agent' },
    absent: ['input'],
  },
  {
    name: 'an input that names something else makes no agent',
    span: { name: 'load', parent: 2 },
    attributes: { 'acme.input': '{"name":"clerk","tools":["find"]}', 'acme.session.id': 's' },
    facts: {},
    absent: ['role'],
  },
  {
    name: 'a tool span that only says who goes on is a handoff',
    span: { name: 'acme.handoff' },
    attributes: { 'acme.span.kind': 'TOOL', 'acme.handoff.to': 'planner' },
    facts: { role: 'step', handoffTo: 'planner' },
  },
  {
    name: 'definitions with schemas count before names alone',
    attributes: {
      'acme.span.kind': 'llm',
      'acme.tool.definitions': '[{"name":"find","parameters":null}]',
      'acme.request.parameters': '{"tools":[{"function_declarations":[{"name":"find","parameters_json_schema":{"type":"object"}}]}]}',
    },
    facts: { toolDefinitions: [{ name: 'find', inputSchema: { type: 'object' } }] },
  },
  {
    name: 'the one message in a typed frame is the result',
    span: { name: 'find' },
    attributes: {
      'acme.span.kind': 'tool',
      'acme.output': '{"type":"chat_messages","value":[{"role":"unknown","content":"{\\"n\\":1}"}]}',
    },
    facts: { tool: { name: 'find', result: { n: 1 } } },
  },
  {
    name: 'a step passes on the calls that it is given',
    span: { name: 'tools', parent: 2 },
    attributes: { 'acme.span.kind': 'chain', 'acme.input': '[{"name":"find","args":{"x":1},"id":"call_1","type":"tool_call"}]' },
    facts: { role: 'step', outputMessages: [{ role: 'assistant', requested: [{ id: 'call_1', name: 'find', arguments: { x: 1 } }] }] },
  },
];

describe('generic', () => {
  testCases(generic, cases);
});
