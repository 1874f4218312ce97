import { expect, test } from 'vitest';
import { collectors } from '../../../collectors/index.ts';
import { manualClock } from '../../../src/model/clock.ts';
import { noTenant, type TraceId } from '../../../src/model/ids.ts';
import type { Span } from '../../../src/model/span.ts';
import { gathering } from '../../../src/pipeline/gathering/gatherer.ts';
import { traceKey } from '../../../src/pipeline/gathering/trace-table.ts';
import { noTelemetry } from '../../../src/telemetry/telemetry.ts';
import { halves, modelSpan } from '../../builders/gen-ai-spans.ts';
import { span } from '../../builders/spans.ts';

const hex = (trace: number): TraceId => trace.toString(16).padStart(32, '0') as TraceId;
const keyOf = (trace: number): string => traceKey(noTenant, hex(trace));

/** A request without a span around it, which waits for the result of its call. */
const request = (trace: number): Span =>
  modelSpan({ id: trace, trace, start: 1, end: 2, user: 'where is it?', asks: [{ id: `c${trace}`, name: 'find', arguments: '{}' }] });

function gatherer(joins: () => boolean) {
  const clock = manualClock();
  const claims: string[] = [];
  const others = { joins, left: () => undefined, claim: (key: string) => void claims.push(key), lateMs: () => 1_000 };
  const gather = gathering({ collectors, clock, telemetry: noTelemetry, others });
  return {
    gather,
    claims,
    add: (spans: readonly Span[], position: number) => gather.addSpans(noTenant, spans, position),
    /** Traces of runs that closed meanwhile, and traces that left with their positions. */
    after(ms: number) {
      const closed: string[] = [];
      for (let passed = 0; passed < ms; passed += 50) {
        clock.advance(50);
        closed.push(...gather.due().map(({ traceId }) => traceId));
      }
      const left = gather.references.takeFinished().filter(({ leaves }) => leaves === true);
      return { closed, left: left.map(({ keys, positions }) => ({ keys, positions })) };
    },
  };
}

test('hand over: a part of a run leaves with its positions, and so does what comes for it later; a whole run stays', () => {
  const { add, after } = gatherer(() => false);
  add([request(1)], 4);
  add(halves(2).flat(), 5);
  expect(after(1_000)).toEqual({ closed: [hex(2)], left: [{ keys: [keyOf(1)], positions: [4] }] });
  add([span({ id: 9, trace: 1, parent: 1, start: 1, end: 2 })], 6);
  expect(after(50)).toEqual({ closed: [], left: [{ keys: [keyOf(1)], positions: [6] }] });
});

test('hand over: where traces are joined, nothing leaves, and a part waits for parts from elsewhere', () => {
  const { add, after } = gatherer(() => true);
  add([request(1), modelSpan({ id: 3, trace: 3, start: 3, end: 4, user: 'hello?', says: 'yes' })], 4);
  expect(after(1_000)).toEqual({ closed: [], left: [] });
  expect(after(1_000)).toEqual({ closed: [hex(3)], left: [] });
});

test('hand over: when another gatherer joins from now on, open parts leave and whole runs stay', () => {
  let isHere = true;
  const { gather, add, after } = gatherer(() => isHere);
  add([request(1)], 4);
  add(halves(2)[1], 5);
  add(halves(2)[0].slice(0, 1), 6);
  expect(after(600).left).toEqual([]);
  isHere = false;
  expect(gather.drop(() => false)).toEqual([]);
  expect(after(50)).toEqual({ closed: [], left: [{ keys: [keyOf(1)], positions: [4] }] });
  expect(after(10_000).closed).toEqual([hex(2)]);
});

test('hand over: a trace that another gatherer claims leaves, also when its spans come later', () => {
  const { gather, add, after } = gatherer(() => false);
  add(halves(2)[0], 5);
  gather.handOver(keyOf(2));
  gather.handOver(keyOf(7));
  add(halves(7).flat(), 6);
  expect(after(50)).toEqual({
    closed: [],
    left: [
      { keys: [keyOf(2)], positions: [5] },
      { keys: [keyOf(7)], positions: [6] },
    ],
  });
});

test('hand over: a trace that is claimed after it has closed stays, and so do the spans that come for it later', () => {
  const { gather, add, after } = gatherer(() => false);
  add(halves(2).flat(), 5);
  expect(after(1_000).closed).toEqual([hex(2)]);
  gather.handOver(keyOf(2));
  add([span({ id: 90, trace: 2, parent: 1, start: 1, end: 2 })], 6);
  expect(after(10_000).left).toEqual([]);
});

test('hand over: messages that link to one another meet, in any order', () => {
  const message = (trace: number, to: readonly number[]): Span =>
    span({
      id: trace,
      trace,
      start: trace,
      end: trace + 1,
      scope: 'autogen SingleThreadedAgentRuntime',
      links: to.map((other) => ({ trace: other, span: other })),
    });
  const away = gatherer(() => false);
  away.add([message(1, [])], 1);
  away.add([message(2, [1])], 2);
  expect(new Set(away.after(1_000).left.map(({ keys }) => keys[0]))).toEqual(new Set([keyOf(1), keyOf(2)]));
  const here = gatherer(() => true);
  here.add([message(2, [1])], 2);
  expect([here.claims, here.gather.traces()]).toEqual([[keyOf(1)], 1]);
});
