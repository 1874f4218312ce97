/** MCP: a call of a tool shows on the agent's span, the client's and the server's, and is one call. */
import { describe } from 'vitest';
import { mcp } from '../../collectors/mcp.ts';
import { testCases, type Case } from './cases.ts';
import { testDocumented } from './documented.ts';

const method = 'mcp.method.name';

const cases: readonly Case[] = [
  {
    name: 'a client’s call',
    span: { kind: 3, parent: 2 },
    attributes: {
      [method]: 'tools/call',
      'gen_ai.tool.name': 't',
      'gen_ai.tool.call.arguments': '{"x":1}',
      'gen_ai.tool.call.result': '{"content":[{"type":"text","text":"boom"}],"isError":true}',
    },
    facts: { role: 'tool', tool: { name: 't', insideCall: true, arguments: { x: 1 }, result: 'boom', failed: { message: 'boom' } } },
  },
  {
    name: 'a call whose tool is only in the span’s name',
    span: { kind: 3, parent: 2, name: 'MCP send tools/call t' },
    attributes: { [method]: 'tools/call' },
    facts: { role: 'tool', tool: { name: 't' } },
  },
  {
    name: 'a call of an unknown tool',
    span: { kind: 3, parent: 2, name: 'tools/call' },
    attributes: { [method]: 'tools/call' },
    facts: { role: 'step' },
    absent: ['tool'],
  },
  {
    name: 'a server’s call below its client’s',
    span: { kind: 2, parent: 2 },
    attributes: { [method]: 'tools/call', 'gen_ai.tool.name': 't' },
    facts: { role: 'tool' },
  },
  {
    name: 'a server’s call whose caller is unknown belongs to no agent',
    span: { kind: 2 },
    attributes: { [method]: 'tools/call', 'gen_ai.tool.name': 't' },
    facts: { role: 'step' },
    absent: ['tool'],
  },
  ...['initialize', 'tools/list', 'resources/read', 'prompts/get', 'notifications/cancelled', 7].map((name): Case => ({
    name: `${name} is a step`,
    span: { kind: 3, parent: 2 },
    attributes: { [method]: name, 'mcp.session.id': 's' },
    facts: { role: 'step' },
    absent: ['sessionId', 'tool'],
  })),
];

describe('mcp', () => {
  testCases(mcp, cases);
  testDocumented('mcp', {
    'client-and-server': {
      of: (trace) => trace?.toolCalls.map(({ name, error }) => [name, error]),
      is: [
        ['travel-server__find_flights', undefined],
        ['book_hotel', { message: 'no hotel in Osaka', type: 'tool_error', sign: 'span_status' }],
      ],
    },
    'server-alone': { of: (_trace, runs) => runs, is: [] },
  });
});
