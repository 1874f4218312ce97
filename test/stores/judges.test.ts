/** What judges have cost, in every store. */
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { noSpending, type SpendEntry } from '../../src/model/judge-store.ts';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.ts';
import { closedLater, folder, members, open } from './members.ts';

const day = '2026-01-31';

function entry(given: Partial<SpendEntry> = {}): SpendEntry {
  return { judge: 'main', day, spent: noSpending, releasedNanoUsd: 0, wantedNanoUsd: 0, limitNanoUsd: 100, ...given };
}

const cost = (nanoUsd: number) => ({ nanoUsd, requests: 1, inputTokens: 10, outputTokens: 2 });

describe.each(Object.keys(members) as (keyof typeof members)[])('%s', (member) => {
  test('stores: what is wanted is reserved up to the limit and not beyond it', async () => {
    const { judgeSpend } = await open(member);
    expect(await judgeSpend.enter(entry({ wantedNanoUsd: 60 }))).toEqual({ isGranted: true, spend: { ...noSpending, reservedNanoUsd: 60 } });
    expect((await judgeSpend.enter(entry({ wantedNanoUsd: 41 }))).isGranted).toBe(false);
    expect((await judgeSpend.enter(entry({ wantedNanoUsd: 40 }))).isGranted).toBe(true);
    expect((await judgeSpend.enter(entry({ wantedNanoUsd: 1 }))).isGranted).toBe(false);
    expect(await judgeSpend.of('main', day)).toEqual({ ...noSpending, reservedNanoUsd: 100 });
  });

  test('stores: what was cheaper than it could be leaves room, and is noted where nothing more is granted too', async () => {
    const { judgeSpend } = await open(member);
    await judgeSpend.enter(entry({ wantedNanoUsd: 100 }));
    expect((await judgeSpend.enter(entry({ spent: cost(30), releasedNanoUsd: 100, wantedNanoUsd: 71 }))).isGranted).toBe(false);
    expect(await judgeSpend.of('main', day)).toEqual({ ...cost(30), reservedNanoUsd: 0 });
    expect((await judgeSpend.enter(entry({ wantedNanoUsd: 70 }))).isGranted).toBe(true);
  });

  test('stores: a call that cost more than it could be expected to counts in full, and nothing is granted after it', async () => {
    const { judgeSpend } = await open(member);
    await judgeSpend.enter(entry({ wantedNanoUsd: 100 }));
    await judgeSpend.enter(entry({ spent: cost(120), releasedNanoUsd: 100 }));
    expect(await judgeSpend.of('main', day)).toEqual({ ...cost(120), reservedNanoUsd: 0 });
    expect((await judgeSpend.enter(entry({ wantedNanoUsd: 0 }))).isGranted).toBe(false);
  });

  test('stores: judges and days have budgets of their own', async () => {
    const { judgeSpend } = await open(member);
    for (const other of [{ judge: 'other' }, { day: '2026-02-01' }, {}]) expect((await judgeSpend.enter(entry({ wantedNanoUsd: 100, ...other }))).isGranted).toBe(true);
    expect(await judgeSpend.of('third', day)).toEqual({ ...noSpending, reservedNanoUsd: 0 });
  });

  test('stores: what was reserved by one that is gone counts as spent, and old days are forgotten', async () => {
    const { judgeSpend } = await open(member);
    await judgeSpend.enter(entry({ day: '2025-01-01', spent: cost(5) }));
    await judgeSpend.enter(entry({ wantedNanoUsd: 50 }));
    await judgeSpend.enter(entry({ spent: cost(20), releasedNanoUsd: 20 }));
    await judgeSpend.adopt('2026-01-01');
    expect(await judgeSpend.of('main', day)).toEqual({ ...cost(50), reservedNanoUsd: 0 });
    expect(await judgeSpend.of('main', '2025-01-01')).toEqual({ ...noSpending, reservedNanoUsd: 0 });
  });

  test('stores: however many ask at once, what is granted stays within the limit', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 20 }), async (wanted) => {
        const { judgeSpend } = await open(member);
        const answers = await Promise.all(wanted.map((nano) => judgeSpend.enter(entry({ wantedNanoUsd: nano }))));
        const granted = answers.reduce((sum, { isGranted }, at) => sum + (isGranted ? (wanted[at] ?? 0) : 0), 0);
        expect(granted).toBeLessThanOrEqual(100);
        expect((await judgeSpend.of('main', day)).reservedNanoUsd).toBe(granted);
      }),
      { numRuns: 15 },
    );
  });
});

test('stores: what judges have cost is there when the file is opened again', async () => {
  const file = join(folder(), 'tracejury.db');
  const first = await sqliteStore(file);
  await first.judgeSpend.enter(entry({ wantedNanoUsd: 90 }));
  await first.judgeSpend.enter(entry({ spent: cost(30), releasedNanoUsd: 30 }));
  await first.stop();
  const { judgeSpend } = closedLater(await sqliteStore(file));
  expect(await judgeSpend.of('main', day)).toEqual({ ...cost(30), reservedNanoUsd: 60 });
});
