import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bothReservations } from '../../../src/judges/budget/both-reservations.ts';
import { fixedBudget, type FixedBudget } from '../../../src/judges/budget/fixed-budget.ts';
import { memorySpend } from '../../../src/judges/budget/rate-window.ts';
import type { BudgetReservation, Refusal, Settle, Used } from '../../../src/model/budget.ts';
import { manualClock } from '../../../src/model/clock.ts';
import type { JudgeSpendStore } from '../../../src/model/store/judge-store.ts';

/** A dollar for a million tokens, so a token costs a thousand nano-dollars. */
const price = { inputPerMillion: 1, outputPerMillion: 1 };
const tokens = (count: number) => ({ input: count, output: 0 });

function budgetOf(store: JudgeSpendStore, usd: number, owner = 'a'): FixedBudget {
  return fixedBudget({ store, clock: manualClock(), account: 'replay:x', day: '2026-01-31', owner, usd, reason: 'replay_budget' });
}

async function settle(budget: FixedBudget, most: number, used: Used): Promise<boolean> {
  const taken = await budget.at(price).take(tokens(most));
  if (typeof taken === 'function') taken(used);
  await budget.settled();
  return typeof taken === 'function';
}

test('fixed budget: refuses a request that might cost more than is left, with its reason', async () => {
  const budget = budgetOf(memorySpend(), 0.001);
  expect(await settle(budget, 600, tokens(500))).toBe(true);
  expect(await budget.at(price).take(tokens(501))).toEqual({ refused: 'over_budget: replay_budget leaves no room for this request' });
  expect(await settle(budget, 500, tokens(100))).toBe(true);
  expect(await budget.spentUsd()).toBeCloseTo(0.0006, 9);
});

test.each([
  { used: 'unsent' as const, spent: 0 },
  { used: 'nothing' as const, spent: 0 },
  { used: 'unknown' as const, spent: 0.0004 },
])('fixed budget: a request of unclear cost counts: $used', async ({ used, spent }) => {
  const budget = budgetOf(memorySpend(), 1);
  await settle(budget, 400, used);
  expect(await budget.spentUsd()).toBeCloseTo(spent, 9);
});

test('fixed budget: what a killed process had reserved stays taken for the next one', async () => {
  const store = memorySpend();
  await budgetOf(store, 0.001, 'killed').at(price).take(tokens(700));
  const next = budgetOf(store, 0.001, 'next');
  expect(await next.spentUsd()).toBeCloseTo(0.0007, 9);
  expect([await settle(next, 301, tokens(1)), await settle(next, 300, tokens(300))]).toEqual([false, true]);
});

test('fixed budget: is never exceeded, whether requests use all of what they reserve or less, at the same time and after a kill', async () => {
  const request = fc.record({
    most: fc.integer({ min: 1, max: 900 }),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
    killed: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(request, { maxLength: 30 }), async (requests) => {
      const store = memorySpend();
      let budget = budgetOf(store, 0.001, '0');
      let spent = 0;
      const open: { readonly settle: Settle; readonly most: number; readonly share: number }[] = [];
      for (const [at, { most, share, killed }] of requests.entries()) {
        const taken = await budget.at(price).take(tokens(most));
        if (typeof taken === 'function') open.push({ settle: taken, most, share });
        if (killed) {
          // The cost of its requests is unknown: at most what they reserved.
          spent += open.splice(0).reduce((sum, one) => sum + one.most, 0);
          budget = budgetOf(store, 0.001, String(at + 1));
        } else if (open.length > 2) {
          const one = open.shift();
          const used = Math.floor((one?.most ?? 0) * (one?.share ?? 0));
          spent += used;
          one?.settle(tokens(used));
        }
        await budget.settled();
      }
      expect(spent + open.reduce((sum, one) => sum + one.most, 0)).toBeLessThanOrEqual(1_000);
    }),
  );
});

function watched(refuses: boolean): BudgetReservation & { readonly used: Used[] } {
  const used: Used[] = [];
  const refusal: Refusal = { refused: 'over_budget: other leaves no room' };
  return { used, take: async () => (refuses ? refusal : (one) => void used.push(one)) };
}

test.each([
  { first: false, second: false, goes: true, used: [[tokens(5)], [tokens(5)]] },
  { first: true, second: false, goes: false, used: [[], []] },
  { first: false, second: true, goes: false, used: [['unsent'], []] },
])('both reservations: refused by the first $first, by the second $second', async ({ first, second, goes, used }) => {
  const [one, other] = [watched(first), watched(second)];
  const taken = await bothReservations(one, other)?.take(tokens(9));
  if (typeof taken === 'function') taken(tokens(5));
  expect([typeof taken === 'function', [one.used, other.used]]).toEqual([goes, used]);
});

test('both reservations: a store that fails returns what the first gave, and a single one is itself', async () => {
  const one = watched(false);
  const broken: BudgetReservation = { take: async () => await Promise.reject(new Error('disk full')) };
  await expect(bothReservations(one, broken)?.take(tokens(1))).rejects.toThrow('disk full');
  expect([one.used, bothReservations(one, undefined), bothReservations(undefined, one)]).toEqual([['unsent'], one, one]);
});
