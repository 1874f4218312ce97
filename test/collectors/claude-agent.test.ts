/** The Claude Agent SDK: facts from its spans, and those that are in log records only. */
import { describe, expect, test } from 'vitest';
import { claudeAgent } from '../../collectors/claude-agent.ts';
import type { LogRecord } from '../../src/model/span.ts';
import { record, type Attributes } from '../builders/spans.ts';
import { testCases, type Case } from './cases.ts';

const spans: readonly Case[] = [
  {
    name: 'an interaction is the agent; its answer comes in log records',
    attributes: { 'span.type': 'interaction', user_prompt: 'q', 'session.id': 's' },
    facts: { role: 'agent', agentName: 'claude', agentNameIsGuess: true, input: 'q', sessionId: 's', contentInLogs: true },
    absent: ['output'],
  },
  {
    name: 'an interaction without its prompt',
    attributes: { 'span.type': 'interaction', user_prompt_length: 45 },
    facts: { role: 'agent', contentInLogs: true },
    absent: ['input', 'sessionId'],
  },
  {
    name: 'a request, with tokens under bare names',
    attributes: { 'span.type': 'llm_request', model: 'claude-sonnet-4-5', input_tokens: 120, output_tokens: 30, cache_read_tokens: 16 },
    facts: { role: 'model', model: 'claude-sonnet-4-5', inputTokens: 120, outputTokens: 30, cachedInputTokens: 16 },
    absent: ['inputMessages', 'outputMessages', 'toolDefinitions', 'systemPrompt'],
  },
  {
    name: 'a request that was not counted',
    attributes: { 'span.type': 'llm_request', input_tokens: '120' },
    facts: { role: 'model' },
    absent: ['inputTokens', 'outputTokens', 'model'],
  },
  {
    name: 'a tool has its short name, and its result in an event',
    attributes: { 'span.type': 'tool', tool_name: 'mcp__travel__t', 'gen_ai.tool.name': 't', tool_use_id: 'c1' },
    span: { events: [{ name: 'tool.output', attributes: { output: '[{"type":"text","text":"{\\"r\\":1}"}]' } }] },
    facts: { role: 'tool', tool: { name: 't', id: 'c1', result: { r: 1 } } },
    absent: ['tool.arguments'],
  },
  {
    name: 'a prompt that was not switched on is unknown',
    attributes: { 'span.type': 'interaction', user_prompt: '<REDACTED>' },
    facts: { role: 'agent' },
    absent: ['input'],
  },
  {
    name: 'an execution that failed has a reason',
    attributes: { 'span.type': 'tool.execution', tool_use_id: 'c1', error: 'boom', error_class: 'E' },
    facts: { tool: { failed: { message: 'boom', type: 'E' } } },
  },
  {
    name: 'a tool without the short name has the long one',
    attributes: { 'span.type': 'tool', tool_name: 'Bash' },
    facts: { tool: { name: 'Bash' } },
    absent: ['tool.id', 'tool.result'],
  },
  {
    name: 'other events hold no result',
    attributes: { 'span.type': 'tool', tool_name: 't' },
    span: {
      events: [
        { name: 'other', attributes: { output: 'x' } },
        { name: 'tool.output', attributes: { output: 7 } },
      ],
    },
    facts: { role: 'tool' },
    absent: ['tool.result'],
  },
  {
    name: 'the execution below the tool’s span is of the same call',
    attributes: { 'span.type': 'tool.execution', tool_use_id: 'c1' },
    facts: { role: 'tool', tool: { id: 'c1' } },
    absent: ['tool.name'],
  },
  ...['tool.blocked_on_user', 'hook', undefined, 7].map((type): Case => ({
    name: `a span of type ${String(type)} is a step`,
    attributes: type === undefined ? {} : { 'span.type': type },
    facts: { role: 'step' },
  })),
];

function toolResult(attributes: Attributes): LogRecord {
  return record({ span: 1, event: 'tool_result', attributes });
}

const logs: readonly { readonly name: string; readonly records: readonly LogRecord[]; readonly facts: object }[] = [
  {
    name: 'the prompt and the last answer',
    records: [
      record({ span: 1, event: 'user_prompt', attributes: { prompt: 'q' } }),
      record({ span: 1, event: 'assistant_response', attributes: { response: 'let me see' } }),
      record({ span: 1, event: 'assistant_response', attributes: { response: 'a' } }),
    ],
    facts: { input: 'q', output: 'a' },
  },
  {
    name: 'a tool of a server has its own name in the parameters',
    records: [
      toolResult({
        tool_name: 'mcp_tool',
        tool_use_id: 'c1',
        tool_parameters: '{"mcp_server_name":"travel","mcp_tool_name":"t"}',
        tool_input: '{"x":1}',
        success: 'true',
      }),
    ],
    facts: { outputMessages: [{ role: 'assistant', requested: [{ id: 'c1', name: 't', arguments: { x: 1 } }], results: [{ id: 'c1' }] }] },
  },
  {
    name: 'a tool of the SDK’s own',
    records: [toolResult({ tool_name: 'Bash', tool_use_id: 'c1', success: true })],
    facts: { outputMessages: [{ role: 'assistant', requested: [{ id: 'c1', name: 'Bash' }], results: [{ id: 'c1' }] }] },
  },
  {
    name: 'a call that failed',
    records: [toolResult({ tool_name: 't', tool_use_id: 'c1', tool_input: '{}', success: 'false', error: 'boom' })],
    facts: {
      outputMessages: [
        { role: 'assistant', requested: [{ id: 'c1', name: 't', arguments: {} }], results: [{ id: 'c1', result: 'boom', isError: true }] },
      ],
    },
  },
  {
    name: 'a call that failed without words',
    records: [toolResult({ tool_name: 't', tool_use_id: 'c1', success: 'false' })],
    facts: { outputMessages: [{ role: 'assistant', requested: [{ id: 'c1', name: 't' }], results: [{ id: 'c1', isError: true }] }] },
  },
  {
    name: 'several calls in one list',
    records: [toolResult({ tool_name: 'a' }), toolResult({ tool_name: 'b' })],
    facts: { outputMessages: [{ role: 'assistant', requested: [{ name: 'a' }, { name: 'b' }], results: [{}, {}] }] },
  },
  {
    name: 'arguments with cut values are unknown',
    records: [toolResult({ tool_name: 't', tool_input: '{"text":"abc…[900 chars]","x":1}' })],
    facts: {
      outputMessages: [{ role: 'assistant', requested: [{ name: 't', argumentsPart: '{"text":"abc…[900 chars]","x":1}' }], results: [{}] }],
    },
  },
  {
    name: 'an answer that was left out',
    records: [record({ span: 1, event: 'assistant_response', attributes: { response: '<REDACTED>' } })],
    facts: {},
  },
  {
    name: 'content that was not switched on',
    records: [
      record({ span: 1, event: 'user_prompt', attributes: { prompt_length: 9 } }),
      record({ span: 1, event: 'assistant_response', attributes: { response_length: 9 } }),
    ],
    facts: {},
  },
  {
    name: 'parameters that are none',
    records: [toolResult({ tool_name: 't', tool_parameters: '[1', tool_input: 'cut sh' })],
    facts: { outputMessages: [{ role: 'assistant', requested: [{ name: 't', arguments: null, argumentsText: 'cut sh' }], results: [{}] }] },
  },
];

describe('claude_agent', () => {
  testCases(claudeAgent, spans);
  for (const { name, records, facts } of logs)
    test(`claude_agent: log records: ${name}`, () => expect(claudeAgent.logs?.read(records)).toEqual(facts));
});
