/** Positions of traces in the journal where traces turn out to be parts of one run: one that is released too early is lost when the process ends. */
import { describe, expect, test } from 'vitest';
import { collectors } from '../../../collectors/index.ts';
import { manualClock } from '../../../src/model/clock.ts';
import { noTenant } from '../../../src/model/ids.ts';
import type { Span } from '../../../src/model/span.ts';
import { gathering } from '../../../src/pipeline/gathering/gatherer.ts';
import { tracesPerRunMax } from '../../../src/pipeline/gathering/trace-joining.ts';
import { metricRegistry } from '../../../src/telemetry/registry.ts';
import { gathered } from '../../builders/gathered.ts';
import { agentSpan, assistant, modelSpan, toolSpan } from '../../builders/gen-ai-spans.ts';
import { longSuite } from '../../builders/property-runs.ts';
import { span, traceId } from '../../builders/spans.ts';

const ask = { id: 'c1', name: 'find', arguments: '{"id":"A-1"}' };
const next = { id: 'c2', name: 'notify', arguments: '{}' };
const first = modelSpan({ id: 1, trace: 1, user: 'Where is A-1?', asks: [ask] });
const second = modelSpan({
  id: 2,
  trace: 2,
  user: 'Where is A-1?',
  history: [assistant({ asks: [ask] })],
  told: [{ id: 'c1', response: 'sent' }],
  asks: [next],
});
const third = modelSpan({ id: 3, trace: 3, user: 'Where is A-1?', told: [{ id: 'c2', response: 'ok' }], says: 'On its way.' });
const [firstTool, thirdTool] = [
  toolSpan({ id: 11, parent: 1, trace: 1, tool: 'find', call: 'c1', result: 'sent' }),
  toolSpan({ id: 13, parent: 3, trace: 3, tool: 'log' }),
];

const message = (id: number, linked?: number): Span =>
  span({
    id,
    trace: id,
    scope: 'autogen SingleThreadedAgentRuntime',
    ...(linked === undefined ? {} : { links: [{ trace: linked, span: linked }] }),
  });
const linked = [
  agentSpan({ id: 21, parent: 1, trace: 1, agent: 'a', input: 'q', output: 'o' }),
  message(1),
  message(2, 1),
  message(3, 2),
  span({ id: 33, parent: 3, trace: 3 }),
];

function permutations<T>(items: readonly T[]): readonly (readonly T[])[] {
  return items.length === 0 ? [[]] : items.flatMap((item, at) => permutations(items.toSpliced(at, 1)).map((others) => [item, ...others]));
}

/** The short suite tries every seventh. */
const ordersOf = (spans: readonly Span[]): readonly (readonly Span[])[] => permutations(spans).filter((_, at) => longSuite || at % 7 === 0);

function started() {
  const clock = manualClock(0);
  const gather = gathering({ collectors, clock, telemetry: metricRegistry() });
  const pass = (ms: number): void => {
    clock.advance(ms);
    gather.due();
  };
  return { gather, pass };
}

const kinds: readonly { readonly by: string; readonly spans: readonly Span[] }[] = [
  { by: 'the messages of requests and tools', spans: [first, firstTool, second, third, thirdTool] },
  { by: 'links', spans: linked },
];

describe('standing', () => {
  for (const { by, spans } of kinds) {
    test(`standing: traces that ${by} tie keep the positions of all of them, ascending, in any order of arrival`, () => {
      for (const order of ordersOf(spans)) {
        const { gather, pass } = started();
        for (const [at, one] of order.entries()) {
          gather.addSpans(noTenant, [one], at + 1);
          expect(gather.references.oldestPosition()).toBe(1);
        }
        // The journal writes the oldest requests again: the next one is then the oldest.
        for (const [from, to, oldest] of [
          [1, 8, 2],
          [3, 7, 2],
          [2, 9, 4],
        ] as const) {
          gather.references.moved(from, to);
          expect(gather.references.oldestPosition()).toBe(oldest);
        }
        for (let left = 1_200; left > 0 && gather.references.oldestPosition() !== undefined; left--) pass(100);
        const [finished, ...others] = gather.references.takeFinished();
        expect([finished?.positions, others, [...(finished?.keys ?? [])].toSorted()]).toEqual([
          [4, 5, 7, 8, 9],
          [],
          [1, 2, 3].map((trace) => traceId(trace)),
        ]);
      }
    });
  }

  test('standing: positions that were written again before traces join are in order too', () => {
    for (const order of ordersOf(linked)) {
      const { gather } = started();
      for (const [at, one] of order.entries()) {
        gather.addSpans(noTenant, [one], 10 * (at + 1));
        gather.references.moved(10, 25);
      }
      expect(gather.references.oldestPosition()).toBe(20);
      gather.closeAll();
      expect(gather.references.takeFinished().map(({ positions }) => positions)).toEqual([[20, 25, 30, 40, 50]]);
    }
  });

  test('standing: a request that brings several traces of one run is one position', () => {
    const { gather } = started();
    gather.addSpans(noTenant, linked.slice(2), 4);
    gather.addSpans(noTenant, linked, 3);
    gather.addSpans(noTenant, [message(4, 1)], 4);
    gather.closeAll();
    expect(gather.references.takeFinished().map(({ positions }) => positions)).toEqual([[3, 4]]);
  });

  test('standing: a trace without a verdict is awaited when it becomes part of one whose runs have theirs', () => {
    const { gather, pass } = started();
    const other = [agentSpan({ id: 41, parent: 4, trace: 4, agent: 'b', input: 'q', output: 'o' }), message(4)];
    gather.addSpans(noTenant, linked, 1);
    for (let left = 1_200; left > 0 && gather.references.oldestPosition() !== undefined; left--) pass(100);
    expect(gather.references.isAwaited(traceId(1))).toBe(false);
    gather.addSpans(noTenant, other, 2);
    gather.addSpans(
      noTenant,
      [span({ id: 45, parent: 41, trace: 4, scope: 'autogen SingleThreadedAgentRuntime', links: [{ trace: 1, span: 1 }] })],
      3,
    );
    expect([gather.traces(), gather.references.isOpen(traceId(4)), gather.references.isAwaited(traceId(4))]).toEqual([1, true, true]);
  });
});

test('joining: as many traces as a run may have become one, and the next stays by itself and is counted', () => {
  const to = gathered();
  const count = (): number => to.count('tracejury.traces.not_joined', 'traces_per_run');
  to.spans(...Array.from({ length: tracesPerRunMax }, (_, at) => message(at + 1, at === 0 ? undefined : at)));
  expect([tracesPerRunMax, to.traces(), count()]).toEqual([1_000, 1, 0]);
  to.spans(message(tracesPerRunMax + 1, tracesPerRunMax));
  expect([to.traces(), count()]).toEqual([2, 1]);
});
