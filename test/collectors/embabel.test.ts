/** Embabel: the type of the event is the kind of a span. */
import { describe } from 'vitest';
import { embabel } from '../../collectors/embabel.ts';
import { testCases, type Case } from './cases.ts';
import { testDocumented } from './documented.ts';

const cases: readonly Case[] = [
  {
    name: 'a process is an agent with its input and its result',
    attributes: { 'embabel.event.type': 'agent_process', 'embabel.agent.name': 'a', 'input.value': 'q', 'output.value': 'r' },
    facts: { role: 'agent', agentName: 'a', input: 'q', output: 'r' },
  },
  {
    name: 'without content it has neither',
    attributes: { 'embabel.event.type': 'agent_process', 'embabel.agent.name': 'a' },
    facts: { role: 'agent' },
    absent: ['input', 'output'],
  },
  {
    name: 'a tool that failed',
    attributes: {
      'embabel.event.type': 'tool_call',
      'embabel.tool.status': 'error',
      'embabel.tool.error.type': 'E',
      'embabel.tool.error.message': 'boom',
    },
    facts: { role: 'tool', tool: { failed: { message: 'boom', type: 'E' } } },
  },
  {
    name: 'a tool that succeeded is left to the conventions',
    attributes: { 'embabel.event.type': 'tool_call', 'embabel.tool.status': 'success' },
    facts: { role: 'tool', tool: {} },
    absent: ['tool.failed', 'tool.name'],
  },
  ...['action', 'llm_call', 'llm_invocation', 'planning', 'tool_loop', 'lifecycle', 'rag', 7].map((type): Case => ({
    name: `${type} is a step`,
    attributes: { 'embabel.event.type': type, 'input.value': 'q', 'output.value': 'r' },
    facts: { role: 'step' },
    absent: ['input', 'output'],
  })),
];

describe('embabel', () => {
  testCases(embabel, cases);
  testDocumented('embabel');
});
