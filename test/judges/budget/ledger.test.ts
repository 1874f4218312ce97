/** Budgets hold at any cost of calls and at any end of the process. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Budget } from '../../../src/judges/budget/budgets.ts';
import { ledger, type Ledger } from '../../../src/judges/budget/ledger.ts';
import { manualClock } from '../../../src/model/clock.ts';
import { noAmount, type Used } from '../../../src/model/budget.ts';
import { noSpending, type JudgeSpendStore } from '../../../src/model/store/judge-store.ts';
import { memorySpend } from '../../../src/judges/budget/rate-window.ts';
import { metricRegistry } from '../../../src/telemetry/registry.ts';
import { manualSleep, settled } from '../../builders/manual-sleep.ts';
import { propertyRuns } from '../../builders/property-runs.ts';

/** One dollar a million tokens: a token costs 1000 nano-dollars. */
const price = { inputPerMillion: 1, outputPerMillion: 1 };
const noon = Date.parse('2026-01-31T12:00:00Z');

let processes = 0;

async function books(store: JudgeSpendStore = memorySpend(), usdPerDay = 0.001, startMs = noon, waiting?: () => number) {
  const clock = manualClock(startMs);
  const telemetry = metricRegistry();
  const sleep = manualSleep();
  const own: Ledger = ledger({
    store: memorySpend(),
    telemetry,
    clock,
    sleep: sleep.sleep,
    owner: `process ${++processes}`,
    ...(waiting === undefined ? {} : { waiting }),
  });
  await own.open(store);
  const budget: Budget = { name: 'main', usdPerDay, price };
  const gauge = (name: string) =>
    telemetry
      .snapshot()
      .find((family) => family.name === name)
      ?.points.map((point) => (point.kind === 'number' ? point.value : 0))[0];
  return { own, clock, store, sleep, reservation: reservationOf(own, budget), share: () => own.share([budget]).left, gauge };
}

/** Undefined: there is no budget for it. */
function reservationOf(own: Ledger, budget: Budget) {
  const reservation = own.reservation(budget);
  return {
    async take(most: { readonly input: number; readonly output: number }) {
      const settle = await reservation.take(most);
      return typeof settle === 'function' ? settle : undefined;
    },
  };
}

const spentOn = async (store: JudgeSpendStore, day: string, account = 'main') =>
  (await store.on(day)).get(account) ?? { ...noSpending, reserved: noAmount };
const tokens = (input: number) => ({ input, output: 0 });

test('ledger: a budget of a thousand tokens is spent to the last one and not beyond', async () => {
  const { reservation, gauge } = await books();
  const settle = await reservation.take(tokens(600));
  expect(await reservation.take(tokens(401))).toBeUndefined();
  settle?.(tokens(599));
  (await reservation.take(tokens(401)))?.(tokens(401));
  expect(await reservation.take(tokens(1))).toBeUndefined();
  expect([gauge('tracejury.judge.spent'), gauge('tracejury.judge.budget.used')]).toEqual([0.001, 1]);
});

const ends: readonly { readonly name: string; readonly used: Used; readonly left: number }[] = [
  { name: 'a request that was refused costs nothing', used: 'nothing', left: 1000 },
  { name: 'a request with an unknown end costs all that it may have', used: 'unknown', left: 400 },
  { name: 'an answer costs the tokens that it reports', used: tokens(100), left: 900 },
  { name: 'an answer that was dearer than it could be counts in full', used: tokens(900), left: 100 },
];
for (const { name, used, left } of ends) {
  test(`ledger: ${name}`, async () => {
    const { reservation } = await books();
    (await reservation.take(tokens(600)))?.(used);
    expect(await reservation.take(tokens(left + 1))).toBeUndefined();
    expect(await reservation.take(tokens(left))).toBeDefined();
  });
}

test('ledger: the next day (UTC) has a new budget, and a call that began before midnight belongs to its day', async () => {
  const { reservation, clock, store, own, share } = await books();
  const settle = await reservation.take(tokens(1000));
  expect(share()).toBe(1);
  clock.advance(12 * 3_600_000);
  const next = await reservation.take(tokens(1000));
  settle?.(tokens(700));
  next?.(tokens(100));
  await own.close();
  expect([(await spentOn(store, '2026-01-31')).nanoUsd, (await spentOn(store, '2026-02-01')).nanoUsd]).toEqual([700_000, 100_000]);
});

test('ledger: what is left of the sample rates sinks with what is spent', async () => {
  const { reservation, share } = await books();
  (await reservation.take(tokens(500)))?.(tokens(500));
  expect(share()).toBeCloseTo(0.5);
  (await reservation.take(tokens(200)))?.(tokens(200));
  expect(share()).toBe(0);
});

test('ledger: a budget of nothing lets nothing through', async () => {
  const { reservation, share } = await books(memorySpend(), 0);
  expect([await reservation.take(tokens(1)), share()]).toEqual([undefined, 0]);
});

test('ledger: without a store that answers nothing is let through', async () => {
  const store = memorySpend();
  const { reservation } = await books({ ...store, enter: () => Promise.reject(new Error('disk')) });
  await expect(reservation.take(tokens(1))).rejects.toThrow('disk');
});

test('ledger: however calls end and the process dies, the day costs no more than its budget', async () => {
  const call = fc.record({
    most: fc.integer({ min: 1, max: 400 }),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
    end: fc.constantFrom('used', 'used', 'nothing', 'unknown', 'open'),
  });
  const life = fc.record({ calls: fc.array(call, { maxLength: 12 }), ends: fc.constantFrom('closed', 'killed') });
  await fc.assert(
    fc.asyncProperty(fc.array(life, { minLength: 1, maxLength: 5 }), async (lives) => {
      const store = memorySpend();
      let spent = 0;
      let nowMs = noon;
      for (const { calls, ends: how } of lives) {
        // The next process comes when the one before has been silent for a while, and the outcome of its calls is unknown.
        const { reservation, own } = await books(store, 0.001, (nowMs += 120_000));
        const taken = await Promise.all(calls.map(async ({ most }) => await reservation.take(tokens(most))));
        taken.forEach((settle, at) => {
          const { most = 0, share = 0, end = 'open' } = calls[at] ?? {};
          if (settle === undefined) return;
          const used = Math.floor(most * share);
          // Calls in progress when the process died may have cost all that they could.
          spent += end === 'nothing' ? 0 : end === 'used' ? used : most;
          if (end !== 'open') settle(end === 'used' ? tokens(used) : end === 'nothing' ? 'nothing' : 'unknown');
        });
        if (how === 'closed') await own.close();
      }
      expect(spent).toBeLessThanOrEqual(1000);
      const { store: last } = await books(store, 0.001, nowMs + 120_000);
      const known = await spentOn(last, '2026-01-31');
      expect(known.nanoUsd).toBeGreaterThanOrEqual(spent * 1000);
      expect(known.nanoUsd).toBeLessThanOrEqual(1_000_000);
    }),
    { numRuns: propertyRuns({ short: 30, long: 200 }) },
  );
});

test('ledger: what another process has reserved holds, while it is heard of and after', async () => {
  const first = await books();
  expect(await first.reservation.take(tokens(900))).toBeDefined();
  const second = await books(first.store);
  expect(await second.reservation.take(tokens(200))).toBeUndefined();
  const later = await books(first.store, 0.001, noon + 120_000);
  expect(await later.reservation.take(tokens(200))).toBeUndefined();
  expect([second.share(), later.share()]).toEqual([0, 0]);
  expect([(await spentOn(first.store, '2026-01-31')).nanoUsd, later.gauge('tracejury.judge.left')]).toEqual([
    900_000,
    expect.closeTo(0.0001) as number,
  ]);
});

test('ledger: a process that tends its books keeps what it has reserved, and hears what others have spent', async () => {
  const first = await books();
  const settle = await first.reservation.take(tokens(500));
  const second = await books(first.store);
  (await second.reservation.take(tokens(300)))?.(tokens(300));
  await second.own.close();
  for (let times = 0; times < 6; times++) {
    first.clock.advance(20_000);
    await first.sleep.wakeAll();
  }
  await books(first.store, 0.001, noon + 120_000);
  expect(await spentOn(first.store, '2026-01-31')).toMatchObject({ nanoUsd: 300_000 });
  settle?.(tokens(100));
  expect(first.gauge('tracejury.judge.spent')).toBeCloseTo(0.0004);
});

test('ledger: the store has what calls have cost after the next turn, and what is reserved ahead stays whole', async () => {
  const { store, clock, sleep, reservation } = await books(memorySpend(), 1);
  for (let call = 0; call < 3; call++) (await reservation.take(tokens(200)))?.(tokens(100));
  const before = await spentOn(store, '2026-01-31');
  clock.advance(20_000);
  await sleep.wakeAll();
  const after = await spentOn(store, '2026-01-31');
  expect(after).toMatchObject({ nanoUsd: 300_000, requests: 3, inputTokens: 300 });
  expect(after.nanoUsd + after.reserved.nanoUsd).toBe(before.nanoUsd + before.reserved.nanoUsd);
});

const limits: readonly { readonly name: string; readonly budget: Omit<Budget, 'name'>; readonly lets: number; readonly by: string }[] = [
  { name: 'money', budget: { usdPerDay: 0.0025, price }, lets: 2, by: 'usd_per_day' },
  { name: 'requests', budget: { requestsPerDay: 3 }, lets: 3, by: 'requests_per_day' },
  { name: 'tokens', budget: { tokensPerDay: 4_999 }, lets: 4, by: 'tokens_per_day' },
  {
    name: 'either that ends first',
    budget: { usdPerDay: 1, requestsPerDay: 2, tokensPerDay: 5_000, price },
    lets: 2,
    by: 'requests_per_day',
  },
  { name: 'requests of an evaluator', budget: { of: 'evaluator', requestsPerDay: 1 }, lets: 1, by: 'evaluator_requests_per_day' },
];
for (const { name, budget, lets, by } of limits) {
  test(`ledger: a day ends with its budget of ${name}`, async () => {
    const { own } = await books();
    const reservation = own.reservation({ name: 'main', ...budget });
    for (let nth = 0; nth < lets; nth++) {
      const settle = await reservation.take({ input: 900, output: 100 });
      expect(settle).toBeTypeOf('function');
      if (typeof settle === 'function') settle({ input: 900, output: 100 });
    }
    expect(await reservation.take({ input: 900, output: 100 })).toEqual({
      refused: expect.stringContaining(`over_budget: ${by} `) as string,
    });
    expect(
      own.share([
        { name: 'other', usdPerDay: 1 },
        { name: 'main', ...budget },
      ]),
    ).toMatchObject({ by });
  });
}

test('ledger: the scarcest budget sinks the rate', async () => {
  const { own } = await books();
  const judge: Budget = { name: 'main', usdPerDay: 0.001, requestsPerDay: 100, price };
  const evaluator: Budget = { of: 'evaluator', name: 'main', tokensPerDay: 10_000 };
  const spend = async (budget: Budget, input: number): Promise<void> =>
    (await reservationOf(own, budget).take(tokens(input)))?.(tokens(input));
  expect(own.share([judge, evaluator])).toEqual({ left: 1, by: '' });
  await spend(judge, 500);
  expect(own.share([judge, evaluator])).toEqual({ left: expect.closeTo(0.5) as number, by: 'usd_per_day' });
  await spend(evaluator, 5_500);
  expect(own.share([judge, evaluator])).toEqual({ left: expect.closeTo(0.25) as number, by: 'evaluator_tokens_per_day' });
  expect(own.status(evaluator)).toEqual([
    { limit: 'tokens_per_day', most: 10_000, spent: 5_500, reserved: expect.any(Number) as number, share: expect.closeTo(0.25) as number },
  ]);
});

test('ledger: a request that never left counts for nothing, one that was refused as a request', async () => {
  const { own } = await books();
  const budget: Budget = { name: 'main', requestsPerDay: 2 };
  const { take } = reservationOf(own, budget);
  for (let times = 0; times < 5; times++) (await take(tokens(10)))?.('unsent');
  (await take(tokens(10)))?.('nothing');
  (await take(tokens(10)))?.('nothing');
  expect(await take(tokens(10))).toBeUndefined();
});

const minuteLimits: readonly { readonly name: string; readonly budget: Omit<Budget, 'name'> }[] = [
  { name: 'requests', budget: { requestsPerMinute: 2 } },
  { name: 'tokens', budget: { tokensPerMinute: 250 } },
];
for (const { name, budget } of minuteLimits) {
  test(`ledger: beyond the ${name} of a minute a request waits, also for what another process has sent, and goes when a minute is over`, async () => {
    const first = await books();
    await reservationOf(first.own, { name: 'main', ...budget }).take(tokens(100));
    const { own, clock, sleep, gauge } = await books(first.store);
    const reservation = reservationOf(own, { name: 'main', ...budget });
    (await reservation.take(tokens(100)))?.(tokens(100));
    let passed = false;
    const third = reservation.take(tokens(100)).then(() => (passed = true));
    await settled();
    clock.advance(59_000);
    await sleep.wakeAll();
    expect([passed, gauge('tracejury.judge.budget.waits')]).toEqual([false, 1]);
    clock.advance(1_000);
    await sleep.wakeAll();
    await third;
    expect(passed).toBe(true);
  });
}

test('ledger: unused tokens make room within the minute, and one that needs more than a minute gives goes by itself', async () => {
  const { own, sleep, clock } = await books();
  const reservation = reservationOf(own, { name: 'main', tokensPerMinute: 100 });
  const large = await reservation.take(tokens(5_000));
  expect(large).toBeDefined();
  let passed = false;
  const next = reservation.take(tokens(50)).then(() => (passed = true));
  await settled();
  expect(passed).toBe(false);
  large?.(tokens(50));
  await sleep.wakeAll();
  await next;
  expect(passed).toBe(true);
  clock.advance(60_000);
  expect(await reservation.take(tokens(100))).toBeDefined();
});

test('ledger: a caller that waits for a minute is released when the judge stops, and has used nothing', async () => {
  const { own, store } = await books();
  const reservation = own.reservation({ name: 'main', requestsPerMinute: 1, requestsPerDay: 10 });
  await reservation.take(tokens(1));
  const stopping = new AbortController();
  const second = reservation.take(tokens(1), stopping.signal);
  await settled();
  stopping.abort();
  expect(await second).toEqual({ refused: expect.stringContaining('judge_stopped') as string });
  expect(await spentOn(store, '2026-01-31')).toMatchObject({ requests: 0, reserved: { requests: 1 } });
});

test('ledger: what waits sinks the rate as if it had been asked about, once it is known what a question uses', async () => {
  let waiting = 4;
  const { reservation, share } = await books(memorySpend(), 0.001, noon, () => waiting);
  expect(share()).toBe(1);
  (await reservation.take(tokens(100)))?.(tokens(100));
  expect(share()).toBeCloseTo(0.5);
  waiting = 6;
  expect(share()).toBe(0);
  waiting = 0;
  expect(share()).toBe(1);
});

test('ledger: what waits is expected to cost what the questions of the day have cost, from the first one on', async () => {
  let waiting = 0;
  const { reservation, share } = await books(memorySpend(), 0.001, noon, () => waiting);
  // At noon 0.6 of the day's thousand tokens may be spent, and below 0.4 nothing is held back.
  waiting = 1_000;
  expect(share()).toBe(1);
  (await reservation.take(tokens(100)))?.(tokens(100));
  const shares = [0, 3, 4, 5].map((now) => {
    waiting = now;
    return Math.round(share() * 1_000) / 1_000;
  });
  expect(shares).toEqual([1, 1, 0.5, 0]);
  // A second one at half the cost: fifteen hundredths of the day by two questions, so each that waits is expected at 75.
  (await reservation.take(tokens(50)))?.(tokens(50));
  waiting = 4;
  expect(share()).toBeCloseTo((0.6 - 0.15 - 4 * 0.075) / 0.2, 9);
});
