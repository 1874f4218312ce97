/** Agents without a separate span: names on the steps of a graph, and agents that run inside a tool. */
import { expect, test } from 'vitest';
import { collectors } from '../../../collectors/index.ts';
import { noTenant } from '../../../src/model/ids.ts';
import type { Span } from '../../../src/model/span.ts';
import { assemble } from '../../../src/pipeline/assembly/assemble.ts';
import { span, type Attributes } from '../../builders/spans.ts';

function node(id: number, parent: number | undefined, attributes: Attributes, name = 'n'): Span {
  return span({ id, name, ...(parent === undefined ? {} : { parent }), attributes });
}

const kind = (value: string, others: Attributes = {}): Attributes => ({ 'acme.span.kind': value, ...others });
const works = (agent: string): Attributes => kind('task', { metadata: JSON.stringify({ lc_agent_name: agent }) });
const inGraph = (ns: string): Attributes => kind('task', { metadata: JSON.stringify({ langgraph_checkpoint_ns: ns }) });
const model = (text = 'a'): Attributes => kind('llm', { 'acme.output': text, model: 'm' });
const asks = (id: string, name: string): Attributes =>
  kind('llm', {
    'acme.output': JSON.stringify({ role: 'assistant', tool_calls: [{ id, function: { name, arguments: '{}' } }] }),
    model: 'm',
  });
const tool = (name: string): Attributes => kind('tool', { 'tool.name': name, 'tool.result': 'r' });

const cases: readonly {
  readonly name: string;
  readonly spans: readonly Span[];
  readonly agents: readonly (readonly [string | undefined, string, readonly string[]])[];
}[] = [
  {
    name: 'the outermost step that names another agent represents it',
    spans: [
      node(1, undefined, kind('agent', { 'agent.name': 'clerk' })),
      node(2, 1, tool('ask_desk')),
      node(3, 2, works('desk')),
      node(4, 3, works('desk')),
      node(5, 4, model()),
      node(6, 3, tool('refund')),
    ],
    agents: [
      ['clerk', 'root', ['ask_desk']],
      ['desk', 'tool', ['refund']],
    ],
  },
  {
    name: 'agents beside one another in a nameless graph hand over, and one that comes back goes on',
    spans: [
      node(1, undefined, kind('workflow'), 'LangGraph'),
      node(2, 1, works('clerk')),
      node(3, 2, tool('find')),
      node(4, 1, works('desk')),
      node(5, 4, tool('refund')),
      node(6, 1, works('clerk')),
      node(7, 6, tool('close')),
    ],
    agents: [
      ['clerk', 'root', ['find', 'close']],
      ['desk', 'handoff', ['refund']],
    ],
  },
  {
    name: 'a tool beside the steps of agents is that of the one whose model asked for it',
    spans: [
      node(1, undefined, kind('workflow'), 'AgentWorkflow'),
      node(2, 1, works('clerk')),
      node(3, 2, asks('c1', 'find')),
      node(4, 1, { ...tool('find'), 'tool.call_id': 'c1' }),
      node(5, 1, works('desk')),
      node(6, 5, asks('c2', 'refund')),
      node(7, 1, { ...tool('refund'), 'tool.call_id': 'c2' }),
    ],
    agents: [
      ['clerk', 'root', ['find']],
      ['desk', 'handoff', ['refund']],
    ],
  },
  {
    name: 'one name on all steps of a nameless graph is the agent’s own',
    spans: [node(1, undefined, kind('workflow'), 'LangGraph'), node(2, 1, works('clerk')), node(3, 2, tool('find'))],
    agents: [['clerk', 'root', ['find']]],
  },
  {
    name: 'subgraphs of older versions are named by the node that holds them, where they are built as an agent is',
    spans: [
      node(1, undefined, kind('workflow'), 'LangGraph'),
      node(2, 1, inGraph('clerk:1'), 'clerk'),
      node(3, 2, inGraph('clerk:1|agent:2')),
      node(4, 3, model('b')),
      node(5, 2, inGraph('clerk:1|tools:3')),
      node(6, 5, tool('find')),
      node(7, 1, inGraph('desk:4'), 'desk'),
      node(8, 7, inGraph('desk:4|tools:5')),
      node(9, 8, tool('refund')),
    ],
    agents: [
      ['clerk', 'root', ['find']],
      ['desk', 'handoff', ['refund']],
    ],
  },
  {
    name: 'a subgraph that is built otherwise is a stage of the agent',
    spans: [
      node(1, undefined, kind('agent', { 'agent.name': 'clerk' })),
      node(2, 1, inGraph('fetch:1|rank:2')),
      node(3, 2, model()),
      node(4, 2, tool('find')),
    ],
    agents: [['clerk', 'root', ['find']]],
  },
  {
    name: 'a model and a tool at work inside a tool are an agent, named as the span around them',
    spans: [
      node(1, undefined, kind('agent', { 'agent.name': 'clerk' })),
      node(2, 1, tool('ask_desk')),
      node(3, 2, {}, 'desk'),
      node(4, 3, model()),
      node(5, 3, tool('refund')),
    ],
    agents: [
      ['clerk', 'root', ['ask_desk']],
      ['desk', 'tool', ['refund']],
    ],
  },
  {
    name: 'a tool that only asks a model is not an agent',
    spans: [
      node(1, undefined, kind('agent', { 'agent.name': 'clerk' })),
      node(2, 1, tool('summarise')),
      node(3, 2, {}, 'chain'),
      node(4, 3, model()),
    ],
    agents: [['clerk', 'root', ['summarise']]],
  },
  {
    name: 'a nameless graph inside a named agent is a stage of it',
    spans: [
      node(1, undefined, { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'clerk' }),
      node(2, 1, { 'gen_ai.operation.name': 'invoke_agent' }),
      node(3, 2, tool('find')),
    ],
    agents: [['clerk', 'root', ['find']]],
  },
];

test.each(cases)('implied-agents: $name', ({ spans, agents }) => {
  const drafts = assemble({
    tenant: noTenant,
    held: spans.map((one, at) => ({ span: one, arrivedMs: at })),
    collectors,
    records: new Map(),
  });
  const via = new Map(drafts.flatMap(({ trace }) => trace.subAgents.map((sub) => [sub.spanId, sub.via] as const)));
  expect(drafts.map(({ key, trace }) => [trace.agent, via.get(key.spanId) ?? 'root', trace.toolCalls.map(({ name }) => name)])).toEqual(
    agents,
  );
});
