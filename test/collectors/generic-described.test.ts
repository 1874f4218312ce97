/** The reader by evidence: agents that are described as data, handoffs, and values in frames or on the surrounding step. */
import { describe, expect, test } from 'vitest';
import { generic } from '../../collectors/generic.ts';
import { span } from '../builders/spans.ts';
import { testCases, type Case } from './cases.ts';

const cases: readonly Case[] = [
  {
    name: 'a pointer to instructions is not a prompt',
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
    name: 'a tool span that only names the next agent is a handoff',
    span: { name: 'acme.handoff' },
    attributes: { 'acme.span.kind': 'TOOL', 'acme.handoff.to': 'planner' },
    facts: { role: 'step', handoffTo: 'planner' },
  },
  {
    name: 'definitions with schemas count before plain names',
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

const entities: readonly Case[] = [
  {
    name: 'a tool among the entities of a call names it',
    span: { name: 'acme.Tool.run', events: [{ name: 'data.input', attributes: { input: "{'x': 1}" } }] },
    attributes: {
      'span.type': 'agentic.tool.invocation',
      'entity.1.name': 'find',
      'entity.1.type': 'tool.function',
      'entity.1.description': 'd',
      'entity.2.name': 'clerk',
      'entity.2.type': 'agent.acme',
    },
    facts: { role: 'tool', tool: { name: 'find', description: 'd', arguments: { x: 1 } } },
  },
  {
    name: 'an agent among the entities of its span names it and has its instructions',
    span: { name: 'acme.Graph.invoke', parent: 2, events: [{ name: 'data.input', attributes: { input: '["q"]' } }] },
    attributes: {
      'span.type': 'agentic.invocation',
      'entity.1.name': 'clerk',
      'entity.1.type': 'agent.acme',
      'entity.1.instructions': 'Be brief.',
    },
    facts: { role: 'agent', agentName: 'clerk', systemPrompt: 'Be brief.', input: 'q' },
  },
  {
    name: 'a model among the entities of a request is the one that is asked',
    attributes: {
      'span.type': 'inference.framework',
      'entity.1.name': 'acme',
      'entity.1.type': 'inference.acme',
      'entity.2.name': 'm',
      'entity.2.type': 'model.llm.m',
    },
    facts: { role: 'model', model: 'm' },
  },
];

const requests: readonly Case[] = [
  {
    name: 'a conversation under the key of an answer is what was asked, and its end the answer',
    attributes: {
      'acme.span.kind': 'llm',
      'acme.response.messages': '[{"role":"system","content":"s"},{"role":"user","content":"q"},{"role":"assistant","content":"a"}]',
    },
    facts: { inputMessages: [{ role: 'system' }, { text: 'q' }, { text: 'a' }], outputMessages: [{ role: 'assistant', text: 'a' }] },
  },
  {
    name: 'the content of an answer is the answer beside a conversation without one',
    attributes: {
      'acme.span.kind': 'llm',
      'acme.response.messages': '[{"role":"user","content":"q"}]',
      'acme.response.content': '[{"type":"tool_call","id":"c1","name":"find","args":"{\\"x\\":1}"}]',
    },
    facts: { inputMessages: [{ text: 'q' }], outputMessages: [{ requested: [{ id: 'c1', name: 'find', arguments: { x: 1 } }] }] },
  },
  {
    name: 'a whole request of a model’s API makes a request, although the kind is unknown',
    span: { name: 'create', parent: 2 },
    attributes: {
      input: '{"model":"m","messages":[{"role":"user","content":"q"}],"tools":[{"type":"function","function":{"name":"find"}}]}',
      output: '<acme.Stream object at 0x7fe938e60b90>',
    },
    facts: { role: 'model', model: 'm', inputMessages: [{ role: 'user', text: 'q' }], toolDefinitions: [{ name: 'find' }] },
  },
  {
    name: 'the system’s message with only the role and one text under the list’s keys',
    attributes: {
      'acme.span.kind': 'llm',
      'acme.input.messages': '[{"role":"user","content":"q"}]',
      'acme.input.messages.0.message_role': 'system',
      'acme.input.messages.0.acme.odd': 's',
      'acme.input.messages.1.message_role': 'user',
      'acme.choice.0.tool_json_schema': '{"type":"function","function":{"name":"find","parameters":{"type":"object"}}}',
    },
    facts: { toolDefinitions: [{ name: 'find', inputSchema: { type: 'object' } }] },
  },
  {
    name: 'counts in the text form of an object',
    attributes: { 'acme.span.kind': 'llm', 'acme.token_usage': 'total_tokens=12 prompt_tokens=8 completion_tokens=4' },
    facts: { inputTokens: 8, outputTokens: 4 },
  },
  {
    name: 'the session that a traced function is given by name',
    attributes: { 'acme.agent.name': 'clerk', 'acme.agent.inputs': '{"args":"[]","kwargs":"{\\"session_id\\":\\"s1\\"}"}' },
    facts: { sessionId: 's1' },
  },
  {
    name: 'input and output of a function of unknown kind around a run',
    span: { name: 'answer_customer' },
    attributes: { input: '{"question":"q"}', output: 'a' },
    facts: { inputDump: 'q', outputDump: 'a' },
    absent: ['role', 'input', 'output'],
  },
];

describe('generic', () => {
  testCases(generic, [...cases, ...entities, ...requests]);

  test('generic: the system’s message under other keys is the prompt where the messages have none', () => {
    const one = span({
      id: 1,
      attributes: {
        'acme.span.kind': 'llm',
        'acme.input.messages.0.message_role': 'system',
        'acme.input.messages.0.acme.odd': 's',
      },
    });
    const asked = [{ role: 'user', text: 'q', requested: [], results: [] }] as const;
    expect(generic.read(one, undefined, { role: 'model', inputMessages: asked }).systemPrompt).toBe('s');
    expect(generic.read(one, undefined, { role: 'model', inputMessages: [{ ...asked[0], role: 'system' }] }).systemPrompt).toBeUndefined();
  });
});
