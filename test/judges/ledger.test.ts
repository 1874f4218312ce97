/** Budgets that hold, whatever calls cost and whenever the process ends. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ledger, type Budget, type Ledger } from '../../src/judges/ledger.ts';
import type { Used } from '../../src/judges/till.ts';
import { manualClock } from '../../src/model/clock.ts';
import type { JudgeSpendStore } from '../../src/model/judge-store.ts';
import { memorySpend } from '../../src/stores/memory-judges.ts';
import { metricRegistry } from '../../src/telemetry/registry.ts';

/** One dollar a million tokens: a token costs 1000 nano-dollars. */
const price = { inputPerMillion: 1, outputPerMillion: 1 };
const noon = Date.parse('2026-01-31T12:00:00Z');

async function books(store: JudgeSpendStore = memorySpend(), usdPerDay = 0.001) {
  const clock = manualClock(noon);
  const telemetry = metricRegistry();
  const own: Ledger = ledger({ store: memorySpend(), telemetry, clock });
  await own.open(store, ['main']);
  const budget: Budget = { name: 'main', usdPerDay, price };
  const gauge = (name: string) => telemetry.snapshot().find((family) => family.name === name)?.points.map((point) => (point.kind === 'number' ? point.value : 0))[0];
  return { own, clock, store, till: own.till(budget), share: () => own.share(budget), gauge };
}

const tokens = (input: number) => ({ input, output: 0 });

test('ledger: a budget of a thousand tokens is spent to the last one and not beyond', async () => {
  const { till, gauge } = await books();
  const settle = await till.take(tokens(600));
  expect(await till.take(tokens(401))).toBeUndefined();
  settle?.(tokens(599));
  (await till.take(tokens(401)))?.(tokens(401));
  expect(await till.take(tokens(1))).toBeUndefined();
  expect([gauge('tracejury.judge.spent'), gauge('tracejury.judge.budget.used')]).toEqual([0.001, 1]);
});

const ends: readonly { readonly name: string; readonly used: Used; readonly left: number }[] = [
  { name: 'a request that was refused costs nothing', used: 'nothing', left: 1000 },
  { name: 'a request that nobody knows the end of costs all that it may have', used: 'unknown', left: 400 },
  { name: 'an answer costs what it says', used: tokens(100), left: 900 },
  { name: 'an answer that was dearer than it could be counts in full', used: tokens(900), left: 100 },
];
for (const { name, used, left } of ends) {
  test(`ledger: ${name}`, async () => {
    const { till } = await books();
    (await till.take(tokens(600)))?.(used);
    expect(await till.take(tokens(left + 1))).toBeUndefined();
    expect(await till.take(tokens(left))).toBeDefined();
  });
}

test('ledger: the next day (UTC) has a budget of its own, and a call that began before midnight belongs to its day', async () => {
  const { till, clock, store, own, share } = await books();
  const settle = await till.take(tokens(1000));
  expect(share()).toBe(1);
  clock.advance(12 * 3_600_000);
  const next = await till.take(tokens(1000));
  settle?.(tokens(700));
  next?.(tokens(100));
  await own.close();
  expect([(await store.of('main', '2026-01-31')).nanoUsd, (await store.of('main', '2026-02-01')).nanoUsd]).toEqual([700_000, 100_000]);
});

test('ledger: what is left of the sample rates sinks with what is spent', async () => {
  const { till, share } = await books();
  (await till.take(tokens(500)))?.(tokens(500));
  expect(share()).toBeCloseTo(0.5);
  (await till.take(tokens(200)))?.(tokens(200));
  expect(share()).toBe(0);
});

test('ledger: a budget of nothing lets nothing through', async () => {
  const { till, share } = await books(memorySpend(), 0);
  expect([await till.take(tokens(1)), share()]).toEqual([undefined, 0]);
});

test('ledger: without a store that answers nothing is let through', async () => {
  const store = memorySpend();
  const { till } = await books({ ...store, enter: () => Promise.reject(new Error('disk')) });
  await expect(till.take(tokens(1))).rejects.toThrow('disk');
});

test('ledger: however calls end and the process dies, the day costs no more than its budget', async () => {
  const call = fc.record({ most: fc.integer({ min: 1, max: 400 }), share: fc.double({ min: 0, max: 1, noNaN: true }), end: fc.constantFrom('used', 'used', 'nothing', 'unknown', 'open') });
  const life = fc.record({ calls: fc.array(call, { maxLength: 12 }), ends: fc.constantFrom('closed', 'killed') });
  await fc.assert(
    fc.asyncProperty(fc.array(life, { minLength: 1, maxLength: 5 }), async (lives) => {
      const store = memorySpend();
      let spent = 0;
      for (const { calls, ends: how } of lives) {
        const { till, own } = await books(store);
        const taken = await Promise.all(calls.map(async ({ most }) => await till.take(tokens(most))));
        taken.forEach((settle, at) => {
          const { most = 0, share = 0, end = 'open' } = calls[at] ?? {};
          if (settle === undefined) return;
          const used = Math.floor(most * share);
          // What was under way when the process died may have cost all that it could.
          spent += end === 'nothing' ? 0 : end === 'used' ? used : most;
          if (end !== 'open') settle(end === 'used' ? tokens(used) : end === 'nothing' ? 'nothing' : 'unknown');
        });
        if (how === 'closed') await own.close();
      }
      expect(spent).toBeLessThanOrEqual(1000);
      const { store: last } = await books(store);
      const known = await last.of('main', '2026-01-31');
      expect(known.nanoUsd).toBeGreaterThanOrEqual(spent * 1000);
      expect(known.nanoUsd).toBeLessThanOrEqual(1_000_000);
    }),
    { numRuns: 200 },
  );
});
