/** Logfire's instrumentations: requests and responses in one text each. */
import { describe } from 'vitest';
import { logfire } from '../../collectors/logfire.ts';
import { testCases, type Case } from './cases.ts';
import { testDocumented } from './documented.ts';

const openai = 'logfire.openai';
const agents = 'logfire.openai_agents';
const mcp = 'logfire.mcp';
const template = 'logfire.msg_template';
const call = '{"method":"tools/call","params":{"name":"t","arguments":{"x":1}}}';

const cases: readonly Case[] = [
  {
    name: 'a request and its response',
    span: { scope: openai },
    attributes: {
      request_data: '{"messages":[{"role":"user","content":"q"}],"tools":[{"type":"function","function":{"name":"t"}}]}',
      response_data: '{"message":{"role":"assistant","content":"a"},"usage":{}}',
    },
    facts: { inputMessages: [{ role: 'user', text: 'q' }], outputMessages: [{ text: 'a' }], toolDefinitions: [{ name: 't' }] },
    absent: ['role'],
  },
  {
    name: 'the request of a stream is repeated when it ends',
    span: { scope: openai },
    attributes: { request_data: '{"messages":[{"role":"user","content":"q"}],"stream":true}' },
    facts: { role: 'step' },
    absent: ['inputMessages'],
  },
  {
    name: 'the end of a stream',
    span: { scope: openai },
    attributes: {
      request_data: '{"messages":[{"role":"user","content":"q"}],"stream":true}',
      response_data: '{"combined_chunk_content":"a","chunk_count":2}',
    },
    facts: { inputMessages: [{ text: 'q' }], outputMessages: [{ text: 'a' }] },
    absent: ['role'],
  },
  {
    name: 'Anthropic’s instructions and blocks',
    span: { scope: 'logfire.anthropic' },
    attributes: {
      request_data: '{"system":"s","messages":[{"role":"user","content":"q"}],"tools":[{"name":"t","input_schema":{"type":"object"}}]}',
      response_data: '{"message":{"role":"assistant","content":"a","tool_calls":[{"id":"c1","function":{"name":"t","arguments":"{}"}}]}}',
    },
    facts: {
      inputMessages: [{ role: 'system', text: 's' }, { role: 'user' }],
      outputMessages: [{ text: 'a', requested: [{ id: 'c1', name: 't' }] }],
      toolDefinitions: [{ name: 't', inputSchema: { type: 'object' } }],
    },
  },
  {
    name: 'a scrubbed value is unknown',
    span: { scope: agents },
    attributes: { [template]: 'Function: {name}', name: 't', input: "[Scrubbed due to 'password']", output: '1' },
    facts: { role: 'tool', tool: { name: 't', result: '1' } },
    absent: ['tool.arguments', 'tool.argumentsText'],
  },
  {
    name: 'a tool that failed',
    span: { scope: agents },
    attributes: { [template]: 'Function: {name}', name: 't', error: '{"message":"boom","data":{}}' },
    facts: { tool: { failed: { message: 'boom' } } },
  },
  {
    name: 'an agent',
    span: { scope: agents },
    attributes: { [template]: 'Agent run: {name!r}', name: 'a' },
    facts: { role: 'agent', agentName: 'a' },
  },
  {
    name: 'the trace is a workflow, its group a session',
    span: { scope: agents },
    attributes: { [template]: 'OpenAI Agents trace: {name}', name: 'w', group_id: 'g' },
    facts: { role: 'workflow', sessionId: 'g' },
  },
  {
    name: 'a hand-over',
    span: { scope: agents },
    attributes: { [template]: 'Handoff: {from_agent} → {to_agent}', to_agent: 'b' },
    facts: { role: 'step', handoffTo: 'b' },
  },
  {
    name: 'a chat completion whose answer is the last message',
    span: { scope: agents },
    attributes: {
      [template]: 'Chat completion with {gen_ai.request.model!r}',
      request_data: '{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"}]}',
    },
    facts: { role: 'model', inputMessages: [{ text: 'q' }], outputMessages: [{ text: 'a' }] },
  },
  {
    name: 'a guardrail is a step',
    span: { scope: agents },
    attributes: { [template]: 'Guardrail {name!r} {triggered=}', name: 'g' },
    facts: { role: 'step' },
  },
  {
    name: 'a call over MCP is the execution of a tool’s call',
    span: { scope: mcp, name: 'MCP request: tools/call t', parent: 2 },
    attributes: { request: call, response: '{"content":[{"type":"text","text":"boom"}],"isError":true}' },
    facts: { role: 'tool', tool: { name: 't', insideCall: true, arguments: { x: 1 }, result: 'boom', failed: { message: 'boom' } } },
  },
  {
    name: 'a single server belongs to no agent',
    span: { scope: mcp, name: 'MCP server handle request: tools/call' },
    attributes: { request: call },
    facts: { role: 'step' },
    absent: ['tool'],
  },
  {
    name: 'another request over MCP is a step',
    span: { scope: mcp, name: 'MCP request: tools/list', parent: 2 },
    attributes: { request: '{"method":"tools/list"}' },
    facts: { role: 'step' },
  },
];

describe('logfire', () => {
  testCases(logfire, cases);
  testDocumented('logfire', {
    'openai-agents': {
      of: (trace) => trace?.toolCalls.map(({ error }) => error),
      is: [undefined, { message: 'no hotel in Osaka', type: 'HotelException', sign: 'exception_event' }],
    },
  });
});
