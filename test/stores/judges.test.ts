/** Costs of judges, in every store. */
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { noAmount, type Amount } from '../../src/model/budget.ts';
import { noSpending, type JudgeSpendStore, type MinuteEntry, type SpendEntry } from '../../src/model/store/judge-store.ts';
import { folder, members, open, openFile } from './members.ts';

const day = '2026-01-31';

interface Given extends Partial<SpendEntry> {
  readonly releasedNanoUsd?: number;
  readonly wantedNanoUsd?: number;
}

const money = (nanoUsd: number): Amount => ({ ...noAmount, nanoUsd });

function entry({ releasedNanoUsd = 0, wantedNanoUsd = 0, ...given }: Given = {}): SpendEntry {
  return {
    account: 'main',
    day,
    owner: 'this',
    at: 1_000_000,
    spent: noSpending,
    released: money(releasedNanoUsd),
    wanted: money(wantedNanoUsd),
    limits: { nanoUsd: 100 },
    ...given,
  };
}

const standing = async (store: JudgeSpendStore, account: string, of: string) =>
  (await store.on(of)).get(account) ?? { ...noSpending, reserved: noAmount };

const cost = (nanoUsd: number) => ({ nanoUsd, requests: 1, inputTokens: 10, outputTokens: 2 });

describe.each(members)('%s', (member) => {
  test('stores: what is wanted is reserved up to the limit and not beyond it', async () => {
    const { judgeSpend } = await open(member);
    expect(await judgeSpend.enter(entry({ wantedNanoUsd: 60 }))).toEqual({
      over: undefined,
      spend: { ...noSpending, reserved: money(60) },
    });
    expect((await judgeSpend.enter(entry({ wantedNanoUsd: 41 }))).over).toBe('nanoUsd');
    expect((await judgeSpend.enter(entry({ wantedNanoUsd: 40 }))).over).toBeUndefined();
    expect((await judgeSpend.enter(entry({ wantedNanoUsd: 1 }))).over).toBe('nanoUsd');
    expect(await standing(judgeSpend, 'main', day)).toEqual({ ...noSpending, reserved: money(100) });
  });

  for (const { name, limits, wanted, over } of [
    { name: 'requests', limits: { requests: 3 }, wanted: { ...noAmount, requests: 2 }, over: 'requests' },
    { name: 'tokens', limits: { tokens: 30, nanoUsd: 1 }, wanted: { ...noAmount, tokens: 20 }, over: 'tokens' },
  ]) {
    test(`stores: ${name} are reserved up to their limit, what two processes want together`, async () => {
      const { judgeSpend } = await open(member);
      expect((await judgeSpend.enter(entry({ limits, wanted }))).over).toBeUndefined();
      expect((await judgeSpend.enter(entry({ owner: 'that', limits, wanted }))).over).toBe(over);
      expect((await judgeSpend.enter(entry({ released: wanted, limits }))).over).toBeUndefined();
      expect((await judgeSpend.enter(entry({ owner: 'that', limits, wanted }))).over).toBeUndefined();
      expect((await standing(judgeSpend, 'main', day)).reserved).toEqual(wanted);
    });
  }

  test('stores: no sixty seconds hold more than a minute may, over all processes, and returned amounts make room', async () => {
    const { judgeSpend } = await open(member);
    const at = async (second: number, given: Partial<MinuteEntry> = {}): Promise<boolean> => {
      const noted = await judgeSpend.pass({
        account: 'main',
        at: second * 1_000_000 + 123_456,
        wanted: { nanoUsd: 0, requests: 1, tokens: 40 },
        limits: { requests: 3, tokens: 100 },
        back: [],
        ...given,
      });
      expect([second, undefined]).toContain(noted);
      return noted !== undefined;
    };
    expect([await at(100), await at(130), await at(131)]).toEqual([true, true, false]);
    expect([await at(131, { account: 'other' }), await at(159), await at(160)]).toEqual([true, false, true]);
    expect(await at(161, { back: [{ second: 130, amount: { nanoUsd: 0, requests: 0, tokens: 30 } }] })).toBe(true);
    expect([
      await at(162, { wanted: { nanoUsd: 0, requests: 1, tokens: 1 } }),
      await at(189, { back: [{ second: 100, amount: { ...noAmount, requests: 1 } }] }),
      await at(221, { wanted: { nanoUsd: 0, requests: 1, tokens: 1_000 } }),
    ]).toEqual([false, false, true]);
  });

  test('stores: what was cheaper than it could be leaves room, and is noted where nothing more is granted too', async () => {
    const { judgeSpend } = await open(member);
    await judgeSpend.enter(entry({ wantedNanoUsd: 100 }));
    expect((await judgeSpend.enter(entry({ spent: cost(30), releasedNanoUsd: 100, wantedNanoUsd: 71 }))).over).toBe('nanoUsd');
    expect(await standing(judgeSpend, 'main', day)).toEqual({ ...cost(30), reserved: money(0) });
    expect((await judgeSpend.enter(entry({ wantedNanoUsd: 70 }))).over).toBeUndefined();
  });

  test('stores: a call that cost more than it could be expected to counts in full, and nothing is granted after it', async () => {
    const { judgeSpend } = await open(member);
    await judgeSpend.enter(entry({ wantedNanoUsd: 100 }));
    await judgeSpend.enter(entry({ spent: cost(120), releasedNanoUsd: 100 }));
    expect(await standing(judgeSpend, 'main', day)).toEqual({ ...cost(120), reserved: money(0) });
    expect((await judgeSpend.enter(entry({ wantedNanoUsd: 0 }))).over).toBe('nanoUsd');
  });

  test('stores: judges and days have separate budgets', async () => {
    const { judgeSpend } = await open(member);
    for (const other of [{ account: 'other' }, { day: '2026-02-01' }, {}])
      expect((await judgeSpend.enter(entry({ wantedNanoUsd: 100, ...other }))).over).toBeUndefined();
    expect(await standing(judgeSpend, 'third', day)).toEqual({ ...noSpending, reserved: money(0) });
  });

  test('stores: what was reserved by one that is gone counts as spent, and old days are forgotten', async () => {
    const { judgeSpend } = await open(member);
    await judgeSpend.enter(entry({ day: '2025-01-01', spent: cost(5) }));
    await judgeSpend.enter(entry({ wantedNanoUsd: 50 }));
    await judgeSpend.enter(entry({ spent: cost(20), releasedNanoUsd: 20 }));
    await judgeSpend.enter(entry({ owner: 'that', wantedNanoUsd: 7 }));
    await judgeSpend.renew('that', 2_000_000);
    await judgeSpend.adopt({ now: 3_000_000, before: 2_000_000, forget: '2026-01-01' });
    expect(await standing(judgeSpend, 'main', day)).toEqual({ ...cost(50), reserved: money(7) });
    expect(await standing(judgeSpend, 'main', '2025-01-01')).toEqual({ ...noSpending, reserved: money(0) });
  });

  test('stores: an answer is found by its key while it is young enough, and the newer one counts', async () => {
    const { judgeAnswers } = await open(member);
    await judgeAnswers.keep([
      { key: 'a', value: '{"yes":1}', answeredAt: 10 },
      { key: 'b', value: '2', answeredAt: 20 },
    ]);
    await judgeAnswers.keep([{ key: 'a', value: '3', answeredAt: 30 }]);
    await judgeAnswers.keep([{ key: 'b', value: '4', answeredAt: 15 }]);
    await judgeAnswers.keep([]);
    expect(await judgeAnswers.find('a', 30)).toEqual({ key: 'a', value: '3', answeredAt: 30 });
    expect([await judgeAnswers.find('a', 31), await judgeAnswers.find('c', 0), (await judgeAnswers.find('b', 0))?.value]).toEqual([
      undefined,
      undefined,
      '2',
    ]);
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
        const account = `judge ${++trial}`;
        const answers = await Promise.all(
          wanted.map((nano) => judgeSpend.enter(entry({ account, owner: `process ${nano % 3}`, wantedNanoUsd: nano }))),
        );
        const granted = answers.reduce((sum, { over }, at) => sum + (over === undefined ? (wanted[at] ?? 0) : 0), 0);
        expect(granted).toBeLessThanOrEqual(100);
        expect((await standing(judgeSpend, account, day)).reserved.nanoUsd).toBe(granted);
      }),
      { numRuns: 15 },
    );
  });
});

test('stores: what judges have cost is there when the file is opened again', async () => {
  const file = join(folder(), 'tracejury.db');
  const first = await openFile(file);
  await first.judgeSpend.enter(entry({ wantedNanoUsd: 90 }));
  await first.judgeSpend.enter(entry({ spent: cost(30), releasedNanoUsd: 30 }));
  await first.stop();
  const { judgeSpend } = await openFile(file);
  expect(await standing(judgeSpend, 'main', day)).toEqual({ ...cost(30), reserved: money(60) });
});
