import fc from 'fast-check';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { expect, test } from 'vitest';
import { taskCompletion, toolCalled, toolError } from '../../src/library/evaluators.ts';
import type { ScoredRun } from '../../src/model/scored-run.ts';
import { scriptedJudge } from '../../src/judges/scripted.ts';
import { processScoring, type SpanProcessorOptions } from '../../src/span-processor/scoring.ts';
import { propertyRuns } from '../builders/property-runs.ts';
import { manualTimers } from './manual-timers.ts';
import { agentSpans, keptSpans } from './sdk-spans.ts';

function started(options: SpanProcessorOptions = {}, answer?: Parameters<typeof keptSpans>[0]) {
  const kept = keptSpans(answer);
  const time = manualTimers();
  const scored: ScoredRun[] = [];
  const scoring = processScoring({ exporter: kept.exporter, onScored: (item) => scored.push(item), ...options }, time);
  return { ...kept, ...time, scored, scoring };
}

const verdictsOf = (items: readonly ScoredRun[]): readonly string[] =>
  items.flatMap(({ evaluations }) =>
    evaluations.map(({ key, verdict }) => `${key.name} ${verdict.kind === 'scored' ? verdict.label : verdict.kind}`),
  );

test('span processor: a run is scored when it has settled, and its evaluation span goes to the exporter', async () => {
  const { scoring, advance, spans, scored } = started();
  const own = await agentSpans();
  for (const span of own) scoring.ended(span);
  await advance(499);
  expect(scored).toEqual([]);
  await advance(2);
  expect(verdictsOf(scored)).toEqual(['tool_call_validity skipped', 'tool_error fail', 'tool_efficiency pass', 'run_error pass']);
  expect(spans.map(({ name, attributes }) => [name, attributes['tracejury.generated']])).toEqual([['evaluate order_support', true]]);
  const root = own.find(({ name }) => name === 'run');
  expect(spans[0]?.parentSpanContext?.spanId).toBe(root?.spanContext().spanId);
  expect(spans[0]?.resource.attributes).toEqual({ 'service.name': 'shop' });
  expect(scoring.stats()).toMatchObject({ spans: { taken: 3, dropped: 0 }, runs: { scored: 1 }, exports: { sent: 1 }, faults: 0 });
});

test('span processor: an evaluation span that comes in again is ignored', async () => {
  const { scoring, advance, spans, scored } = started();
  for (const span of await agentSpans()) scoring.ended(span);
  await advance(600);
  for (const span of spans.slice()) scoring.ended(span);
  await advance(10_000);
  expect([scored.length, spans.length, scoring.stats().spans.invalid]).toEqual([1, 1, 1]);
});

test('span processor: a judge answers for its share, and its verdict goes as a separate span', async () => {
  const judge = scriptedJudge({});
  const { scoring, advance, scored } = started({ evaluators: [toolError(), taskCompletion()], judge });
  for (const span of await agentSpans()) scoring.ended(span);
  await advance(600);
  await advance(600);
  expect(scored.map(({ answered }) => answered === true)).toEqual([false, true]);
  expect(scoring.stats().judges).toEqual({ asked: 1, overloaded: 0 });
});

test('span processor: judges that hang cost neither the agent nor other runs, and a full queue is reported', async () => {
  const judge = { ask: () => new Promise<never>(() => undefined) };
  const { scoring, advance, scored } = started({
    evaluators: [toolError(), taskCompletion()],
    judge,
    judgeConcurrency: 1,
    judgeQueueMax: 1,
  });
  for (let run = 0; run < 4; run++) for (const span of await agentSpans(`agent ${run}`)) scoring.ended(span);
  await advance(1_000);
  expect(scored.filter(({ answered }) => answered !== true)).toHaveLength(4);
  expect(scoring.stats().judges).toEqual({ asked: 1, overloaded: 2 });
  expect(scored.flatMap(({ decisions }) => decisions).filter(({ decision }) => decision === 'overload')).toHaveLength(2);
});

for (const [name, answer, want] of [
  ['refuses', () => 'failed', { sent: 0, failed: 1, dropped: 0 }],
  ['never answers', () => 'silent', { sent: 0, failed: 1, dropped: 0 }],
  [
    'throws',
    () => {
      throw new Error('no');
    },
    { sent: 0, failed: 1, dropped: 0 },
  ],
] satisfies [string, Parameters<typeof keptSpans>[0] & {}, object][]) {
  test(`span processor: an exporter that ${name} is counted, and the next run goes on`, async () => {
    const { scoring, advance, scored } = started({}, answer);
    for (const span of await agentSpans()) scoring.ended(span);
    await advance(31_000);
    expect(scoring.stats().exports).toEqual(want);
    for (const span of await agentSpans()) scoring.ended(span);
    await advance(31_000);
    expect([scored.length, scoring.stats().exports.failed]).toEqual([2, 2]);
  });
}

test('span processor: what a callback or an evaluator throws never reaches the agent', async () => {
  const onScored = (): never => {
    throw new Error('mine');
  };
  const { scoring, advance, spans } = started({ onScored });
  for (const span of await agentSpans()) scoring.ended(span);
  scoring.ended({} as ReadableSpan);
  await advance(600);
  expect([spans.length, scoring.stats().faults]).toEqual([1, 2]);
});

test('span processor: what a callback or an exporter rejects with is counted and never reaches the agent', async () => {
  const onScored = async (): Promise<void> => {
    throw new Error('the database is down');
  };
  const rejects = async (): Promise<void> => {
    throw new Error('the collector is down');
  };
  const { scoring, advance } = started({ onScored, exporter: Object.assign(keptSpans().exporter, { export: rejects, shutdown: rejects }) });
  for (const span of await agentSpans()) scoring.ended(span);
  await advance(600);
  expect(scoring.stats()).toMatchObject({ faults: 1, exports: { sent: 0, failed: 1, dropped: 0 } });
  await Promise.all([scoring.shutdown(), advance(0)]);
  expect(scoring.stats().faults).toBe(2);
});

test('span processor: spans beyond the bound are dropped and counted', async () => {
  const { scoring, advance } = started({ spansMax: 10 });
  const [span] = await agentSpans();
  if (span === undefined) throw new Error('no span');
  for (let at = 0; at < 100_000; at++) scoring.ended(span);
  expect(scoring.stats().spans.dropped).toBe(99_990);
  await advance(1_000);
  expect(scoring.stats().spans.taken).toBe(10);
});

test('span processor: a flush scores what is complete, and waits for its scores', async () => {
  const { scoring, advance, spans } = started();
  for (const span of await agentSpans()) scoring.ended(span);
  const flushed = scoring.flush();
  await advance(501);
  await flushed;
  expect(spans).toHaveLength(1);
});

test('span processor: two flushes at once both end when the judge has answered', async () => {
  let answer = (): void => undefined;
  const judge = {
    ask: () => new Promise<{ kind: 'failed'; error: string }>((resolve) => (answer = () => resolve({ kind: 'failed', error: 'no: idea' }))),
  };
  const { scoring, advance } = started({ evaluators: [toolError(), taskCompletion()], judge });
  for (const span of await agentSpans()) scoring.ended(span);
  let ended = 0;
  for (let flush = 0; flush < 2; flush++) void scoring.flush().then(() => ended++);
  await advance(600);
  expect(ended).toBe(0);
  answer();
  await advance(1);
  expect(ended).toBe(2);
});

test('span processor: a shutdown scores everything, sends it, and ends the exporter once; later spans are dropped', async () => {
  const { scoring, advance, spans, state, scored } = started();
  const own = await agentSpans();
  // Its agent's span never ends.
  for (const span of own.filter(({ name }) => name !== 'run')) scoring.ended(span);
  const [first, second] = [scoring.shutdown(), scoring.shutdown()];
  await advance(0);
  await Promise.all([first, second]);
  expect([scored.length, spans.length, state.isShutDown]).toEqual([1, 1, 1]);
  for (const span of own) scoring.ended(span);
  expect(scoring.stats().spans.dropped).toBe(3);
});

test('span processor: a shutdown ends at its deadline, with anything that hangs', async () => {
  const { scoring, advance } = started({ deadlineMs: 1_000 }, () => 'silent');
  for (const span of await agentSpans()) scoring.ended(span);
  let isOver = false;
  void scoring.shutdown().then(() => (isOver = true));
  await advance(999);
  expect(isOver).toBe(false);
  await advance(2);
  expect(isOver).toBe(true);
});

test('span processor: in any order in which spans end, the verdicts are the same', async () => {
  const spans = (await Promise.all(['a', 'b', 'c'].map((agent) => agentSpans(agent, 1_700_000_000_000)))).flat();
  const scoredIn = async (order: readonly ReadableSpan[], pauseMs: number): Promise<readonly string[]> => {
    const { scoring, advance, scored } = started();
    for (const span of order) {
      scoring.ended(span);
      await advance(pauseMs);
    }
    await advance(6_000);
    return scored.map(({ run, evaluations }) => JSON.stringify([run.trace.agent, evaluations.map(({ verdict }) => verdict)])).toSorted();
  };
  const want = await scoredIn(spans, 0);
  expect(want).toHaveLength(3);
  await fc.assert(
    fc.asyncProperty(
      fc.shuffledSubarray([...spans.keys()], { minLength: spans.length }),
      fc.constantFrom(0, 1, 40),
      async (order, pauseMs) => {
        expect(
          await scoredIn(
            order.flatMap((at) => spans[at] ?? []),
            pauseMs,
          ),
        ).toEqual(want);
      },
    ),
    { numRuns: propertyRuns({ short: 10, long: 100 }) },
  );
});

for (const [options, says] of [
  [{ sample: 2 }, /sample must be a share/],
  [{ spansMax: 0, bytesMax: Number.NaN }, /spansMax must.*bytesMax must/],
  [{ evaluators: [toolError(), toolError()] }, /Two evaluators have the name tool_error/],
  [{ evaluators: [taskCompletion()] }, /task_completion asks a judge/],
] satisfies [SpanProcessorOptions, RegExp][]) {
  test(`span processor: options are refused that say ${String(says)}`, () => {
    expect(() => started(options)).toThrow(says);
  });
}

test('span processor: an expectation of an evaluator holds for each run', async () => {
  const { scoring, advance, scored } = started({ evaluators: [toolCalled({ name: 'find_order' })] });
  for (const span of await agentSpans()) scoring.ended(span);
  await advance(600);
  expect(verdictsOf(scored)).toEqual(['tool_called pass']);
});
