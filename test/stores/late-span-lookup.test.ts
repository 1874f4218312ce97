import { expect, test } from 'vitest';
import { collectors } from '../../collectors/index.ts';
import { manualClock } from '../../src/model/clock.ts';
import { noTenant, tenant } from '../../src/model/ids.ts';
import { defaultClosing } from '../../src/pipeline/gathering/close-policy.ts';
import { gathering } from '../../src/pipeline/gathering/gatherer.ts';
import type { TraceName } from '../../src/pipeline/gathering/late-spans.ts';
import { activityWatch } from '../../src/runtime/activity.ts';
import { memoryStore } from '../builders/memory-store.ts';
import { startLateSpanLookup, tracesPerTurn } from '../../src/stores/late-span-lookup.ts';
import type { Store } from '../../src/model/store/store.ts';
import { metricRegistry } from '../../src/telemetry/registry.ts';
import { toolSpan } from '../builders/gen-ai-spans.ts';
import { manualSleep, settled } from '../builders/manual-sleep.ts';
import { run, scoredRun } from '../builders/scored-run.ts';
import { traceId } from '../builders/spans.ts';

const names = (count: number): readonly TraceName[] =>
  Array.from({ length: count }, (_, at) => ({ tenant: noTenant, traceId: traceId(at + 1) }));

/** One turn over these strays. */
async function turned(strays: readonly TraceName[], store: Store) {
  const telemetry = metricRegistry();
  const sleep = manualSleep();
  const dismissed: TraceName[] = [];
  const asked: number[] = [];
  const faults: unknown[] = [];
  let left = strays;
  const looking = startLateSpanLookup({
    store: {
      ...store,
      async known(traces) {
        asked.push(traces.length);
        return await store.known(traces);
      },
    },
    flow: {
      takeStrays: () => {
        const taken = left;
        left = [];
        return taken;
      },
      mayHaveStrays: () => left.length > 0,
      reopen: () => undefined,
      dismiss: ({ tenant, traceId: id }) => void dismissed.push({ tenant, traceId: id }),
    },
    telemetry,
    clock: manualClock(10_000),
    sleep: sleep.sleep,
    closing: () => ({ lateMs: 1_000, quietMs: 5_000 }),
    wake: () => undefined,
    onFault: (error) => faults.push(error),
  });
  await sleep.wakeAll();
  for (let turn = 0; turn < 100; turn++) await settled();
  await looking.stop();
  const count = (outcome: string): number =>
    (telemetry.snapshot().find(({ name }) => name === 'tracejury.store.lookups')?.points ?? []).reduce(
      (sum, point) => (point.kind === 'number' && Object.values(point.labels).includes(outcome) ? sum + point.value : sum),
      0,
    );
  return {
    asked,
    dismissed,
    faults,
    counts: Object.fromEntries(['new', 'reopened', 'not_kept', 'not_asked', 'failed'].map((outcome) => [outcome, count(outcome)])),
  };
}

test('reopener: traces are asked about together, a bounded number in one turn', async () => {
  const store = await memoryStore();
  await store.write([scoredRun({}, run({ traceId: traceId(7) }))]);
  const { asked, dismissed, counts } = await turned(names(2_050), store);
  expect([asked.length, Math.max(...asked), asked.reduce((sum, one) => sum + one, 0)]).toEqual([10, 200, 2_000]);
  expect(dismissed).toEqual([{ tenant: noTenant, traceId: traceId(7) }]);
  expect(counts).toEqual({ new: 1_999, reopened: 0, not_kept: 1, not_asked: 50, failed: 0 });
});

test('reopener: a store that cannot be asked is reported, and the traces go on as new ones', async () => {
  const { dismissed, faults, counts } = await turned(names(3), {
    ...(await memoryStore()),
    known: () => Promise.reject(new Error('locked')),
  });
  expect([dismissed, faults.length, counts['failed'], counts['new']]).toEqual([[], 1, 3, 0]);
});

const gone: readonly { readonly name: string; readonly piece: object }[] = [
  { name: 'are redacted', piece: { isRedacted: true } },
  { name: 'are not whole', piece: { isWhole: false } },
  { name: 'are of several traces', piece: { joined: [traceId(9)] } },
  { name: 'came too long ago', piece: { storedAt: 8_999_000 } },
];
for (const { name, piece } of gone) {
  test(`reopener: a run whose spans ${name} is not opened again`, async () => {
    const store = await memoryStore();
    await store.write([scoredRun({}, run({ traceId: traceId(1) }))]);
    await store.writeSpans([
      {
        tenant: noTenant,
        traceId: traceId(1),
        joined: [],
        startedAt: 0,
        storedAt: 9_500_000,
        spans: 1,
        isWhole: true,
        isRedacted: false,
        digest: 'x',
        body: new Uint8Array(),
        ...piece,
      },
    ]);
    expect((await turned(names(1), store)).counts).toMatchObject({ reopened: 0, not_kept: 1 });
  });
}

test('reopener: strays of one tenant leave room for those of another one', async () => {
  const store = await memoryStore();
  const victim = tenant('victim');
  await store.write([scoredRun({}, run({ tenant: victim, traceId: traceId(7) }))]);
  const { dismissed } = await turned([...names(tracesPerTurn + 100), { tenant: victim, traceId: traceId(7) }], store);
  expect(dismissed).toEqual([{ tenant: victim, traceId: traceId(7) }]);
});

for (const quietMs of [8_000, 10_000, 60_000]) {
  test(`reopener: a stray is looked up half of its quiet time of ${quietMs} ms later, although nothing else comes, and a long rest follows`, async () => {
    const [clock, sleep, telemetry, store] = [manualClock(0), manualSleep(), metricRegistry(), await memoryStore()];
    const flow = gathering({ collectors, clock, telemetry, closing: { ...defaultClosing, quietMs } });
    flow.addSpans(noTenant, [toolSpan({ id: 2, parent: 1 })]);
    const askedMs: number[] = [];
    const looking = startLateSpanLookup({
      store: {
        ...store,
        async known(traces) {
          askedMs.push(clock.nowMs());
          return await store.known(traces);
        },
      },
      flow,
      telemetry,
      clock,
      sleep: sleep.sleep,
      rest: activityWatch({ clock, sleep: sleep.sleep }).rest,
      closing: () => ({ lateMs: 1_000, quietMs }),
      wake: () => undefined,
      onFault: (error) => expect.unreachable(String(error)),
    });
    while (askedMs.length === 0 && clock.nowMs() < 120_000) {
      clock.advance(sleep.slept.at(-1) ?? 0);
      await sleep.wakeAll();
    }
    for (let turn = 0; turn < 20; turn++) await settled();
    expect([askedMs, sleep.slept.at(-1)]).toEqual([[quietMs / 2], 60_000]);
    await looking.stop();
  });
}
