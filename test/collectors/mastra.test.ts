/** Mastra: what its own attributes add to the GenAI conventions. */
import { describe } from 'vitest';
import { mastra } from '../../collectors/mastra.ts';
import { testCases, type Case } from './cases.ts';

const cases: readonly Case[] = [
  {
    name: 'an agent’s run',
    attributes: { 'mastra.span.type': 'agent_run', 'mastra.agent_run.input': 'q', 'mastra.agent_run.output': '{"text":"a","files":[]}' },
    facts: { input: 'q', output: 'a' },
  },
  {
    name: 'an agent’s run that was given messages',
    attributes: {
      'mastra.span.type': 'agent_run',
      'mastra.agent_run.input':
        '[{"role":"user","content":"old"},{"role":"assistant","content":"x"},{"role":"user","content":[{"type":"text","text":"q"}]}]',
    },
    facts: { input: 'q' },
    absent: ['output'],
  },
  {
    name: 'an answer that is an object is kept as a dump',
    attributes: { 'mastra.span.type': 'agent_run', 'mastra.agent_run.output': '{"object":{"r":1}}' },
    facts: { outputDump: '{"object":{"r":1}}' },
    absent: ['output'],
  },
  {
    name: 'a workflow’s run',
    attributes: {
      'mastra.span.type': 'workflow_run',
      'mastra.workflow_run.input': '{"city":"Paris"}',
      'mastra.workflow_run.output': '{"result":"a"}',
    },
    facts: { input: 'Paris', output: 'a' },
  },
  {
    name: 'roles are left to the conventions',
    attributes: { 'mastra.span.type': 'agent_run', 'gen_ai.operation.name': 'invoke_agent' },
    facts: {},
    absent: ['role', 'agentName', 'input', 'output'],
  },
  ...['model_step', 'model_chunk', 'model_generation', 'tool_call', 'generic'].map((type): Case => ({
    name: `${type} has no input of the run`,
    attributes: { 'mastra.span.type': type, [`mastra.${type}.input`]: 'x', 'mastra.agent_run.input': 'q' },
    facts: {},
    absent: ['input', 'role'],
  })),
  {
    name: 'a step without a span of its request is the request',
    attributes: {
      'mastra.span.type': 'model_step',
      'gen_ai.operation.name': 'model_step',
      'mastra.model_step.input': '[{"role":"user","content":"q"}]',
      'mastra.model_step.output': '{"text":"","toolCalls":[{"toolCallId":"c1","toolName":"f","args":{"x":1}}]}',
    },
    facts: {
      role: 'model',
      inputMessages: [{ role: 'user', text: 'q' }],
      outputMessages: [{ requested: [{ id: 'c1', name: 'f', arguments: { x: 1 } }] }],
    },
  },
  ...['sessionId', 'session_id', 'threadId', 'thread_id', 'resourceId'].map((key): Case => ({
    name: `the session goes by ${key}`,
    attributes: { 'mastra.span.type': 'model_chunk', [`mastra.metadata.${key}`]: 's' },
    facts: { sessionId: 's' },
  })),
  {
    name: 'a session is nearer than the resource it belongs to',
    attributes: { 'mastra.span.type': 'agent_run', 'mastra.metadata.resourceId': 'user', 'mastra.metadata.threadId': 's' },
    facts: { sessionId: 's' },
  },
  {
    name: 'other metadata are not a session',
    attributes: { 'mastra.span.type': 'agent_run', 'mastra.metadata.runId': 'r', 'mastra.metadata.userId': 'u' },
    facts: {},
    absent: ['sessionId'],
  },
  {
    name: 'reasoning tokens have a different name from the conventions',
    attributes: { 'mastra.span.type': 'model_generation', 'gen_ai.usage.reasoning_tokens': 7 },
    facts: { reasoningTokens: 7 },
  },
  {
    name: 'values of other types are not read',
    attributes: { 'mastra.span.type': 7, 'mastra.metadata.sessionId': true, 'gen_ai.usage.reasoning_tokens': '7' },
    facts: {},
    absent: ['sessionId', 'reasoningTokens'],
  },
];

describe('mastra', () => {
  testCases(mastra, cases);
});
