/** Agents that take over inside one agent's spans, shown by the instructions of requests and by the calls between them. */
import { expect, test } from 'vitest';
import { collectors } from '../../../collectors/index.ts';
import { noTenant } from '../../../src/model/ids.ts';
import type { JsonObject } from '../../../src/model/json.ts';
import type { Span } from '../../../src/model/span.ts';
import { assemble } from '../../../src/pipeline/assembly/assemble.ts';
import { targetOf } from '../../../src/pipeline/assembly/takeovers.ts';
import { span, type Attributes } from '../../builders/spans.ts';

interface Request {
  readonly prompt?: string;
  readonly question?: string;
  readonly asks?: { readonly id: string; readonly name: string; readonly args?: JsonObject };
}

function request(id: number, parent: number, { prompt, question = 'refund A-1', asks }: Request): Span {
  const system = prompt === undefined ? [] : [{ role: 'system', content: prompt }];
  const call = asks && { id: asks.id, function: { name: asks.name, arguments: JSON.stringify(asks.args ?? {}) } };
  return node(id, parent, {
    'acme.span.kind': 'llm',
    'acme.input': JSON.stringify([...system, { role: 'user', content: question }]),
    'acme.output': JSON.stringify({ role: 'assistant', content: 'ok', ...(call === undefined ? {} : { tool_calls: [call] }) }),
    model: 'm',
  });
}

function tool(id: number, parent: number, name: string, callId: string, args: JsonObject = {}): Span {
  return node(id, parent, {
    'acme.span.kind': 'tool',
    'tool.name': name,
    'tool.call_id': callId,
    'tool.arguments': JSON.stringify(args),
    'tool.result': 'r',
  });
}

function node(id: number, parent: number | undefined, attributes: Attributes): Span {
  return span({ id, name: 'n', ...(parent === undefined ? {} : { parent }), attributes });
}

const clerk = node(1, undefined, { 'acme.span.kind': 'agent', 'agent.name': 'clerk' });
const find = { id: 'c1', name: 'find' };
const refund = { id: 'c9', name: 'refund' };

const cases: readonly {
  readonly name: string;
  readonly spans: readonly Span[];
  readonly agents: readonly (readonly [string | undefined, string, readonly string[]])[];
}[] = [
  {
    name: 'a tool that is named after the agent hands over where the instructions change',
    spans: [
      clerk,
      request(2, 1, { prompt: 'You sell.', asks: find }),
      tool(3, 1, 'find', 'c1'),
      request(4, 1, { prompt: 'You sell.', asks: { id: 'c2', name: 'transfer_to_desk' } }),
      tool(5, 1, 'transfer_to_desk', 'c2'),
      request(6, 1, { prompt: 'You pay.', asks: refund }),
      tool(7, 1, 'refund', 'c9'),
    ],
    agents: [
      ['clerk', 'root', ['find', 'transfer_to_desk']],
      ['desk', 'handoff', ['refund']],
    ],
  },
  {
    name: 'an agent that gets the conversation back goes on with it',
    spans: [
      clerk,
      request(2, 1, { prompt: 'You sell.', asks: { id: 'c2', name: 'handoff', args: { to_agent: 'desk', reason: 'money' } } }),
      request(3, 1, { prompt: 'You pay.', asks: refund }),
      tool(4, 1, 'refund', 'c9'),
      request(5, 1, { prompt: 'You sell.', asks: find }),
      tool(6, 1, 'find', 'c1'),
    ],
    agents: [
      ['clerk', 'root', ['handoff', 'find']],
      ['desk', 'handoff', ['refund']],
    ],
  },
  {
    name: 'a call with the question that another agent is then asked is its tool',
    spans: [
      clerk,
      request(2, 1, { prompt: 'You sell.', asks: { id: 'c2', name: 'ask', args: { messages: [{ text: 'Pay 5 back.' }] } } }),
      request(3, 1, { prompt: 'You pay.', question: 'Pay 5 back.', asks: refund }),
      tool(4, 1, 'refund', 'c9'),
      request(5, 1, { prompt: 'You sell.' }),
    ],
    agents: [
      ['clerk', 'root', ['ask']],
      [undefined, 'tool', ['refund']],
    ],
  },
  {
    name: 'a tool that asks a model is not an agent',
    spans: [
      clerk,
      request(2, 1, { prompt: 'You sell.', asks: { id: 'c2', name: 'translate', args: { text: 'Guten Tag' } } }),
      tool(3, 1, 'translate', 'c2', { text: 'Guten Tag' }),
      request(4, 1, { prompt: 'You translate.', question: 'Guten Tag' }),
      request(5, 1, { prompt: 'You sell.' }),
    ],
    agents: [['clerk', 'root', ['translate']]],
  },
  {
    name: 'other instructions without a hand-over do not make another agent',
    spans: [
      clerk,
      request(2, 1, { prompt: 'Judge whether the question is allowed.' }),
      request(3, 1, { prompt: 'You sell.', asks: find }),
      tool(4, 1, 'find', 'c1'),
    ],
    agents: [['clerk', 'root', ['find']]],
  },
  {
    name: 'a hand-over under the same instructions does not make another agent',
    spans: [
      clerk,
      request(2, 1, { prompt: 'You sell.', asks: { id: 'c2', name: 'transfer_to_desk' } }),
      request(3, 1, { prompt: 'You sell.', asks: find }),
      tool(4, 1, 'find', 'c1'),
    ],
    agents: [['clerk', 'root', ['transfer_to_desk', 'find']]],
  },
];

test.each(cases)('takeovers: $name', ({ spans, agents }) => {
  const found = assemble({
    tenant: noTenant,
    collectors,
    records: new Map(),
    held: spans.map((one, index) => ({ span: one, arrivedMs: index })),
  });
  const told = found.map(({ key, parent, trace }) => {
    const via = found.flatMap((other) => other.trace.subAgents).find((sub) => sub.spanId === key.spanId)?.via;
    return [trace.agent, parent === undefined ? 'root' : via, trace.toolCalls.map((call) => call.name)];
  });
  expect(told).toEqual(agents);
});

test.each([
  [{ name: 'transfer_to_desk', arguments: {} }, 'desk'],
  [{ name: 'transfer_to_desk', arguments: { request: 'pay' } }, 'desk'],
  [{ name: 'handoff_to_agent', arguments: { agent_name: 'desk', message: 'pay' } }, 'desk'],
  [{ name: 'transfer_to_agent', arguments: { agentName: 'desk' } }, 'desk'],
  [{ name: 'Delegate work to coworker', arguments: { coworker: 'desk', task: 'pay' } }, 'desk'],
  [{ name: 'handoff', arguments: { to_agent: 'desk' } }, 'desk'],
  [{ name: 'transfer_to_savings', arguments: { amount: 5 } }, undefined],
  [{ name: 'transfer', arguments: { amount: 5, to: 7 } }, undefined],
  [{ name: 'find', arguments: { agent_name: 'desk' } }, undefined],
] as const)('takeovers: the call %j hands over to %s', (call, target) => {
  expect(targetOf(call)).toBe(target);
});
