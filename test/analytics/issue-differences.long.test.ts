/** A failure without a cause shows none, and a planted cause is found. */
import { expect, test } from 'vitest';
import { seeded } from '../builders/seeded.ts';
import { causes, differencesOf } from './issue-worlds.ts';

const worlds = 1_000;

test.each([
  { runs: 200, rate: 0.1 },
  { runs: 1_000, rate: 0.05 },
  { runs: 1_000, rate: 0.5 },
  { runs: 4_000, rate: 0.01 },
])('issues: at most 5 % of the worlds without a cause name one: $runs runs, failures $rate', ({ runs, rate }) => {
  const chance = seeded(runs + rate);
  let named = 0;
  for (let world = 0; world < worlds; world++)
    if (differencesOf(chance, { runs, rate, otherwise: rate }).some(({ differs }) => differs)) named++;
  expect(named / worlds).toBeLessThanOrEqual(0.05);
});

test('issues: every planted cause is found in 95 % of the worlds of 200 runs', () => {
  const chance = seeded(11);
  for (const cause of causes) {
    const found = Array.from({ length: 100 }, () => differencesOf(chance, { runs: 200, cause, rate: 0.5, otherwise: 0.05 })).filter(
      (rows) => rows.some(({ property, value, differs }) => differs && property === cause.property && value === cause.value),
    );
    expect(found.length, `${cause.property} ${cause.value}`).toBeGreaterThanOrEqual(95);
  }
});
