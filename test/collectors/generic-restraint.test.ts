/** The reader by evidence claims nothing where the evidence is weak. */
import { describe, expect, test } from 'vitest';
import { generic } from '../../collectors/generic.ts';
import { span } from '../builders/spans.ts';
import { testCases, type Case } from './cases.ts';

const dumps: readonly Case[] = [
  {
    name: 'a traced function is not a tool call',
    attributes: { 'acme.span.type': 'function_call_sync' },
    facts: {},
    absent: ['role'],
  },
  {
    name: 'text that cannot be taken apart is neither input nor answer',
    attributes: { 'acme.span.kind': 'agent', 'acme.input': '{"init_state":{"running":false}}', 'acme.output': 'StopEvent(result=1)' },
    facts: { role: 'agent' },
    absent: ['input', 'inputDump', 'output', 'outputDump'],
  },
  {
    name: 'the text form of an object is not a message',
    attributes: { 'acme.span.kind': 'llm', 'acme.input': '{"messages":["ChatMessage(role=<MessageRole.USER: 1>, blocks=[])"]}' },
    facts: { role: 'model' },
    absent: ['inputMessages'],
  },
  {
    name: 'a title of several words names no agent',
    span: { name: 'warehouse chat' },
    attributes: { 'acme.span.kind': 'chain' },
    facts: { role: 'workflow' },
    absent: ['agentName'],
  },
  {
    name: 'a traced function names no agent',
    span: { name: 'shop.workflow' },
    attributes: { 'acme.span.kind': 'workflow', 'acme.entity.input': '{"args":[],"kwargs":{}}' },
    facts: { role: 'workflow' },
    absent: ['agentName'],
  },
  {
    name: 'a flag for instructions is not a prompt, and a method names no agent',
    span: { name: 'Agent.execute_task' },
    attributes: { 'acme.entity_type': 'agent', 'acme.use_system_prompt': 'True' },
    facts: { role: 'agent' },
    absent: ['systemPrompt', 'agentName'],
  },
  {
    name: 'the name of an agent that worked before is not the span’s',
    span: { name: 'turn', parent: 2 },
    attributes: { 'span.type': 'agentic.turn', 'acme.last.agent.name': 'planner' },
    facts: { role: 'step' },
    absent: ['agentName'],
  },
  {
    name: 'an unnamed function is not a tool call',
    span: { name: '<workflow>', parent: 2 },
    attributes: { 'acme.span.kind': 'FUNCTION', 'acme.function.name': '<workflow>', input: '{"x":1}' },
    facts: { role: 'step' },
    absent: ['tool'],
  },
  {
    name: 'a loop that takes a whole request is none',
    span: { name: 'generate', parent: 2 },
    attributes: { input: '{"model":"m","messages":[{"role":"user"}]}', output: '{"message":{"role":"model"}}' },
    facts: {},
    absent: ['role'],
  },
  {
    name: 'a part of the arguments in an event is not all of them',
    span: { name: 'find', events: [{ name: 'data', attributes: { input: 'A-1042' } }] },
    attributes: { 'acme.span.kind': 'tool' },
    facts: { role: 'tool' },
    absent: ['tool.arguments'],
  },
  {
    name: 'a graph that is started with a name has the agent’s',
    span: { name: 'travel.workflow' },
    attributes: { 'acme.span.kind': 'workflow', 'acme.entity.input': '{"inputs":{"messages":[["user","q"]]}}' },
    facts: { role: 'workflow', agentName: 'travel', agentNameIsGuess: true, input: 'q' },
  },
  {
    name: 'text before a name does not belong to it',
    span: { name: 'subagent:refunds' },
    attributes: { 'acme.span.kind': 'agent' },
    facts: { agentName: 'refunds' },
  },
];

const requests: readonly Case[] = [
  {
    name: 'the kind of a request without an answer and without tokens is a guess',
    attributes: { 'acme.span.kind': 'llm', 'acme.model': 'm', 'acme.input': 'q' },
    facts: { role: 'model', roleIsGuess: true },
  },
  {
    name: 'a failed request is one',
    span: { status: 'error', message: 'rate limit' },
    attributes: { 'acme.span.kind': 'llm', 'acme.model': 'm' },
    facts: { role: 'model' },
    absent: ['roleIsGuess'],
  },
  {
    name: 'a model, a usage and choices make a request, in Python notation too',
    attributes: {
      'llm.acme.model': 'm',
      'llm.acme.usage': "{'prompt_tokens': 3, 'completion_tokens': 4, 'details': None}",
      'llm.acme.messages': "[{'role': 'user', 'content': 'q'}]",
      'llm.acme.choices': "[{'index': 0, 'message': {'role': 'assistant', 'content': 'a'}}]",
    },
    facts: {
      role: 'model',
      model: 'm',
      inputTokens: 3,
      outputTokens: 4,
      inputMessages: [{ role: 'user', text: 'q' }],
      outputMessages: [{ role: 'assistant', text: 'a' }],
    },
  },
  {
    name: 'names of tools in one text',
    attributes: { 'acme.span.kind': 'llm', 'acme.tools': 'find_order,refund_order' },
    facts: { toolDefinitions: [{ name: 'find_order' }, { name: 'refund_order' }] },
  },
  {
    name: 'the text form of a tool is not a name',
    attributes: { 'acme.span.kind': 'llm', 'acme.tools': '["<FunctionTool object>"]' },
    facts: { role: 'model' },
    absent: ['toolDefinitions'],
  },
  {
    name: 'instructions without what the framework writes around them',
    attributes: {
      'acme.span.kind': 'llm',
      'acme.request':
        '{"contents":[{"role":"user","parts":[{"text":"q"}]}],"config":{"system_instruction":"You sell.\\n\\nYou are an agent. Your internal name is \\"shop\\"."}}',
    },
    facts: {
      inputMessages: [
        { role: 'system', text: 'You sell.' },
        { role: 'user', text: 'q' },
      ],
    },
  },
];

describe('generic, restraint', () => {
  testCases(generic, [...dumps, ...requests]);

  test('generic: messages without content are left out', () => {
    const one = span({
      id: 1,
      attributes: { 'acme.span.kind': 'llm', 'acme.output': '{"choices":[{"message":{"role":"assistant","content":"a"}}]}' },
    });
    const empty = [{ role: 'assistant', requested: [], results: [] }] as const;
    expect(generic.read(one, undefined, { role: 'model', outputMessages: empty }).outputMessages).toMatchObject([{ text: 'a' }]);
    expect(generic.read(one, undefined, { role: 'model', outputMessages: [{ ...empty[0], text: 'b' }] }).outputMessages).toBeUndefined();
  });
});
