/** Runs over several traces: a span with the whole conversation, messages that links tie, and runs that are taken back. */
import { describe, expect, test } from 'vitest';
import type { Run } from '../../src/model/agent-trace.ts';
import type { Span } from '../../src/model/span.ts';
import { gathered, type Gathered } from '../builders/gathered.ts';
import { agentSpan, assistant, modelSpan, toolMessage, toolSpan, user } from '../builders/gen-ai-spans.ts';
import { span, traceId } from '../builders/spans.ts';

const minute = 60_000;

function lastRuns(to: Gathered): readonly Run[] {
  const last = new Map(to.runs().map((run) => [`${run.traceId}/${run.spanId}`, run]));
  return [...last.values()];
}

/** A graph, its requests and its tool, each in a separate trace. */
function graph(
  first: number,
  {
    start,
    call,
    question = 'q',
    service,
  }: { readonly start: number; readonly call: string; readonly question?: string; readonly service?: string },
): readonly Span[] {
  const place = (offset: number, from: number, to: number) => ({
    id: first + offset,
    trace: first + offset,
    start: start + from,
    end: start + to,
    ...(service === undefined ? {} : { resource: { 'service.name': service } }),
  });
  const asks = [{ id: call, name: 't', arguments: { x: call } }];
  const whole = {
    'gen_ai.input.messages': [user(question)],
    'gen_ai.output.messages': [assistant({ asks }), toolMessage([{ id: call, response: `r ${call}` }]), assistant({ text: `a ${call}` })],
  };
  return [
    agentSpan({ ...place(0, 0, 100), agent: 'travel', attributes: whole }),
    // The requests have only texts, and no calls.
    modelSpan({ ...place(1, 5, 20), user: question, says: '' }),
    toolSpan({ ...place(2, 30, 40), call, tool: 't', result: `r ${call}` }),
    modelSpan({
      ...place(3, 50, 60),
      user: question,
      history: [assistant({ text: '' }), toolMessage([{ response: `r ${call}` }])],
      says: `a ${call}`,
    }),
  ];
}

const summary = (run: Run): readonly unknown[] => [
  Number.parseInt(run.spanId, 16),
  run.trace.finalResponse,
  run.trace.toolCalls.map((one) => [one.id, one.result, one.spanId === undefined ? undefined : Number.parseInt(one.spanId, 16)]),
  run.trace.modelCalls.map((one) => Number.parseInt(one.spanId ?? '', 16)),
];

describe('a span with the whole conversation', () => {
  test('spread: its requests and tools are part of its run, in any order of arrival', () => {
    const spans = graph(1, { start: 0, call: 'c1' });
    for (const order of [
      [0, 1, 2, 3],
      [3, 2, 1, 0],
      [2, 0, 3, 1],
    ]) {
      const to = gathered();
      to.spans(...order.map((at) => spans[at] as Span));
      to.pass(minute);
      expect(to.runs().map(summary)).toEqual([[1, 'a c1', [['c1', 'r c1', 3]], [2, 4]]]);
    }
  });

  test('spread: what had closed before it came goes on under the key of the first, and the rest is taken back', () => {
    const to = gathered();
    const [whole, ...parts] = graph(1, { start: 0, call: 'c1' }) as [Span, ...Span[]];
    to.spans(...parts);
    to.pass(minute);
    expect(
      lastRuns(to)
        .map((run) => Number.parseInt(run.spanId, 16))
        .toSorted((a, b) => a - b),
    ).toEqual([2, 3]);
    to.spans(whole);
    to.pass(minute);
    const [kept, takenBack, ...more] = lastRuns(to).toSorted(
      (a, b) => (a.partOf === undefined ? -1 : 1) - (b.partOf === undefined ? -1 : 1),
    );
    expect([kept?.revision, kept === undefined ? [] : summary(kept)]).toEqual([2, [2, 'a c1', [['c1', 'r c1', 3]], [2, 4]]]);
    expect([takenBack?.spanId, takenBack?.partOf?.spanId, takenBack?.revision, takenBack?.trace.toolCalls, more]).toEqual([
      '0000000000000003',
      kept?.spanId,
      2,
      [],
      [],
    ]);
    expect(to.count('tracejury.runs.joined')).toBe(1);
  });

  test('spread: two users who ask the same at once share nothing; requests that may be of either are neither’s', () => {
    const to = gathered();
    to.spans(...graph(1, { start: 0, call: 'c1' }), ...graph(11, { start: 3, call: 'c2' }));
    to.pass(minute);
    expect(lastRuns(to).map(summary)).toEqual([
      [1, 'a c1', [['c1', 'r c1', 3]], []],
      [11, 'a c2', [['c2', 'r c2', 13]], []],
    ]);
  });

  test('spread: users who ask other things, or services that do, keep their requests', () => {
    for (const other of [{ question: 'other' }, { service: 'other' }]) {
      const to = gathered();
      to.spans(...graph(1, { start: 0, call: 'c1' }), ...graph(11, { start: 3, call: 'c2', ...other }));
      to.pass(minute);
      expect(lastRuns(to).map((run) => summary(run)[3])).toEqual([
        [2, 4],
        [12, 14],
      ]);
    }
  });

  test('spread: an agent that has separate requests takes in none of other traces', () => {
    const to = gathered();
    to.spans(
      agentSpan({
        id: 1,
        trace: 1,
        start: 0,
        end: 100,
        attributes: { 'gen_ai.input.messages': [user('q')], 'gen_ai.output.messages': [assistant({ text: 'a' })] },
      }),
    );
    to.spans(
      modelSpan({ id: 2, trace: 1, parent: 1, start: 5, end: 9, user: 'q', says: 'a' }),
      modelSpan({ id: 3, trace: 3, start: 20, end: 30, user: 'q', says: 'b' }),
    );
    to.pass(minute);
    expect(lastRuns(to).map((run) => summary(run)[3])).toEqual([[2], [3]]);
  });
});

const bus = { scope: 'autogen SingleThreadedAgentRuntime' } as const;
const manager = { 'messaging.operation': 'process', recipient_agent_class: 'RoundRobinGroupChatManager' } as const;
const usage = { prompt_tokens: 10, completion_tokens: 2 };

/** A team of two: each agent, and each message to the manager, in a separate trace. */
const team: readonly Span[] = [
  span({ ...bus, id: 1, trace: 1, start: 1, attributes: { 'messaging.operation': 'create' } }),
  span({
    ...bus,
    id: 2,
    trace: 2,
    start: 2,
    links: [{ trace: 1, span: 1 }],
    attributes: { ...manager, message: '{"messages":[{"source":"user","content":"q"}]}' },
  }),
  span({ ...bus, id: 3, trace: 3, start: 3, links: [{ trace: 2, span: 2 }] }),
  agentSpan({ id: 4, trace: 3, parent: 3, start: 4, end: 9, agent: 'first' }),
  span({
    ...bus,
    id: 5,
    trace: 5,
    start: 6,
    links: [{ trace: 3, span: 4 }],
    attributes: {
      ...manager,
      message: JSON.stringify({ message: { type: 'TextMessage', source: 'first', content: 'half', models_usage: usage } }),
    },
  }),
  span({ ...bus, id: 6, trace: 6, start: 10, links: [{ trace: 5, span: 5 }] }),
  agentSpan({ id: 7, trace: 6, parent: 6, start: 11, end: 20, agent: 'second' }),
  span({
    ...bus,
    id: 8,
    trace: 8,
    start: 19,
    links: [{ trace: 6, span: 7 }],
    attributes: {
      ...manager,
      message: JSON.stringify({ message: { type: 'TextMessage', source: 'second', content: 'whole', models_usage: usage } }),
    },
  }),
];

describe('messages that links tie', () => {
  test('spread: a team is one run, known by the span of its answer; who took over is its sub-agent', () => {
    const to = gathered();
    to.spans(...team.toReversed());
    to.pass(minute);
    expect(
      to
        .runs()
        .map(({ traceId: known, spanId, spanTraceId, parent, trace }) => [
          known,
          Number.parseInt(spanId, 16),
          spanTraceId,
          parent?.spanId,
          trace.agent,
          trace.finalResponse,
        ]),
    ).toEqual([
      [traceId(8), 8, undefined, undefined, 'first', 'whole'],
      [traceId(8), 7, traceId(6), '0000000000000008', 'second', 'whole'],
    ]);
    expect(to.runs()[0]?.trace).toMatchObject({
      input: 'q',
      subAgents: [{ agent: 'second', via: 'handoff' }],
      modelCalls: [{ inputTokens: 10 }],
    });
    expect([to.traces(), to.count('tracejury.traces.joined', 'link')]).toEqual([1, 5]);
  });

  test('spread: a run that closed before its answer came keeps its key, and its sub-agents theirs', () => {
    const to = gathered();
    to.spans(...team.slice(0, 4));
    to.pass(minute);
    to.spans(...team.slice(4));
    to.pass(minute);
    const [first, second] = lastRuns(to);
    expect([first?.traceId, first?.spanId, first?.revision, first?.trace.finalResponse]).toEqual([
      traceId(3),
      '0000000000000004',
      2,
      'whole',
    ]);
    expect([second?.traceId, second?.spanTraceId, second?.parent]).toEqual([
      traceId(3),
      traceId(6),
      { tenant: '', traceId: traceId(3), spanId: '0000000000000004' },
    ]);
  });

  test('spread: one agent below messages is its own run, known by its span, and a team’s is not until a second agent is there', () => {
    const said = span({
      ...bus,
      id: 5,
      trace: 5,
      start: 6,
      links: [{ trace: 3, span: 3 }],
      attributes: { ...manager, message: JSON.stringify({ message: { type: 'TextMessage', source: 'first', content: 'passed on' } }) },
    });
    const one = [
      span({ ...bus, id: 3, trace: 3, start: 3 }),
      agentSpan({ id: 4, trace: 3, parent: 3, start: 4, end: 9, agent: 'first', input: 'own q', output: 'own a' }),
      said,
    ];
    const second = agentSpan({ id: 7, trace: 3, parent: 3, start: 11, end: 20, agent: 'second' });
    const known = (spans: readonly Span[]) => {
      const to = gathered();
      to.spans(...spans);
      to.pass(minute);
      return to
        .runs()
        .map(({ traceId: id, spanId, parent, trace }) => [id, Number.parseInt(spanId, 16), parent === undefined, trace.agent]);
    };
    expect(known(one)).toEqual([[traceId(3), 4, true, 'first']]);
    expect(known([...one, second])).toEqual([
      [traceId(5), 5, true, 'first'],
      [traceId(5), 7, false, 'second'],
    ]);
  });

  test('spread: links of other spans join nothing', () => {
    const to = gathered();
    to.spans(agentSpan({ id: 1, trace: 1 }), agentSpan({ id: 2, trace: 2, links: [{ trace: 1, span: 1 }] }));
    to.pass(minute);
    expect(to.runs().map(({ parent, traceId: known }) => [known, parent])).toEqual([
      [traceId(1), undefined],
      [traceId(2), undefined],
    ]);
  });

  test('spread: endless messages make one run of a bounded number of traces; the others are counted and leave nothing behind', () => {
    const to = gathered();
    to.spans(
      ...Array.from({ length: 1_100 }, (_, at) =>
        span({ ...bus, id: at + 1, trace: at + 1, ...(at === 0 ? {} : { links: [{ trace: at, span: at }] }) }),
      ),
    );
    expect(to.count('tracejury.traces.not_joined')).toBeGreaterThan(0);
    to.pass(20 * minute);
    expect([to.traces(), to.bytes(), to.runs()]).toEqual([0, 0, []]);
  });
});
