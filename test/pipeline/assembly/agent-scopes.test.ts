/** Where agents begin and end: which span is whose, who works under whom, and how the work was passed on. */
import { describe, expect, test } from 'vitest';
import type { Span } from '../../../src/model/span.ts';
import { agentDepthMax } from '../../../src/pipeline/assembly/stages.ts';
import type { Draft } from '../../../src/pipeline/assembly/assemble.ts';
import { assembled } from '../../builders/assembled.ts';
import { agentSpan, modelSpan, toolSpan } from '../../builders/gen-ai-spans.ts';
import { span, type SpanData } from '../../builders/spans.ts';

interface Case {
  readonly name: string;
  readonly spans: readonly Span[];
  /** `span id: name [its calls] under span id`; below, the sub-agents that it names: `> name via how tool`. */
  readonly runs: readonly string[];
}

const cases: readonly Case[] = [
  {
    name: 'an agent has the spans below it',
    spans: [agentSpan({ id: 1, agent: 'a' }), span({ id: 2, parent: 1 }), toolSpan({ id: 3, parent: 2, tool: 'f' })],
    runs: ['1: a [f]'],
  },
  {
    name: 'a span of neither dialect nor meaning above an agent is not part of it',
    spans: [span({ id: 1, kind: 2 }), agentSpan({ id: 2, parent: 1, agent: 'a' }), toolSpan({ id: 3, parent: 2, tool: 'f' })],
    runs: ['2: a [f]'],
  },
  {
    name: 'two agents beside each other are two runs',
    spans: [span({ id: 1 }), agentSpan({ id: 2, parent: 1, agent: 'a' }), agentSpan({ id: 3, parent: 1, agent: 'b' })],
    runs: ['2: a []', '3: b []'],
  },
  {
    name: 'two agents beside each other are one run when one names the other as the one that takes over',
    spans: [
      span({ id: 1 }),
      agentSpan({ id: 2, parent: 1, agent: 'a' }),
      span({ id: 3, parent: 2, attributes: { type: 'handoff', from_agent: 'a', to_agent: 'b' } }),
      agentSpan({ id: 4, parent: 1, agent: 'b' }),
      toolSpan({ id: 5, parent: 4, tool: 'f' }),
    ],
    runs: ['2: a [] > b via handoff', '4: b [f] under 2'],
  },
  {
    name: 'one that hands over to a third has no part in the other',
    spans: [
      span({ id: 1 }),
      agentSpan({ id: 2, parent: 1, agent: 'a' }),
      span({ id: 3, parent: 2, attributes: { type: 'handoff', to_agent: 'c' } }),
      agentSpan({ id: 4, parent: 1, agent: 'b' }),
    ],
    runs: ['2: a []', '4: b []'],
  },
  ...(
    [
      [
        'another question with another answer is a sub-agent',
        'q2',
        'a2',
        ['1: none [g] > undefined via child_span', '3: none [f] under 1'],
      ],
      ['the same question is a stage of its work', 'q', 'a2', ['1: none [f g]']],
    ] as const
  ).map(([what, input, output, runs]): Case => ({
    name: `an agent without a name, whose method is beside that of the one around it, for ${what}`,
    spans: [
      span({ id: 1, name: 'shop.agent.run_sync', attributes: { 'acme.kind': 'agent', 'acme.input': 'q', 'acme.output': 'a' } }),
      span({ id: 3, parent: 1, name: 'shop.agent.run', attributes: { 'acme.kind': 'agent', 'acme.input': input, 'acme.output': output } }),
      toolSpan({ id: 4, parent: 3, start: 10, end: 20, tool: 'f' }),
      toolSpan({ id: 5, parent: 1, start: 30, end: 40, tool: 'g' }),
    ],
    runs,
  })),
  {
    name: 'an outermost agent without content that starts one other is its wrapper',
    spans: [
      agentSpan({ id: 1, agent: 'shop' }),
      span({ id: 2, parent: 1 }),
      agentSpan({ id: 3, parent: 2, agent: 'a' }),
      toolSpan({ id: 4, parent: 3, tool: 'f' }),
    ],
    runs: ['3: a [f]'],
  },
  {
    name: 'an outermost agent that starts two others is an agent',
    spans: [
      agentSpan({ id: 1, agent: 'shop' }),
      agentSpan({ id: 2, parent: 1, agent: 'a' }),
      toolSpan({ id: 3, parent: 2, tool: 'f' }),
      agentSpan({ id: 4, parent: 1, agent: 'b' }),
      toolSpan({ id: 5, parent: 4, tool: 'g' }),
    ],
    runs: ['1: shop [] > a via child_span > b via child_span', '2: a [f] under 1', '4: b [g] under 1'],
  },
  {
    name: 'spans that name the agent around them again, and were asked nothing, are its turns',
    spans: [
      agentSpan({ id: 1, agent: 'a', input: 'q', output: 'r' }),
      agentSpan({ id: 2, parent: 1, agent: 'a', output: 's' }),
      toolSpan({ id: 3, parent: 2, tool: 'f' }),
      agentSpan({ id: 4, parent: 1, agent: 'a', output: 'r' }),
      toolSpan({ id: 5, parent: 4, tool: 'g' }),
    ],
    runs: ['1: a [f g]'],
  },
  {
    name: 'tool calls belong to the nearest agent above them',
    spans: [
      agentSpan({ id: 1, agent: 'outer' }),
      toolSpan({ id: 2, parent: 1, tool: 'f' }),
      agentSpan({ id: 3, parent: 1, agent: 'inner' }),
      toolSpan({ id: 4, parent: 3, tool: 'g' }),
    ],
    runs: ['1: outer [f] > inner via child_span', '3: inner [g] under 1'],
  },
  {
    name: 'an agent below a tool’s span was called as that tool',
    spans: [
      agentSpan({ id: 1, agent: 'outer' }),
      toolSpan({ id: 2, parent: 1, tool: 'ask_inner', end: 90 }),
      span({ id: 3, parent: 2 }),
      agentSpan({ id: 4, parent: 3, agent: 'inner' }),
      toolSpan({ id: 5, parent: 4, tool: 'g' }),
    ],
    runs: ['1: outer [ask_inner] > inner via tool ask_inner', '4: inner [g] under 1'],
  },
  {
    name: 'agents that follow each other inside a workflow handed the work over',
    spans: [
      workflow({ id: 1, end: 90 }),
      agentSpan({ id: 2, parent: 1, agent: 'triage', end: 10 }),
      modelSpan({ id: 3, parent: 2, asks: [{ id: 'c', name: 'transfer_to_booking_agent' }] }),
      agentSpan({ id: 11, parent: 1, agent: 'Booking Agent' }),
      toolSpan({ id: 12, parent: 11, tool: 'book' }),
    ],
    runs: [
      '2: triage [transfer_to_booking_agent] > Booking Agent via handoff transfer_to_booking_agent',
      '11: Booking Agent [book] under 2',
    ],
  },
  {
    name: 'a workflow around one agent is its frame and lends it input and name',
    spans: [
      workflow({ id: 1, attributes: { 'gen_ai.workflow.name': 'w' } }),
      agentSpan({ id: 2, parent: 1, agent: 'a' }),
      toolSpan({ id: 3, parent: 2, tool: 'f' }),
    ],
    runs: ['2: a [f]'],
  },
  {
    name: 'an agent span around one of the same name is its frame',
    spans: [agentSpan({ id: 1, agent: 'a' }), agentSpan({ id: 2, parent: 1, agent: 'a' }), toolSpan({ id: 3, parent: 2, tool: 'f' })],
    runs: ['2: a [f]'],
  },
  {
    name: 'spans of one name in a frame are turns of one agent',
    spans: [
      workflow({ id: 1, attributes: { 'gen_ai.conversation.id': 's' } }),
      agentSpan({ id: 2, parent: 1, start: 1, end: 5, agent: 'a' }),
      toolSpan({ id: 3, parent: 2, start: 2, tool: 'f' }),
      agentSpan({ id: 4, parent: 1, start: 6, end: 9, agent: 'a' }),
      toolSpan({ id: 5, parent: 4, start: 7, tool: 'g' }),
    ],
    runs: ['2: a [f g]'],
  },
  {
    name: 'a workflow that works itself is an agent',
    spans: [
      workflow({ id: 1, attributes: { 'gen_ai.workflow.name': 'w' } }),
      toolSpan({ id: 2, parent: 1, tool: 'f' }),
      agentSpan({ id: 3, parent: 1, agent: 'a' }),
    ],
    runs: ['1: w [f] > a via child_span', '3: a [] under 1'],
  },
  {
    name: 'without an agent span the local root replaces it, named after itself',
    spans: [span({ id: 1, name: 'plan trip' }), toolSpan({ id: 2, parent: 1, tool: 'f' })],
    runs: ['1: plan trip [f]'],
  },
  {
    name: 'server and client spans around the work do not replace the span inside',
    spans: [
      span({ id: 1, name: 'POST', kind: 3 }),
      span({ id: 2, parent: 1, name: 'POST /chat', kind: 2 }),
      span({ id: 3, parent: 2, name: 'plan trip' }),
      toolSpan({ id: 4, parent: 3, tool: 'f' }),
      span({ id: 5, parent: 2, name: 'log' }),
    ],
    runs: ['3: plan trip [f]'],
  },
  { name: 'a model span by itself is its own run', spans: [modelSpan({ id: 1, says: 'hello' })], runs: ['1: none []'] },
  {
    name: 'spans that await one parent are one run on it',
    spans: [
      toolSpan({ id: 2, parent: 9, tool: 'f' }),
      toolSpan({ id: 3, parent: 9, tool: 'g' }),
      toolSpan({ id: 4, parent: 8, tool: 'h' }),
    ],
    runs: ['9: none [f g]', '8: none [h]'],
  },
  {
    name: 'spans without work are not a run',
    spans: [span({ id: 1 }), span({ id: 2, parent: 1 }), span({ id: 3, parent: 9 })],
    runs: [],
  },
  {
    name: 'an agent whose parent has not arrived works below the agent that is the trace’s root',
    spans: [
      agentSpan({ id: 1, agent: 'outer' }),
      toolSpan({ id: 2, parent: 1, tool: 'f' }),
      agentSpan({ id: 4, parent: 3, agent: 'inner' }),
    ],
    runs: ['1: outer [f] > inner via child_span', '4: inner [] under 1'],
  },
  {
    name: 'work whose parent has not arrived may belong to an agent in between, so it stays by itself',
    spans: [agentSpan({ id: 1, agent: 'outer' }), toolSpan({ id: 4, parent: 3, tool: 'f' })],
    runs: ['1: outer []', '3: none [f]'],
  },
  {
    name: 'a stage that a framework calls an agent, without a name and without work, is not a sub-agent',
    spans: [
      agentSpan({ id: 1, agent: 'outer' }),
      workflow({ id: 2, parent: 1 }),
      toolSpan({ id: 3, parent: 2, tool: 'ask' }),
      workflow({ id: 4, parent: 3, name: 'executor' }),
      workflow({ id: 5, parent: 4, name: 'plan' }),
      toolSpan({ id: 6, parent: 4, tool: 'f' }),
    ],
    runs: ['1: outer [ask] > executor via tool ask', '4: executor [f] under 1'],
  },
  {
    name: 'a span that only has the name of an agent whose work is in other spans is not a sub-agent',
    spans: [
      agentSpan({ id: 1, agent: 'outer' }),
      toolSpan({ id: 2, parent: 1, tool: 'f' }),
      agentSpan({ id: 3, parent: 1, agent: 'inner' }),
      span({ id: 4, parent: 1, attributes: { 'acme.step.type': 'step', 'acme.agent.name': 'inner' } }),
      toolSpan({ id: 5, parent: 4, tool: 'g' }),
    ],
    runs: ['1: outer [f] > inner via child_span', '4: inner [g] under 1'],
  },
  {
    name: 'an agent that works nowhere is a sub-agent all the same',
    spans: [
      agentSpan({ id: 1, agent: 'outer' }),
      toolSpan({ id: 2, parent: 1, tool: 'f' }),
      agentSpan({ id: 3, parent: 1, agent: 'inner' }),
    ],
    runs: ['1: outer [f] > inner via child_span', '3: inner [] under 1'],
  },
  {
    name: 'what a framework calls any graph is a frame of the agents in it',
    spans: [
      agentSpan({ id: 1, agent: 'LangGraph' }),
      agentSpan({ id: 2, parent: 1, agent: 'clerk', end: 10 }),
      toolSpan({ id: 3, parent: 2, tool: 'f' }),
    ],
    runs: ['2: clerk [f]'],
  },
  {
    name: 'a span that only has the name of the agent whose steps are beside it is not a sub-agent',
    spans: [
      agentSpan({ id: 1, agent: 'LangGraph' }),
      agentSpan({ id: 2, parent: 1, agent: 'clerk' }),
      span({ id: 3, parent: 1, attributes: { 'acme.step.type': 'step', 'acme.agent.name': 'clerk' } }),
      toolSpan({ id: 4, parent: 3, tool: 'f' }),
    ],
    runs: ['1: clerk [f]'],
  },
  ...['call', 'tool.run.start-3'].map((name) => ({
    name: `an agent that works inside a tool, in a span ${name}`,
    spans: [
      agentSpan({ id: 1, agent: 'a' }),
      toolSpan({ id: 2, parent: 1, tool: 'ask', end: 90 }),
      span({ id: 3, parent: 2, name }),
      modelSpan({ id: 4, parent: 3, says: 'x' }),
      toolSpan({ id: 5, parent: 3, tool: 'f' }),
    ],
    runs:
      name === 'call'
        ? ['1: a [ask] > call via tool ask', '3: call [f] under 1']
        : ['1: a [ask] > undefined via tool ask', '3: none [f] under 1'],
  })),
  ...['ai.generateText', 'invocation'].map((name) => ({
    name: `${name} is the name of no agent`,
    spans: [span({ id: 1, name }), toolSpan({ id: 2, parent: 1, tool: 'f' })],
    runs: ['1: none [f]'],
  })),
  ...['AxGen > support', 'step support', 'node support'].map((name) => ({
    name: `the frame before the name in ${name} is not part of the agent’s`,
    spans: [span({ id: 1, name }), toolSpan({ id: 2, parent: 1, tool: 'f' })],
    runs: ['1: support [f]'],
  })),
  {
    name: 'agents in a cycle of parents are still found',
    spans: [agentSpan({ id: 1, parent: 3, agent: 'a' }), toolSpan({ id: 2, parent: 1, tool: 'f' }), span({ id: 3, parent: 2 })],
    runs: ['1: a [f]'],
  },
];

describe('agents', () => {
  for (const { name, spans, runs } of cases) {
    test(`agents: ${name}`, () => {
      expect(assembled(spans).map(text)).toEqual(runs);
      expect(assembled(spans.toReversed()).map(text)).toEqual(runs);
    });
  }

  test('agents: a frame lends its agent what it lacks, and keeps the agent’s own values', () => {
    const spans = [
      workflow({
        id: 1,
        attributes: { 'gen_ai.input.messages': '[{"role":"user","content":"of the frame"}]', 'gen_ai.conversation.id': 's' },
      }),
      agentSpan({ id: 2, parent: 1, agent: 'a', output: 'own' }),
    ];
    expect(assembled(spans)[0]?.trace).toMatchObject({ agent: 'a', input: 'of the frame', finalResponse: 'own', sessionId: 's' });
  });

  test('agents: a span above messages is a frame of several agents, and no part of the only one', () => {
    const messages = [span({ id: 1 }), span({ id: 2, parent: 1, scope: 'autogen SingleThreadedAgentRuntime' })];
    const agents = (count: number) =>
      Array.from({ length: count }, (_, at) => agentSpan({ id: at + 3, parent: 2, agent: `a${at}`, start: at, end: at + 1 }));
    const spansOf = (count: number) =>
      assembled([...messages, ...agents(count)]).map((draft) => [
        text(draft),
        draft.spans.map(({ spanId: id }) => Number.parseInt(id, 16)).toSorted((one, other) => one - other),
      ]);
    expect(spansOf(1)).toEqual([['3: a0 []', [3]]]);
    expect(spansOf(2)).toEqual([
      ['3: a0 [] > a1 via handoff', [1, 2, 3]],
      ['4: a1 [] under 3', [4]],
    ]);
  });

  test(`agents: an agent nested deeper than ${agentDepthMax} is a step of the one above`, () => {
    const spans = Array.from({ length: agentDepthMax + 10 }, (_, index) =>
      agentSpan({ id: index + 1, parent: index === 0 ? undefined : index }),
    );
    const drafts = assembled(spans);
    expect(drafts).toHaveLength(agentDepthMax);
    expect(drafts.at(-1)?.spans).toHaveLength(11);
  });
});

function workflow(data: SpanData): Span {
  return span({ ...data, attributes: { 'gen_ai.operation.name': 'invoke_workflow', ...data.attributes } });
}

function text(draft: Draft): string {
  const number = (id: string): number => Number.parseInt(id, 16);
  const subs = draft.trace.subAgents
    .map((sub) => ` > ${sub.agent} via ${sub.via}${sub.viaTool === undefined ? '' : ` ${sub.viaTool}`}`)
    .join('');
  return `${number(draft.key.spanId)}: ${draft.trace.agent ?? 'none'} [${draft.trace.toolCalls.map((call) => call.name).join(' ')}]${draft.parent === undefined ? '' : ` under ${number(draft.parent.spanId)}`}${subs}`;
}
