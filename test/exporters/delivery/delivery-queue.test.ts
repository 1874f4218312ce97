import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Exporter, ExportOutcome } from '../../../src/exporters/exporter.ts';
import type { ScoredRun } from '../../../src/model/scored-run.ts';
import { deliveryQueue, type DeliveryQueue, type DeliveryQueueOptions } from '../../../src/exporters/delivery/delivery-queue.ts';
import { manualClock } from '../../../src/model/clock.ts';
import { tenant } from '../../../src/model/ids.ts';
import { itemSequence } from '../../../src/model/watermark.ts';
import { metricRegistry } from '../../../src/telemetry/registry.ts';
import { agentTrace, spanId } from '../../builders/agent-trace.ts';
import { type ManualSleep, manualSleep, settled } from '../../builders/manual-sleep.ts';
import { run, scored, scoredRun } from '../../builders/scored-run.ts';

const later: ExportOutcome = { kind: 'failed', retryable: true, error: 'busy' };
const never: ExportOutcome = { kind: 'failed', retryable: false, error: 'no' };
const fine: ExportOutcome = { kind: 'sent' };

/** The n-th item of a run, distinguished by its revision. */
function item(of: number, nth = 1): ScoredRun {
  return scoredRun({ e: scored(1) }, run({ spanId: spanId(of), revision: nth }));
}

interface Bench {
  readonly box: Omit<DeliveryQueue, 'offer'> & { offer(item: ScoredRun): void };
  /** Items in the order in which they were sent, as `run.revision`. */
  readonly sent: string[];
  readonly sleep: ManualSleep;
  readonly clock: ReturnType<typeof manualClock>;
  /** Answers the oldest sending. */
  answer(outcome: ExportOutcome): Promise<void>;
  sending(): number;
  stopped(): number;
  counts(): { readonly [outcome: string]: number };
  gauge(name: string): number | undefined;
}

function bench(options: Partial<DeliveryQueueOptions> = {}): Bench {
  const sent: string[] = [];
  const pending: ((outcome: ExportOutcome) => void)[] = [];
  let stops = 0;
  const exporter: Exporter = {
    id: 'x',
    send: ({ run: of }) => {
      sent.push(`${Number.parseInt(of.spanId, 16)}.${of.revision}`);
      return new Promise((resolve) => pending.push(resolve));
    },
    async stop() {
      stops++;
    },
  };
  const telemetry = metricRegistry();
  const sleep = manualSleep();
  const clock = manualClock();
  const points = (name: string) => telemetry.snapshot().find((family) => family.name === name)?.points ?? [];
  const box = deliveryQueue({ exporter, telemetry, clock, random: () => 1, sleep: sleep.sleep, ...options });
  const ids = itemSequence();
  return {
    box: { ...box, offer: (one) => box.offer({ ...one, id: ids.next() }) },
    sent,
    sleep,
    clock,
    async answer(outcome) {
      pending.shift()?.(outcome);
      await settled();
    },
    sending: () => pending.length,
    stopped: () => stops,
    counts: () =>
      Object.fromEntries(
        points('tracejury.exporter.items').map((point) => [
          point.labels['tracejury.outcome'] ?? '',
          point.kind === 'number' ? point.value : 0,
        ]),
      ),
    gauge: (name) => points(name).map((point) => (point.kind === 'number' ? point.value : 0))[0],
  };
}

test('outbox: items of one run go one at a time and in order, others beside them up to the limit', async () => {
  const { box, sent, answer } = bench({ sendingMax: 2 });
  for (const [of, nth] of [
    [1, 1],
    [1, 2],
    [2, 1],
    [3, 1],
    [1, 3],
  ] as const)
    box.offer(item(of, nth));
  expect(sent).toEqual(['1.1', '2.1']);
  await answer(fine);
  expect(sent).toEqual(['1.1', '2.1', '3.1']);
  for (let at = 0; at < 4; at++) await answer(fine);
  expect(sent).toEqual(['1.1', '2.1', '3.1', '1.2', '1.3']);
  expect(box.held()).toBe(0);
});

test('outbox: a retryable failure rests twice as long each time, up to the longest rest, and holds back only its own run', async () => {
  const { box, sent, sleep, answer, counts } = bench({ firstRestMs: 100, longestRestMs: 300 });
  box.offer(item(1, 1));
  box.offer(item(1, 2));
  await answer(later);
  box.offer(item(2, 1));
  await answer(fine);
  for (let at = 0; at < 3; at++) {
    await sleep.wakeAll();
    await answer(later);
  }
  expect(sleep.slept).toEqual([100, 200, 300, 300]);
  await sleep.wakeAll();
  await answer(fine);
  await answer(fine);
  expect(sent).toEqual(['1.1', '2.1', '1.1', '1.1', '1.1', '1.1', '1.2']);
  expect(counts()).toEqual({ sent: 3, retried: 4 });
});

test('outbox: the first items that are held no longer are settled; those that a stop gives up are not', async () => {
  const { box, sleep, answer } = bench({ sendingMax: 2 });
  for (const number of [1, 2, 3]) box.offer(item(number));
  await answer(later);
  await answer(fine);
  await sleep.wakeAll();
  await answer(fine);
  // The second and the third are sent, the first is on its way again.
  expect([box.held(), box.settled()]).toEqual([1, 0]);
  await answer(fine);
  expect([box.held(), box.settled()]).toEqual([0, 3]);
  box.offer(item(4));
  const stopped = box.stop(0);
  await sleep.wakeAll();
  await stopped;
  expect([box.held(), box.settled()]).toEqual([0, 3]);
});

test('outbox: chance shortens a rest by half at most', async () => {
  const { box, sleep, answer } = bench({ random: () => 0, firstRestMs: 100 });
  box.offer(item(1));
  await answer(later);
  expect(sleep.slept).toEqual([50]);
});

test('outbox: attempts are bounded, and a lasting failure is given up at once', async () => {
  const { box, sent, sleep, answer, counts } = bench({ attemptsMax: 3 });
  box.offer(item(1, 1));
  box.offer(item(1, 2));
  for (let at = 0; at < 3; at++) {
    await answer(later);
    await sleep.wakeAll();
  }
  await answer(never);
  expect(sent).toEqual(['1.1', '1.1', '1.1', '1.2']);
  expect(counts()).toEqual({ retried: 2, failed: 2 });
  expect(box.held()).toBe(0);
});

test('outbox: an exporter that rejects against its contract is a lasting failure', async () => {
  const exporter: Exporter = { id: 'x', send: () => Promise.reject(new Error('x')), stop: async () => {} };
  const { box, counts } = bench({ exporter });
  box.offer(item(1));
  await settled();
  expect(counts()).toEqual({ failed: 1 });
  expect(box.held()).toBe(0);
});

test('outbox: at the limit the oldest that is not on its way is dropped and counted, also while it rests', async () => {
  const { box, sent, sleep, answer, counts } = bench({ itemsMax: 2, sendingMax: 1 });
  box.offer(item(1));
  await answer(later);
  box.offer(item(2));
  box.offer(item(3));
  expect([box.held(), sleep.asleep()]).toEqual([2, 0]);
  box.offer(item(4));
  await answer(fine);
  await answer(fine);
  expect(sent).toEqual(['1.1', '2.1', '4.1']);
  expect(counts()).toEqual({ retried: 1, dropped: 2, sent: 2 });
});

test('outbox: at the limit a flood of one tenant costs its own items, by number and by bytes', async () => {
  const { box, counts, sent, sleep, answer } = bench({ itemsMax: 4, sendingMax: 1 });
  const of = (name: string, number: number): ScoredRun =>
    scoredRun({ e: scored(1) }, run({ spanId: spanId(number), tenant: tenant(name) }));
  for (const number of [1, 2]) box.offer(of('other', number));
  for (let number = 3; number < 20; number++) box.offer(of('flood', number));
  expect([box.held(), counts()['dropped']]).toEqual([4, 15]);
  for (let at = 0; at < 4; at++) {
    await answer(fine);
    await sleep.wakeAll();
  }
  expect(sent).toEqual(['1.1', '2.1', '18.1', '19.1']);
});

test('outbox: a backend that is down holds no more than the limit and no timer for what was dropped', async () => {
  const { box, sleep, answer, counts } = bench({ itemsMax: 10, sendingMax: 4 });
  for (let at = 1; at <= 500; at++) {
    box.offer(item(at));
    await answer(later);
  }
  expect(box.held()).toBe(10);
  expect(sleep.asleep()).toBeLessThanOrEqual(10);
  expect(counts()['dropped']).toBe(490);
});

test('outbox: huge runs are held to the limit of memory, the newest of them kept', async () => {
  const { box, sent, answer, counts } = bench({ bytesMax: 250_000, sendingMax: 1 });
  const huge = (of: number): ScoredRun =>
    scoredRun({ e: scored(1) }, run({ spanId: spanId(of), trace: agentTrace({ input: 'x'.repeat(100_000) }) }));
  for (const number of [1, 2, 3, 4]) box.offer(huge(number));
  expect(box.held()).toBe(2);
  await answer(fine);
  await answer(fine);
  for (const number of [5, 6]) box.offer(huge(number));
  await answer(fine);
  await answer(fine);
  expect(sent).toEqual(['1.1', '4.1', '5.1', '6.1']);
  expect(counts()).toEqual({ sent: 4, dropped: 2 });
});

test('outbox: a run larger than all memory allowed is dropped, and the others go on', async () => {
  const { box, sent, counts } = bench({ bytesMax: 50_000 });
  box.offer(scoredRun({ e: scored(1) }, run({ trace: agentTrace({ input: 'x'.repeat(100_000) }) })));
  box.offer(item(2));
  expect([box.held(), sent, counts()]).toEqual([1, ['2.1'], { dropped: 1 }]);
});

test('outbox: the gauges show how many wait and how old the oldest is', async () => {
  const { box, clock, answer, gauge } = bench({ sendingMax: 1 });
  box.offer(item(1));
  clock.advance(2500);
  box.offer(item(2));
  expect([gauge('tracejury.exporter.queue'), gauge('tracejury.exporter.lag')]).toEqual([2, 2.5]);
  await answer(fine);
  await answer(fine);
  expect([gauge('tracejury.exporter.queue'), gauge('tracejury.exporter.lag')]).toEqual([0, 0]);
});

test('outbox: the oldest item ages while a backend is away, also when nothing new comes', async () => {
  const { box, clock, sleep, answer, gauge } = bench();
  box.offer(item(1));
  for (let attempt = 0; attempt < 3; attempt++) {
    clock.advance(10_000);
    await answer(later);
    await sleep.wakeAll();
  }
  expect([gauge('tracejury.exporter.queue'), gauge('tracejury.exporter.lag')]).toEqual([1, 30]);
});

test('outbox: stop sends what is there, at once also what rests, then stops the exporter once', async () => {
  const { box, sent, answer, counts, stopped } = bench({ sendingMax: 1 });
  box.offer(item(1));
  await answer(later);
  box.offer(item(2));
  const stop = box.stop(1000);
  expect(box.stop(5)).toBe(stop);
  box.offer(item(3));
  await answer(fine);
  await answer(fine);
  expect(await stop).toBe(0);
  expect(sent).toEqual(['1.1', '2.1', '1.1']);
  expect(counts()).toEqual({ retried: 1, dropped: 1, sent: 2 });
  expect(stopped()).toBe(1);
});

test('outbox: at the deadline of a stop the rest is dropped, and a late answer changes nothing', async () => {
  const { box, sent, sleep, answer, counts, stopped } = bench({ sendingMax: 1 });
  box.offer(item(1, 1));
  box.offer(item(1, 2));
  box.offer(item(2, 1));
  const stop = box.stop(1000);
  expect(sleep.slept).toEqual([1000]);
  await sleep.wakeAll();
  expect(await stop).toBe(3);
  await answer(fine);
  expect(sent).toEqual(['1.1']);
  expect(counts()).toEqual({ dropped: 3 });
  expect([box.held(), stopped()]).toEqual([0, 1]);
});

test('outbox: stop with nothing held ends at once', async () => {
  const { box, stopped } = bench();
  await box.stop(1000);
  expect(stopped()).toBe(1);
});

test('outbox: in any course of events, every item ends once and runs keep their order', async () => {
  const step = fc.oneof(
    fc.record({ offer: fc.integer({ min: 1, max: 3 }) }),
    fc.record({ answer: fc.constantFrom(fine, later, never) }),
    fc.constant({ wake: true } as const),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const { box, sent, sleep, answer, counts, sending } = bench({ itemsMax: 4, sendingMax: 2, attemptsMax: 3 });
      const offered = new Map<number, number>();
      for (const one of steps) {
        if ('offer' in one) {
          const nth = (offered.get(one.offer) ?? 0) + 1;
          offered.set(one.offer, nth);
          box.offer(item(one.offer, nth));
        } else if ('answer' in one) await answer(one.answer);
        else await sleep.wakeAll();
        expect(sending()).toBeLessThanOrEqual(2);
      }
      while (box.held() > 0) {
        await answer(fine);
        await sleep.wakeAll();
      }
      const { sent: arrived = 0, failed: gone = 0, dropped = 0 } = counts();
      expect(arrived + gone + dropped).toBe([...offered.values()].reduce((sum, count) => sum + count, 0));
      for (const of of offered.keys()) {
        const order = sent.filter((text) => text.startsWith(`${of}.`)).map((text) => Number(text.split('.')[1]));
        expect(order).toEqual([...order].sort((one, other) => one - other));
      }
    }),
    { numRuns: 60 },
  );
});

test('outbox: missing spans do not count against the backend, are tried again, and are given up when they are too old', async () => {
  const missing: ExportOutcome = { kind: 'failed', retryable: true, isMissing: true, error: 'its span is not there' };
  const { box, answer, sleep, clock, counts, sent } = bench({ missingMs: 60_000, failuresMax: 2, sendingMax: 1 });
  box.offer(item(1));
  for (let attempt = 1; attempt <= 3; attempt++) {
    await answer(missing);
    expect(box.status().circuit).toBe('closed');
    await sleep.wakeAll();
  }
  expect(sent).toEqual(['1.1', '1.1', '1.1', '1.1']);
  clock.advance(60_001);
  await answer(missing);
  expect(counts()).toMatchObject({ retried: 3, failed: 1 });
  expect(box.held()).toBe(0);
});
