/** The stress watch looks regularly, refuses with a time that grows, and counts all that is given up. */
import { afterEach, expect, test } from 'vitest';
import { manualClock } from '../../src/model/clock.ts';
import { heldRequests } from '../../src/pipeline/overload/held-requests.ts';
import { overload, overloadMonitor, type Readings } from '../../src/service/overload.ts';
import { activityWatch } from '../../src/runtime/activity.ts';
import { metricRegistry } from '../../src/telemetry/registry.ts';
import { manualSleep, settled } from '../builders/manual-sleep.ts';

const atRest: Readings = { in_flight: 0, open_traces: 0, overdueMs: 0, openBytes: 0, journal: 0, store: 0, forward: 0, memory: 0 };
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

function watched({ rests = false, burstBytes = 0 }: { readonly rests?: boolean; readonly burstBytes?: number } = {}) {
  const clock = manualClock();
  const sleeper = manualSleep();
  const activity = activityWatch({ clock, sleep: sleeper.sleep });
  const telemetry = metricRegistry();
  let readings = atRest;
  const holding = manualSleep();
  const held = heldRequests({ sleep: holding.sleep, telemetry, requestsMax: 100 });
  const watch = overloadMonitor({
    held,
    clock,
    sleep: sleeper.sleep,
    ...(rests ? { activity } : {}),
    random: () => 0.5,
    telemetry,
    closingLagMs: 2_000,
    burstBytes,
    retryAfterMaxSeconds: 30,
    read: () => readings,
    onFault: (error) => expect.unreachable(String(error)),
  });
  watch.start();
  stops.push(watch.stop);
  return {
    watch,
    held,
    activity,
    slept: sleeper.slept,
    /** Looks once; `lateMs`: the event loop was that late. */
    async look(now: Partial<Readings>, lateMs = 0) {
      readings = { ...atRest, ...now };
      clock.advance(100 + lateMs);
      await sleeper.wakeAll();
    },
    counted: (metric: string) =>
      (telemetry.snapshot().find(({ name }) => name === metric)?.points ?? []).flatMap((point) =>
        point.kind === 'number' ? [`${Object.values(point.labels).join(' ')} ${point.value}`] : [],
      ),
  };
}

test('stress watch: judges are shed first, then content, then requests are refused', async () => {
  const of = watched();
  const seen = [];
  for (const overdueMs of [400, 600, 1_100, 2_000]) {
    await of.look({ overdueMs });
    seen.push([of.watch.keepsJudges(), of.watch.keepsContent(), of.watch.admission(false) === 'open']);
  }
  expect(seen).toEqual([
    [true, true, true],
    [false, true, true],
    [false, false, true],
    [false, false, false],
  ]);
  expect(of.counted('tracejury.stress.shed').sort()).toEqual(['content closing 2', 'judge closing 3']);
  expect(of.counted('tracejury.stress.refused')).toEqual(['closing 1']);
});

test('stress watch: a burst after a calm time is taken whole while it fits, though closing and the store are behind', async () => {
  const of = watched({ burstBytes: 40_000_000 });
  const taken = (): number => {
    let requests = 0;
    for (; requests < 100 && of.watch.admission(false) === 'open'; requests++) of.watch.took(100_000);
    return requests;
  };
  await of.look({});
  const seen = [];
  for (const overdueMs of [400, 450, 490, 450]) {
    await of.look({ overdueMs, store: 0.06 });
    seen.push(taken());
    expect(of.watch.isCalm()).toBe(true);
  }
  expect(seen).toEqual([100, 100, 100, 100]);
  expect(of.counted('tracejury.stress.refused')).toEqual([]);
  await of.look({ overdueMs: 450, store: 0.06 });
  expect(taken()).toBeLessThan(100);
});

test('stress watch: a burst has no room while memory is nearly full', async () => {
  const of = watched({ burstBytes: 40_000_000 });
  const taken = (): number => {
    let requests = 0;
    for (; requests < 100 && of.watch.admission(false) === 'open'; requests++) of.watch.took(100_000);
    return requests;
  };
  await of.look({ memory: 0.91 });
  await of.look({ memory: 0.91, overdueMs: 450 });
  expect(taken()).toBeLessThan(100);
  for (let look = 0; look < 600; look++) await of.look({ memory: 0.9 });
  await of.look({ memory: 0.9, overdueMs: 450 });
  expect(taken()).toBe(100);
});

test('stress watch: the longer the backlog, the longer clients are asked to wait, up to the bound', async () => {
  const of = watched();
  const told = [];
  for (const overdueMs of [2_000, 4_000, 8_000, 60_000]) {
    await of.look({ overdueMs });
    const admission = of.watch.admission(false);
    told.push(admission === 'open' ? 0 : admission.retryAfterSeconds);
  }
  expect(told).toEqual([3, 15, 30, 30]);
});

test('stress watch: who sends little is let in for longer, but not without end', async () => {
  const of = watched();
  const seen = [];
  for (const overdueMs of [900, 2_000, 3_900, 4_000]) {
    await of.look({ overdueMs });
    seen.push([of.watch.admission(false) === 'open', of.watch.admission(true) === 'open']);
  }
  expect(seen).toEqual([
    [true, true],
    [false, true],
    [false, true],
    [false, false],
  ]);
});

test('stress watch: under pressure it accepts no more than gets done, and everything from a sender of little', async () => {
  const of = watched();
  const [perRequest, perLook] = [100_000, 100];
  let [openBytes, taken, modest] = [0, 0, 0];
  for (let look = 0; look < 300; look++) {
    for (let request = 0; request < perLook; request++) {
      if (of.watch.admission(false) !== 'open') continue;
      of.watch.took(perRequest);
      openBytes += perRequest;
      taken++;
    }
    modest += of.watch.admission(true) === 'open' ? 1 : 0;
    // A tenth of what is offered gets done.
    openBytes = Math.max(0, openBytes - (perRequest * perLook) / 10);
    await of.look({ openBytes, store: openBytes > 5_000_000 ? 0.06 : 0.01 });
  }
  expect(taken / 300).toBeGreaterThan(perLook / 10 - 2);
  expect(taken / 300).toBeLessThan(perLook / 10 + 3);
  expect(modest).toBe(300);
  expect(of.counted('tracejury.stress.refused')).toEqual([`store ${300 * perLook - taken}`]);
  expect(of.watch.isCalm()).toBe(true);
});

test('stress watch: held requests are taken as the rate allows, without a place in the line, and while they wait the service measures', async () => {
  const of = watched({ rests: true });
  const press = { overdueMs: 900, openBytes: 10_000_000 };
  for (let look = 0; look < 10; look++) await of.look(press);
  for (let request = 0; request < 50; request++) if (of.watch.admission(false) === 'open') of.watch.took(100_000);
  const refused = of.counted('tracejury.stress.refused');
  let taken = 0;
  for (let request = 0; request < 4; request++)
    void of.held.enter({
      lane: 'http',
      sender: 'one',
      whenGone: () => undefined,
      outlook: () => of.watch.outlook(false),
      take: () => (of.watch.outlook(false) === 'open' && of.watch.admission(false) === 'open' ? ++taken : undefined),
    });
  expect(taken).toBe(0);
  const seen: number[] = [];
  for (let look = 0; look < 100 && of.held.isHolding(); look++) {
    await of.look(press);
    seen.push(taken);
    expect(of.slept.at(-1)).toBe(100);
  }
  expect([seen[0], taken]).toEqual([0, 4]);
  expect(seen.length).toBeGreaterThan(4);
  expect(of.counted('tracejury.stress.refused')).toEqual(refused);
});

test.each([
  { name: 'a full journal', readings: { journal: 1 }, want: ['later', 'later'] },
  { name: 'a target that takes nothing', readings: { forward: 1 }, want: ['later', 'later'] },
  { name: 'late closing', readings: { overdueMs: 2_000 }, want: ['soon', 'open'] },
  { name: 'full memory', readings: { memory: 1.1 }, want: ['later', 'later'] },
  { name: 'memory at its limit', readings: { memory: 1 }, want: ['open', 'open'] },
  { name: 'nothing', readings: {}, want: ['open', 'open'] },
] as const)('stress watch: the outlook under $name, also of a sender that sends little', async ({ readings, want }) => {
  const of = watched();
  await of.look(readings);
  expect([of.watch.outlook(false), of.watch.outlook(true)]).toEqual(want);
  expect(of.counted('tracejury.stress.refused')).toEqual([]);
});

test('stress watch: a full journal is reported by a separate name', async () => {
  const of = watched();
  await of.look({ journal: 1 });
  expect(of.watch.admission(false)).toMatchObject({ refuse: 'journal_full' });
  expect(of.counted('tracejury.stress.refused')).toEqual(['journal 1']);
});

test('stress watch: one long look stalls the event loop and refuses nothing, a loop that stays late does', async () => {
  const of = watched();
  await of.look({}, 5_000);
  await of.look({});
  expect(of.watch.admission(false)).toBe('open');
  await of.look({}, 1_500);
  await of.look({}, 1_500);
  expect(of.watch.admission(false)).toMatchObject({ refuse: 'overloaded' });
});

test('stress watch: a request that a receiver has no room for is counted, and gets a time to come back', async () => {
  const of = watched();
  await of.look({ in_flight: 0.99 });
  expect([of.watch.admission(false), of.watch.putOff('in_flight')]).toEqual(['open', 1]);
  expect(of.counted('tracejury.stress.refused')).toEqual(['in_flight 1']);
});

test('stress watch: a service at rest measures once a minute, and its long rest does not count as lag of the event loop', async () => {
  const of = watched({ rests: true });
  for (let look = 0; look < 4; look++) await of.look({}, 60_000);
  expect(of.slept).toEqual([100, 60_000, 60_000, 60_000, 60_000]);
  expect(of.counted('tracejury.stress.strain')).toContain('event_loop 0');
  of.activity.noted();
  await settled();
  await of.look({ overdueMs: 2_000 });
  expect(of.watch.admission(false)).not.toBe('open');
  await of.look({ overdueMs: 2_000 }, 60_000);
  expect(of.slept.slice(-2)).toEqual([100, 100]);
});

test('stress watch: under only a pace each refused request has its place in the line, and waits as long as its backlog', async () => {
  const of = watched();
  for (let look = 0; look < 20; look++) {
    for (let request = 0; request < 20; request++) if (of.watch.admission(false) === 'open') of.watch.took(100_000);
    await of.look({ store: look < 19 ? 0 : 0.06 });
  }
  const waits = [];
  for (let request = 0; request < 500; request++) {
    const admission = of.watch.admission(false);
    if (admission !== 'open') waits.push(admission.retryAfterSeconds);
  }
  expect(waits.slice(0, 5).every((seconds) => seconds < 0.5)).toBe(true);
  expect(waits).toEqual(waits.toSorted((one, other) => one - other));
  expect(waits.at(-1)).toBe(1);
  expect(waits.length).toBeGreaterThan(300);
});

test('stress watch: a burst leaves no limit behind: the service rests only when it takes again what comes', async () => {
  const of = watched({ rests: true });
  const sent = (requests: number): number => {
    let taken = 0;
    for (let request = 0; request < requests; request++) {
      if (of.watch.admission(false) !== 'open') continue;
      of.watch.took(200_000);
      taken++;
    }
    return taken;
  };
  for (let look = 0; look < 40; look++) {
    of.activity.noted();
    sent(4);
    await of.look({ overdueMs: look < 20 ? 0 : 1_900 });
  }
  expect(sent(40)).toBeLessThan(40);
  for (let look = 0; look < 600 && of.slept.at(-1) !== 60_000; look++) await of.look({});
  expect(of.slept.at(-1)).toBe(60_000);
  of.activity.noted();
  expect(sent(40)).toBe(40);
});

const mib = 1024 * 1024;

/** A service whose open traces and process have these sizes, after one look. */
async function sized({ openMib, residentShare }: { readonly openMib: number; readonly residentShare: number }) {
  const clock = manualClock();
  const sleeper = manualSleep();
  const memoryBytes = 512 * mib;
  const watch = overload({
    limits: { memoryBytes, closingLagMs: 2_000, retryAfterMs: 30_000 },
    flow: {
      bytes: () => openMib * mib,
      openBytes: () => openMib * mib,
      isOldestActive: () => true,
      relieve() {},
      nextDueMs: () => undefined,
    },
    leases: { fill: () => 0, bytesMax: memoryBytes / 8 },
    journalFill: () => 0,
    storeFill: () => 0,
    forwardFill: () => 0,
    wake() {},
    telemetry: metricRegistry(),
    clock,
    sleep: sleeper.sleep,
    random: () => 0.5,
    memory: { residentBytes: () => residentShare * memoryBytes, collect() {}, collectInSteps() {}, collectOften() {} },
    onFault: (error) => expect.unreachable(String(error)),
  });
  watch.start();
  stops.push(watch.stop);
  clock.advance(100);
  await sleeper.wakeAll();
  return watch;
}

test.each([
  { residentShare: 0.9, openMib: 120, want: ['open', 'open'] },
  { residentShare: 0.9, openMib: 122, want: ['refused', 'open'] },
  { residentShare: 1, openMib: 75, want: ['open', 'open'] },
  { residentShare: 1, openMib: 77, want: ['refused', 'open'] },
  { residentShare: 1, openMib: 126, want: ['refused', 'open'] },
  { residentShare: 0.9, openMib: 127, want: ['refused', 'refused'] },
  { residentShare: 1.049, openMib: 30, want: ['open', 'open'] },
  { residentShare: 1.05, openMib: 30, want: ['refused', 'open'] },
  { residentShare: 1.1, openMib: 30, want: ['refused', 'refused'] },
  { residentShare: 1.1, openMib: 10, want: ['open', 'open'] },
])(
  'overload: at $residentShare of its memory and with $openMib MiB of open traces, a service answers a flood and others $want',
  async ({ residentShare, openMib, want }) => {
    const watch = await sized({ residentShare, openMib });
    expect([false, true].map((isModest) => (watch.admission(isModest) === 'open' ? 'open' : 'refused'))).toEqual(want);
  },
);
