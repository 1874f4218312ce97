/** Runs whose requests are separate traces, because nothing encloses them. */
import { describe, expect, test } from 'vitest';
import { tenant } from '../../../src/model/ids.ts';
import type { Span } from '../../../src/model/span.ts';
import { gathered } from '../../builders/gathered.ts';
import { assistant, type ModelData, modelSpan } from '../../builders/gen-ai-spans.ts';

const first = modelSpan({ id: 1, trace: 1, user: 'Where is A-1?', asks: [{ id: 'c1', name: 'find', arguments: '{"id":"A-1"}' }] });
const second = modelSpan({
  id: 2,
  trace: 2,
  user: 'Where is A-1?',
  history: [{ role: 'assistant', parts: [{ type: 'tool_call', id: 'c1', name: 'find', arguments: '{"id":"A-1"}' }] }],
  told: [{ id: 'c1', response: 'sent' }],
  asks: [{ id: 'c2', name: 'notify', arguments: '{}' }],
});
const third = modelSpan({ id: 3, trace: 3, user: 'Where is A-1?', told: [{ id: 'c2', response: 'ok' }], says: 'On its way.' });

describe('fragments', () => {
  test('fragments: requests of one loop are one run, on the first of them, in any order of arrival', () => {
    for (const order of [
      [first, second, third],
      [third, second, first],
      [second, first, third],
    ]) {
      const to = gathered();
      to.spans(...order);
      to.pass(10_000);
      const runs = to.runs();
      expect(runs.map(({ traceId, spanId, completeness }) => [traceId, spanId, completeness])).toEqual([
        [first.traceId, first.spanId, 'complete'],
      ]);
      expect(runs[0]?.trace).toMatchObject({
        input: 'Where is A-1?',
        finalResponse: 'On its way.',
        toolCalls: [
          { id: 'c1', name: 'find', result: 'sent', executed: true },
          { id: 'c2', name: 'notify', result: 'ok' },
        ],
      });
    }
  });

  test('fragments: the history continues an answer with calls without ids, even where its span ends late', () => {
    const asking = modelSpan({
      id: 1,
      trace: 1,
      start: 0,
      end: 50,
      user: 'Where is A-1?',
      asks: [{ name: 'find', arguments: { id: 'A-1' } }],
    });
    const answering = modelSpan({
      id: 2,
      trace: 2,
      start: 40,
      end: 60,
      user: 'Where is A-1?',
      history: [assistant({ asks: [{ id: 'c1', name: 'find', arguments: { id: 'A-1' } }] })],
      told: [{ id: 'c1', response: 'sent' }],
      says: 'On its way.',
    });
    for (const order of [
      [asking, answering],
      [answering, asking],
    ]) {
      const to = gathered();
      to.spans(...order);
      to.pass(60_000);
      expect(to.runs().map(({ spanId, completeness }) => [spanId, completeness])).toEqual([[asking.spanId, 'complete']]);
      expect(to.runs()[0]?.trace.toolCalls).toMatchObject([{ id: 'c1', name: 'find', result: 'sent' }]);
    }
  });

  test('fragments: a request that comes after the loop closed makes its next revision', () => {
    const to = gathered();
    to.spans(first, second);
    to.pass(60_000);
    to.spans(third);
    to.pass(60_000);
    expect(to.runs().map(({ spanId, revision, completeness }) => [spanId, revision, completeness])).toEqual([
      [first.spanId, 1, 'partial'],
      [first.spanId, 2, 'complete'],
    ]);
  });

  test('fragments: the calls of another tenant join nothing', () => {
    const to = gathered();
    to.spansOf(tenant('a'), first);
    to.spansOf(tenant('b'), second, third);
    to.pass(60_000);
    expect(to.runs().map(({ tenant: whose, spanId }) => [whose, spanId])).toEqual([
      ['a', first.spanId],
      ['b', second.spanId],
    ]);
  });

  test('fragments: messages before the user’s last one belong to an earlier run', () => {
    const to = gathered();
    const later = modelSpan({
      id: 4,
      trace: 4,
      user: 'Where is A-1?',
      told: [{ id: 'c1', response: 'sent' }],
      history: [],
      says: 'Hello.',
    });
    const next = modelSpan({
      id: 5,
      trace: 5,
      history: [
        { role: 'user', parts: [{ type: 'text', content: 'Where is A-1?' }] },
        { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c1', response: 'sent' }] },
        { role: 'user', parts: [{ type: 'text', content: 'Thanks' }] },
      ],
      says: 'Welcome.',
    });
    to.spans(first, later, next);
    to.pass(60_000);
    expect(
      to
        .runs()
        .map(({ spanId }) => spanId)
        .toSorted(),
    ).toEqual([first.spanId, next.spanId].toSorted());
  });

  test('fragments: a joined trace is forgotten with the one that it was joined to', () => {
    const to = gathered();
    to.spans(first, second, third);
    to.pass(2 * 3_600_000);
    expect([to.traces(), to.bytes()]).toEqual([0, 0]);
    to.spans(modelSpan({ id: 9, trace: 2, says: 'late' }));
    to.pass(60_000);
    expect([to.runs().length, to.count('tracejury.spans.late', 'after_late')]).toEqual([1, 1]);
  });

  test('fragments: two runs whose provider counts call ids from one have their own results, in either order', () => {
    const runOf = (trace: number, user: string, response: string) =>
      [
        modelSpan({ id: trace, trace, user, asks: [{ id: 'call_0', name: 'find', arguments: '{}' }] }),
        modelSpan({ id: trace + 1, trace: trace + 1, user, told: [{ id: 'call_0', response }], says: 'Done.' }),
      ] as const;
    const [a, b] = [runOf(1, 'Where is A-1?', 'sent'), runOf(3, 'Where is B-2?', 'Error: no such order')];
    for (const order of [
      [...a, ...b],
      [...b, ...a],
      [a[0], b[0], b[1], a[1]],
    ]) {
      const to = gathered();
      to.spans(...order);
      to.pass(60_000);
      const last = Object.fromEntries(to.runs().map((run) => [run.trace.input, run.trace.toolCalls.map(({ result }) => result)]));
      expect(last).toEqual({ 'Where is A-1?': ['sent'], 'Where is B-2?': ['Error: no such order'] });
    }
  });

  test('fragments: a result under the id of two runs belongs to neither', () => {
    const ask = (trace: number, user: string) =>
      modelSpan({ id: trace, trace, user, asks: [{ id: 'call_0', name: 'find', arguments: '{}' }] });
    const told = (trace: number, user: string, response: string) =>
      modelSpan({ id: trace, trace, user, told: [{ id: 'call_0', response }], says: 'Done.' });
    const to = gathered();
    to.spans(ask(1, 'A?'), told(2, 'A?', 'sent'), ask(3, 'B?'), told(4, 'B?', 'lost'), ask(5, 'C?'));
    to.pass(60_000);
    const open = to.runs().findLast(({ trace }) => trace.input === 'C?');
    expect(open?.trace.toolCalls).toMatchObject([{ name: 'find', executed: false }]);
    expect(open?.trace.toolCalls[0]?.result).toBeUndefined();
  });
});

const question = 'Book the pickup of RS-311 on Friday.';
const delegatingData: ModelData = {
  id: 1,
  trace: 1,
  start: 0,
  end: 10,
  user: 'Arrange the pickup of RS-311.',
  asks: [{ id: 'p1', name: 'ask_planner', arguments: JSON.stringify({ task: question }) }],
};
const planningData: ModelData = {
  id: 2,
  trace: 2,
  start: 20,
  end: 30,
  user: question,
  asks: [{ id: 'b1', name: 'book', arguments: '{"id":"RS-311"}' }],
};
const [delegating, planning] = [modelSpan(delegatingData), modelSpan(planningData)];
const planned = modelSpan({
  id: 3,
  trace: 3,
  start: 40,
  end: 50,
  user: question,
  history: [assistant({ asks: [{ id: 'b1', name: 'book', arguments: { id: 'RS-311' } }] })],
  told: [{ id: 'b1', response: 'PU-77' }],
  says: 'Slot PU-77.',
});
const arranged = (result: string) =>
  modelSpan({
    id: 4,
    trace: 4,
    start: 60,
    end: 70,
    user: 'Arrange the pickup of RS-311.',
    history: [assistant({ asks: [{ id: 'p1', name: 'ask_planner', arguments: { task: question } }] })],
    told: [{ id: 'p1', response: result }],
    says: 'It is booked.',
  });

test('fragments: requests that answer the call of another agent are a sub-agent of it, in any order of arrival', () => {
  for (const order of [
    [delegating, planning, planned, arranged('Slot PU-77.')],
    [arranged('Slot PU-77.'), planned, planning, delegating],
    [planned, delegating, arranged('Slot PU-77.'), planning],
  ]) {
    const to = gathered();
    to.spans(...order);
    to.pass(10_000);
    const runs = to.runs();
    expect(
      runs.map(({ traceId, spanId, parent, trace }) => [
        traceId,
        spanId,
        parent?.spanId,
        trace.toolCalls.map(({ name }) => name),
        trace.subAgents?.map(({ via, viaTool }) => [via, viaTool]),
      ]),
    ).toEqual([
      [delegating.traceId, delegating.spanId, undefined, ['ask_planner'], [['tool', 'ask_planner']]],
      [delegating.traceId, planning.spanId, delegating.spanId, ['book'], []],
    ]);
  }
});

test('fragments: a question in messages that a call passes on is one, and an empty frame comes before none', () => {
  const passedOn = JSON.stringify({ messages: [{ role: 'user', content: [{ text: question }] }] });
  const to = gathered();
  to.spans(
    modelSpan({ ...delegatingData, asks: [{ id: 'p1', name: 'ask_planner', arguments: passedOn }] }),
    modelSpan({ id: 9, trace: 2, start: 19, end: 31 }),
    modelSpan({ ...planningData, parent: 9 }),
    planned,
    arranged('Slot PU-77.'),
  );
  to.pass(10_000);
  expect(to.runs().map(({ parent, trace }) => [parent?.spanId, trace.toolCalls.map(({ name }) => name)])).toEqual([
    [undefined, ['ask_planner']],
    [delegating.spanId, ['book']],
  ]);
});

const others: readonly { readonly name: string; readonly spans: readonly Span[] }[] = [
  { name: 'whose answer is not the result', spans: [delegating, planning, planned, arranged('No slot is free.')] },
  {
    name: 'that began before the call',
    spans: [delegating, { ...planning, startUnixNano: delegating.startUnixNano - 1n }, planned, arranged('Slot PU-77.')],
  },
  {
    name: 'that end after the result',
    spans: [delegating, planning, { ...planned, endUnixNano: arranged('').endUnixNano }, arranged('Slot PU-77.')],
  },
  {
    name: 'of another session',
    spans: [
      modelSpan({ ...delegatingData, attributes: { 'gen_ai.conversation.id': 'a' } }),
      modelSpan({ ...planningData, attributes: { 'gen_ai.conversation.id': 'b' } }),
      planned,
      arranged('Slot PU-77.'),
    ],
  },
  {
    name: 'that two agents call for',
    spans: [
      delegating,
      modelSpan({
        id: 9,
        trace: 9,
        start: 1,
        end: 11,
        user: 'Plan.',
        asks: [{ id: 'p9', name: 'ask', arguments: JSON.stringify({ task: question }) }],
      }),
      planning,
      planned,
      arranged('Slot PU-77.'),
    ],
  },
];
for (const { name, spans } of others)
  test(`fragments: requests ${name} are a separate run`, () => {
    const to = gathered();
    to.spans(...spans);
    to.pass(400_000);
    const runs = to.runs();
    expect(runs.filter(({ parent }) => parent !== undefined)).toEqual([]);
    expect(runs.map(({ spanId }) => spanId)).toContain(planning.spanId);
  });
