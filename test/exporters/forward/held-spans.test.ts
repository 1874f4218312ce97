/** Spans that wait to go on, under a clock that the test moves. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { heldSpans, type TraceSlice, type HeldSpans, type PlainBody, verdictFields } from '../../../src/exporters/forward/held-spans.ts';
import { manualClock } from '../../../src/model/clock.ts';
import { noTenant, type Tenant } from '../../../src/model/ids.ts';
import { traceKey } from '../../../src/pipeline/gathering/trace-table.ts';
import { metricRegistry } from '../../../src/telemetry/registry.ts';
import { evaluation, run, scored, scoredRun } from '../../builders/scored-run.ts';
import { span } from '../../builders/spans.ts';

const lanes = 3;
const [waits, goes] = [() => true, () => false];

function waitingRoom(bodyBytesMax = 1_000): {
  readonly held: HeldSpans;
  readonly clock: ReturnType<typeof manualClock>;
  readonly ready: () => readonly TraceSlice[];
} {
  const clock = manualClock();
  const held = heldSpans({ clock, telemetry: metricRegistry(), partitions: lanes, bodyBytesMax });
  return { held, clock, ready: () => Array.from({ length: lanes }, (_, lane) => [...held.ready(lane)]).flat() };
}

const keyOf = (trace: number): string => traceKey(noTenant, span({ id: 1, trace }).traceId);
const body = (length: number): PlainBody => ({ bytes: Buffer.alloc(length), encoding: 'protobuf' });
const request = (
  position: number,
  spans: readonly (readonly [trace: number, id: number])[],
  more: { readonly isWhole?: boolean; readonly tenant?: Tenant; readonly body?: PlainBody } = {},
) => ({ position, tenant: noTenant, spans: spans.map(([trace, id]) => span({ id, trace })), body: undefined, isWhole: true, ...more });

test('slices: spans that will not be judged go at once, and take along those that waited before them', () => {
  const { held, ready } = waitingRoom();
  held.takeSpans(request(10, [[1, 1]]), waits);
  expect(ready()).toEqual([]);
  held.takeSpans(
    request(20, [
      [1, 2],
      [2, 3],
    ]),
    goes,
  );
  expect(
    ready()
      .filter(({ key }) => key === keyOf(1))
      .map((slice) => slice.request.position),
  ).toEqual([10, 20]);
  expect(ready()).toHaveLength(3);
});

test('slices: a trace goes when nothing of it is open; older than hold, it goes without verdicts and is counted', () => {
  const { held, clock, ready } = waitingRoom();
  held.takeSpans(
    request(10, [
      [1, 1],
      [2, 1],
    ]),
    waits,
  );
  held.settled([keyOf(2), keyOf(3)]);
  expect(ready().map(({ key }) => key)).toEqual([keyOf(2)]);
  clock.advance(999);
  held.expire(1_000);
  expect(ready()).toHaveLength(1);
  clock.advance(1);
  held.expire(1_000);
  expect(ready()).toHaveLength(2);
});

test('slices: the journal keeps a request until all of it has gone on, and no trace is done before', () => {
  const { held, ready } = waitingRoom();
  expect([held.oldest(), held.oldestMs(), held.size()]).toEqual([undefined, undefined, 0]);
  held.takeSpans(
    request(10, [
      [1, 1],
      [2, 1],
    ]),
    goes,
  );
  held.takeSpans(request(20, [[2, 2]]), goes);
  const gone = (position: number, trace: number): void => {
    for (const slice of ready()) if (slice.request.position === position && slice.key === keyOf(trace)) held.gone(slice);
  };
  gone(10, 1);
  expect([held.oldest(), held.size(), held.isHeld(keyOf(1)), held.isHeld(keyOf(2))]).toEqual([10, 2, false, true]);
  gone(10, 2);
  expect([held.oldest(), held.size(), held.isHeld(keyOf(2))]).toEqual([20, 1, true]);
  gone(20, 2);
  expect([held.oldest(), held.size(), held.isHeld(keyOf(2)), held.readySize()]).toEqual([undefined, 0, false, 0]);
});

test('slices: bodies stay in memory as far as the bound, and make room when they have gone', () => {
  const { held, ready } = waitingRoom(100);
  held.takeSpans(request(10, [[1, 1]], { body: body(60) }), goes);
  held.takeSpans(request(20, [[1, 2]], { body: body(60) }), goes);
  expect(ready().map((slice) => slice.request.body?.bytes.length)).toEqual([60, undefined]);
  for (const slice of ready()) held.gone(slice);
  held.takeSpans(request(30, [[1, 3]], { body: body(90) }), goes);
  expect(ready().map((slice) => slice.request.body?.bytes.length)).toEqual([90]);
});

test('slices: of a request with rejected spans, or with spans of ours, only the others are named', () => {
  const { held, ready } = waitingRoom();
  held.takeSpans(
    request(10, [
      [1, 1],
      [1, 2],
    ]),
    goes,
  );
  held.takeSpans(request(20, [[1, 3]], { isWhole: false }), goes);
  const own = { ...request(30, []), spans: [span({ id: 4 }), span({ id: 5, attributes: { 'tracejury.generated': true } })] };
  held.takeSpans(own, goes);
  held.takeSpans({ ...own, position: 40, spans: own.spans.slice(1) }, goes);
  expect(
    ready().map(({ request: { position, isEntire }, only, items }) => [
      position,
      isEntire,
      only === undefined ? undefined : [...only].map((id) => Number.parseInt(id, 16)),
      items,
    ]),
  ).toEqual([
    [10, true, undefined, 2],
    [20, false, [3], 1],
    [30, false, [4], 1],
  ]);
  expect(held.oldest()).toBe(10);
});

test('slices: a verdict is written on a span that waits, once, and on no other', () => {
  const { held, ready } = waitingRoom();
  const { traceId } = span({ id: 1, trace: 7 });
  const [agent, tool] = [span({ id: 1, trace: 7 }).spanId, span({ id: 2, trace: 7 }).spanId];
  const of = run({ traceId, spanId: agent });
  const item = {
    ...scoredRun({}, of),
    evaluations: [
      evaluation(
        'tool_error',
        scored(0, { parts: [{ callIndex: 0, spanId: tool, score: 0, passed: false, label: 'fail', explanation: 'no' }] as never }),
        of,
      ),
    ],
  };
  expect(held.scored(item)).toBe(false);
  held.takeSpans(request(10, [[7, 2]]), waits);
  held.takeSpans(request(20, [[7, 1]]), waits);
  held.takeSpans(request(30, [[8, 1]]), waits);
  expect(held.scored({ ...item, run: { ...of, partOf: { traceId, spanId: tool } } as never })).toBe(false);
  expect(held.scored(item)).toBe(true);
  // The verdict of a judge, or of a later revision, needs a separate span.
  expect(held.scored(item)).toBe(false);
  held.settled([keyOf(7), keyOf(8)]);
  expect(Object.fromEntries(ready().map((slice) => [slice.request.position, [...slice.additions.keys()]]))).toEqual({
    10: [tool],
    20: [agent],
    30: [],
  });
  expect(held.scored(item)).toBe(false);
});

test('verdicts on a span that is not here go to the span of the agent', () => {
  const [agent, tool] = [span({ id: 1, trace: 7 }).spanId, span({ id: 2, trace: 7 }).spanId];
  const of = run({ traceId: span({ id: 1, trace: 7 }).traceId, spanId: agent });
  const parts = [{ callIndex: 0, spanId: tool, score: 0, passed: false, label: 'fail', explanation: 'no' }] as never;
  const item = { ...scoredRun({}, of), evaluations: [evaluation('tool_error', scored(0, { parts }), of)] };
  const fields = verdictFields();
  expect([...fields(item, () => true).keys()]).toEqual([agent, tool]);
  const onAgent = fields(item, (id) => id === agent);
  expect([...onAgent.keys()]).toEqual([agent]);
  expect(onAgent.get(agent)?.(1n).length).toBeGreaterThan(fields(item, () => true).get(agent)?.(1n).length ?? 0);
});

test('slices: while they cannot go on, spans that have waited for hold still get their verdicts, as long as they were not on their way', () => {
  const clock = manualClock();
  const telemetry = metricRegistry();
  const held = heldSpans({ clock, telemetry, partitions: lanes, bodyBytesMax: 0, openSpansMax: 4 });
  const ready = (): readonly TraceSlice[] => Array.from({ length: lanes }, (_, lane) => [...held.ready(lane)]).flat();
  const unscored = (): number =>
    (telemetry.snapshot().find(({ name }) => name === 'tracejury.forward.unscored')?.points ?? []).reduce(
      (sum, point) => sum + (point.kind === 'number' ? point.value : 0),
      0,
    );
  const scoredRunOf = (trace: number): ReturnType<typeof scoredRun> =>
    scoredRun({ tool_error: scored(1) }, run({ traceId: span({ id: 1, trace }).traceId, spanId: span({ id: 1, trace }).spanId }));
  for (const [position, trace] of [
    [10, 1],
    [20, 2],
    [30, 3],
  ] as const)
    held.takeSpans(
      request(position, [
        [trace, 2],
        [trace, 1],
      ]),
      waits,
    );
  clock.advance(1_000);
  held.expire(1_000);
  expect([ready().length, unscored()]).toEqual([3, 0]);
  held.markSending(ready().filter(({ key }) => key === keyOf(2)));
  // The second one is on its way, and there was no room for the third one.
  expect([1, 2, 3].map((trace) => held.scored(scoredRunOf(trace)))).toEqual([true, false, false]);
  expect(held.scored(scoredRunOf(1))).toBe(false);
  held.markSending(ready());
  expect([unscored(), held.scored(scoredRunOf(1))]).toEqual([4, false]);
  for (const slice of ready()) held.gone(slice);
  expect(held.size()).toBe(0);
});

const traceNumber = fc.integer({ min: 1, max: 5 });
const step = fc.oneof(
  fc.record({ kind: fc.constant('take' as const), traces: fc.array(traceNumber, { minLength: 1, maxLength: 4 }), isAwaited: fc.boolean() }),
  fc.record({ kind: fc.constant('settle' as const), trace: traceNumber }),
  fc.record({ kind: fc.constant('age' as const), ms: fc.nat(1_500) }),
  fc.record({ kind: fc.constant('send' as const), lane: fc.nat(lanes - 1), most: fc.nat(3) }),
);

test('slices: in any course of events, all that came goes, once, and in its order within a trace', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const { held, clock, ready } = waitingRoom(50);
      const [came, went]: [string[], string[]] = [[], []];
      const unsent = new Map<number, number>();
      let id = 0;
      const send = (slice: TraceSlice): void => {
        for (const one of idsOf.get(slice.request.position)?.filter(([trace]) => keyOf(trace) === slice.key) ?? [])
          went.push(`${one[0]} ${one[1]}`);
        unsent.set(slice.request.position, (unsent.get(slice.request.position) ?? 0) - 1);
        if (unsent.get(slice.request.position) === 0) unsent.delete(slice.request.position);
        held.gone(slice);
      };
      const idsOf = new Map<number, readonly (readonly [number, number])[]>();
      for (const [position, one] of steps.entries()) {
        if (one.kind === 'take') {
          const spans = one.traces.map((trace) => [trace, ++id] as const);
          idsOf.set(position, spans);
          came.push(...spans.map(([trace, own]) => `${trace} ${own}`));
          unsent.set(position, new Set(one.traces).size);
          held.takeSpans(request(position, spans, { body: body(10) }), () => one.isAwaited);
        } else if (one.kind === 'settle') held.settled([keyOf(one.trace)]);
        else if (one.kind === 'age') {
          clock.advance(one.ms);
          held.expire(1_000);
        } else for (const slice of [...held.ready(one.lane)].slice(0, one.most)) send(slice);
        expect([held.oldest(), held.size(), held.slices()]).toEqual([
          unsent.size === 0 ? undefined : Math.min(...unsent.keys()),
          unsent.size,
          [...unsent.values()].reduce((sum, left) => sum + left, 0),
        ]);
      }
      clock.advance(1_000);
      held.expire(1_000);
      for (const slice of ready()) send(slice);
      expect(held.size()).toBe(0);
      for (let trace = 1; trace <= 5; trace++)
        expect(went.filter((one) => one.startsWith(`${trace} `))).toEqual(came.filter((one) => one.startsWith(`${trace} `)));
    }),
  );
});
