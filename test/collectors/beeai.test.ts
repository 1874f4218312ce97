/** BeeAI: every event of the framework is a span; only those that end something count. */
import { describe } from 'vitest';
import { beeai } from '../../collectors/beeai.ts';
import { testCases, type Case } from './cases.ts';
import { testDocumented } from './documented.ts';

const kind = 'openinference.span.kind';

const cases: readonly Case[] = [
  {
    name: 'the main span of an agent is the run, named by its class',
    span: { name: 'beeai-framework-main' },
    attributes: { [kind]: 'AGENT', source: 'ReActAgent' },
    facts: { role: 'agent', agentName: 'ReActAgent' },
  },
  {
    name: 'the main span of a model is a request',
    span: { name: 'beeai-framework-main' },
    attributes: { [kind]: 'LLM', source: 'OpenAIChatModel' },
    facts: {},
    absent: ['role'],
  },
  ...['start', 'update', 'partialUpdate', 'success'].map((name): Case => ({
    name: `an agent’s event ${name} is not an agent`,
    attributes: { [kind]: 'AGENT', name },
    facts: { role: 'step' },
  })),
  {
    name: 'a call that ended',
    attributes: { [kind]: 'TOOL', name: 'toolSuccess', 'tool.name': 't', 'tool.parameters': '{"x":1}' },
    facts: { role: 'tool', tool: { name: 't', arguments: { x: 1 } } },
    absent: ['tool.failed'],
  },
  {
    name: 'a call that failed',
    attributes: { [kind]: 'TOOL', name: 'toolError', 'tool.name': 't', 'exception.message': 'boom', 'exception.type': 'E' },
    facts: { tool: { failed: { message: 'boom', type: 'E' } } },
  },
  {
    name: 'its beginning is a step',
    attributes: { [kind]: 'TOOL', name: 'toolStart', 'tool.name': 't' },
    facts: { role: 'step' },
    absent: ['tool'],
  },
  {
    name: 'a tool’s own event does not name it',
    attributes: { [kind]: 'TOOL', name: 'success', 'tool.parameters': '{}' },
    facts: { role: 'step' },
    absent: ['tool'],
  },
  { name: 'a request’s beginning is a step', attributes: { [kind]: 'LLM', name: 'start' }, facts: { role: 'step' } },
  {
    name: 'the beginning of a call has its arguments, and the tool in the framework’s spelling',
    span: { name: 'tool.dynamic.findOrder.start-1' },
    attributes: { [kind]: 'TOOL', name: 'start', 'tool.parameters': '{"x":1}' },
    facts: {
      role: 'step',
      event: { phase: 'begin', facts: { role: 'tool', tool: { name: 'findOrder', nameIsGuess: true, arguments: { x: 1 } } } },
    },
  },
  {
    name: 'the beginning of a request has the instructions without the framework’s text around them',
    span: { name: 'backend.openai.chat.start-1' },
    attributes: {
      [kind]: 'LLM',
      name: 'start',
      'llm.token_count.prompt': 1,
      'llm.input_messages.0.message.role': 'system',
      'llm.input_messages.0.message.content':
        'Assume the role of X.\n\nYour instructions are:\nBe kind.\nAlways.\n\nWhen the user sends a message, figure out a solution.',
    },
    facts: { role: 'step', event: { phase: 'begin', facts: { role: 'model', systemPrompt: 'Be kind.\nAlways.' } } },
  },
  { name: 'its end is left to OpenInference', attributes: { [kind]: 'LLM', name: 'success' }, facts: {}, absent: ['role'] },
];

describe('beeai', () => {
  testCases(beeai, cases);
  testDocumented('beeai', { react: { of: (_trace, runs) => runs.length, is: 1 } });
});
