/** Acknowledged runs are scored, through all deaths, and once: a journal that outlives processes, and real runs that go through it. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { noTenant } from '../../src/model/ids.ts';
import type { LogRecord } from '../../src/model/span.ts';
import type { ScoredRun } from '../../src/model/scored-run.ts';
import { modelSpan } from '../builders/gen-ai-spans.ts';
import { span } from '../builders/spans.ts';
import { request, second, spansOf, started, world } from './intake-world.ts';
import { propertyRuns } from '../builders/property-runs.ts';

const contents = (items: readonly ScoredRun[]): readonly string[] =>
  items.map(({ run }) => `${run.trace.agent} ${run.completeness} ${run.contentHash}`);

test('intake: a run that is open when the process dies is scored by the next one', async () => {
  const of = world();
  const first = await started(of);
  const spans = spansOf(1);
  expect(await first.take(spans.slice(0, 2))).toBe('appended');
  await first.pass(60 * second);
  const next = await started(of);
  expect(next.parts.count('tracejury.journal.replayed')).toBe(1);
  await next.take(spans.slice(2));
  await next.pass(60 * second);
  const whole = world();
  const undisturbed = await started(whole);
  await undisturbed.take(spans);
  await undisturbed.pass(60 * second);
  expect(contents(of.delivered)).toEqual(contents(whole.delivered));
});

test('intake: a run that is scored and stored is not scored again', async () => {
  const of = world();
  const first = await started(of);
  await first.take(spansOf(1));
  await first.pass(10 * second);
  expect(of.delivered).toHaveLength(1);
  const next = await started(of);
  await next.pass(60 * second);
  expect([of.delivered.length, of.memory.records.size]).toEqual([1, 0]);
});

test('intake: a run that is scored and not stored is scored again, the same', async () => {
  const of = world();
  const first = await started(of, { stores: false });
  await first.take(spansOf(1));
  await first.pass(10 * second);
  const next = await started(of);
  await next.pass(10 * second);
  const [one, other] = contents(of.delivered);
  expect(of.delivered).toHaveLength(2);
  expect(other).toBe(one);
});

test('intake: what no backend has taken is scored again, unless it took none for long', async () => {
  for (const [waits, again] of [
    [10 * second, 2],
    [100 * second, 1],
  ] as const) {
    const of = world();
    const first = await started(of, { sends: false });
    await first.take(spansOf(1));
    await first.pass(waits);
    await (await started(of)).pass(10 * second);
    expect(of.delivered).toHaveLength(again);
  }
});

test('intake: of a request that a done and an open run share only the open one goes on', async () => {
  const of = world();
  const first = await started(of);
  const [open, done] = [spansOf(1), spansOf(2)];
  await first.take([...open.slice(0, 1), ...done.slice(0, 2)]);
  await first.take(done.slice(2));
  await first.pass(20 * second);
  expect(contents(of.delivered)).toHaveLength(1);
  const next = await started(of);
  await next.take(open.slice(1));
  await next.pass(700 * second);
  expect(of.delivered.map(({ run }) => `${run.trace.agent} ${run.completeness} ${run.trace.toolCalls.length}`)).toEqual([
    'agent 2 complete 1',
    'agent 1 complete 1',
  ]);
});

test('intake: a part of a run that the process which joins it cannot take comes back with all of its requests, and is scored here', async () => {
  const of = world();
  const staying = new Set<string>();
  const handedOver: (readonly number[])[] = [];
  const one = await started(of, {
    other: {
      joins: (key) => staying.has(key),
      async handOver({ keys, positions }) {
        handedOver.push(positions);
        for (const key of keys) staying.add(key);
        return false;
      },
    },
  });
  const [asks] = spansOf(1);
  if (asks === undefined) throw new Error('there are no spans');
  // Without the span of the agent, so that another trace may hold the rest of the run. Another trace shares its request.
  await one.take([{ ...asks, parentSpanId: undefined }, ...spansOf(2)]);
  await one.pass(60 * second);
  expect(handedOver).toHaveLength(1);
  expect(of.delivered.map(({ run }) => run.trace.toolCalls.length)).toEqual([1, 1]);
  expect(of.memory.records.size).toBe(0);
});

test('intake: a part that the process which joins it does not take for long holds up nothing that finishes later', async () => {
  const of = world();
  const one = await started(of, { other: { joins: () => false, handOver: () => new Promise(() => undefined) } });
  const [asks] = spansOf(1);
  if (asks === undefined) throw new Error('there are no spans');
  await one.take([{ ...asks, parentSpanId: undefined }]);
  await one.pass(20 * second);
  for (let trace = 2; trace < 30; trace++) await one.take(spansOf(trace));
  await one.pass(60 * second);
  expect(of.delivered).toHaveLength(28);
  // The next process joins the part itself, and has nothing else to score.
  await (await started(of)).pass(60 * second);
  expect(of.delivered).toHaveLength(29);
});

const padding = 'x'.repeat(10_000);
/** The journal has room for that many requests with a padding. */
const requestsMax = propertyRuns({ short: 30, long: 150 });

test('intake: a run stays open while ten times the journal flows by', async () => {
  const of = world(requestsMax * padding.length);
  const first = await started(of);
  const open = spansOf(1);
  expect(await first.take(open.slice(0, 2))).toBe('appended');
  const refused: string[] = [];
  let bytes = 0;
  for (let trace = 2; bytes < of.bytesMax * 10; trace++) {
    const spans = [...spansOf(trace), span({ id: 9, parent: 1, trace, attributes: { text: padding } })];
    // It does something now and then, in a request that it shares.
    if (trace % Math.ceil(requestsMax * 1.3) === 0)
      spans.push(modelSpan({ id: trace + 100, parent: 1, trace: 1, start: 10 + trace, user: 'question 1', says: 'still at it' }));
    bytes += request(spans, 0).body.length;
    const taken = await first.take(spans);
    if (taken !== 'appended') refused.push(taken);
    await first.pass(second);
  }
  expect(refused).toEqual([]);
  expect(first.parts.count('tracejury.journal.moved')).toBeGreaterThan(3);
  await first.pass(2 * second);
  const next = await started(of);
  await next.take(open.slice(2));
  await next.pass(60 * second);
  const last = of.delivered.at(-1)?.run;
  expect([last?.trace.agent, last?.completeness, last?.trace.toolCalls.length]).toEqual(['agent 1', 'complete', 1]);
  // No run was scored twice, also none that shared a request with the open run.
  const agents = of.delivered.map(({ run }) => run.trace.agent);
  expect(new Set(agents).size).toBe(agents.length);
});

test('intake: a run that is open since before the clock was set back by a day does not fill the journal', async () => {
  const of = world(requestsMax * padding.length);
  of.nowMs += 24 * 3_600 * second;
  const first = await started(of);
  expect(await first.take(spansOf(1).slice(0, 2))).toBe('appended');
  of.nowMs -= 24 * 3_600 * second;
  const next = await started(of);
  const refused: string[] = [];
  let bytes = 0;
  for (let trace = 2; bytes < of.bytesMax * 2; trace++) {
    const spans = [...spansOf(trace), span({ id: 9, parent: 1, trace, attributes: { text: padding } })];
    // It is at work, so it is not abandoned.
    if (trace % Math.ceil(requestsMax * 0.7) === 0)
      spans.push(modelSpan({ id: trace + 100, parent: 1, trace: 1, start: 10 + trace, user: 'question 1', says: 'still at it' }));
    bytes += request(spans, 0).body.length;
    const taken = await next.take(spans);
    if (taken !== 'appended') refused.push(taken);
    await next.pass(second);
  }
  expect(refused).toEqual([]);
});

test('intake: a full journal refuses, and takes again when there is room', async () => {
  const of = world(8_000);
  const first = await started(of);
  const answers: string[] = [];
  for (let trace = 1; trace <= 20; trace++) answers.push(await first.take(spansOf(trace)));
  expect(new Set(answers)).toEqual(new Set(['appended', 'full']));
  const taken = answers.filter((answer) => answer === 'appended').length;
  expect(first.intake.fill() >= 1 || taken < 20).toBe(true);
  await first.pass(60 * second);
  expect(of.delivered).toHaveLength(taken);
  expect(await first.take(spansOf(30))).toBe('appended');
});

test('intake: log records go the same way', async () => {
  const of = world();
  const first = await started(of);
  const body = Buffer.from('{"resourceLogs":[]}');
  const given: readonly LogRecord[] = [];
  expect(
    await first.intake.logs(
      { kind: 'logs', tenant: noTenant, contentType: 'application/json', contentEncoding: '', receivedMs: 0, body },
      given,
    ),
  ).toMatchObject({ kind: 'appended' });
  expect((await started(of)).parts.count('tracejury.journal.replayed')).toBe(1);
});

/** Requests with spans of several runs, each run's agent in its last request; the runs begin one after the other. */
const script = fc.record({
  order: fc.array(fc.nat(3), { minLength: 16, maxLength: 16 }),
  sizes: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 16, maxLength: 16 }),
  pauses: fc.array(fc.nat(400), { minLength: 16, maxLength: 16 }),
  dies: fc.array(fc.boolean(), { minLength: 16, maxLength: 16 }),
  stores: fc.boolean(),
});

test('intake: after a death at any point, every run is scored, whole, and never in part', async () => {
  const traces = [1, 2, 3, 4];
  const undisturbed = world();
  const calm = await started(undisturbed);
  await calm.take(traces.flatMap(spansOf));
  await calm.pass(60 * second);
  const wanted = new Set(contents(undisturbed.delivered));
  expect(wanted.size).toBe(traces.length);
  await fc.assert(
    fc.asyncProperty(script, async ({ order, sizes, pauses, dies, stores }) => {
      const of = world();
      const left = traces.map((trace) => [...spansOf(trace)]);
      let process = await started(of, { stores });
      for (let step = 0; left.some((spans) => spans.length > 0); step++) {
        const at = step % order.length;
        const queue = left[order[at] ?? 0]?.length === 0 ? left.find((spans) => spans.length > 0) : left[order[at] ?? 0];
        const spans = (queue ?? []).splice(0, sizes[at]);
        expect(await process.take(spans)).toBe('appended');
        await process.pass(pauses[at] ?? 0);
        of.nowMs = process.clock.nowMs();
        if (dies[at] === true) process = await started(of, { stores });
      }
      await process.pass(60 * second);
      const found = contents(of.delivered);
      expect(new Set(found)).toEqual(wanted);
      if (stores && !dies.includes(true)) expect(found).toHaveLength(wanted.size);
      if (stores) return;
      // Nothing was stored: the journal has it all.
      of.delivered.length = 0;
      await (await started(of)).pass(60 * second);
      expect(new Set(contents(of.delivered))).toEqual(wanted);
    }),
    { numRuns: propertyRuns({ short: 30, long: 150 }) },
  );
});
