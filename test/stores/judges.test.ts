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

  test('stores: an answer is found by its key while it is young enough, and the newer one counts', async () => {
    const { judgeAnswers } = await open(member);
    await judgeAnswers.keep([{ key: 'a', value: '{"yes":1}', answeredAt: 10 }, { key: 'b', value: '2', answeredAt: 20 }]);
    await judgeAnswers.keep([{ key: 'a', value: '3', answeredAt: 30 }]);
    await judgeAnswers.keep([{ key: 'b', value: '4', answeredAt: 15 }]);
    await judgeAnswers.keep([]);
    expect(await judgeAnswers.find('a', 30)).toEqual({ key: 'a', value: '3', answeredAt: 30 });
    expect([await judgeAnswers.find('a', 31), await judgeAnswers.find('c', 0), (await judgeAnswers.find('b', 0))?.value]).toEqual([undefined, undefined, '2']);
  });

  const bounds = { before: 0, rows: 100, chars: 1_000 };
  for (const { name, limits, left } of [
    { name: 'too old', limits: { ...bounds, before: 3 }, left: [3, 4] },
    { name: 'too many', limits: { ...bounds, rows: 1 }, left: [4] },
    { name: 'too long together', limits: { ...bounds, chars: 25 }, left: [3, 4] },
    { name: 'within all bounds', limits: bounds, left: [1, 2, 3, 4] },
  ]) {
    test(`stores: answers that are ${name}, and ${left.length} stay`, async () => {
      const { judgeAnswers } = await open(member);
      await judgeAnswers.keep([1, 2, 3, 4].map((at) => ({ key: `${at}`, value: '"12345678"', answeredAt: at })));
      await judgeAnswers.prune(limits);
      const found = await Promise.all([1, 2, 3, 4].map(async (at) => ((await judgeAnswers.find(`${at}`, 0)) === undefined ? [] : [at])));
      expect(found.flat()).toEqual(left);
    });
  }

  test('stores: however many ask at once, what is granted stays within the limit', async () => {
    const { judgeSpend } = await open(member);
    let trial = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 12 }), async (wanted) => {
        const judge = `judge ${++trial}`;
        const answers = await Promise.all(wanted.map((nano) => judgeSpend.enter(entry({ judge, wantedNanoUsd: nano }))));
        const granted = answers.reduce((sum, { isGranted }, at) => sum + (isGranted ? (wanted[at] ?? 0) : 0), 0);
        expect(granted).toBeLessThanOrEqual(100);
        expect((await judgeSpend.of(judge, day)).reservedNanoUsd).toBe(granted);
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
