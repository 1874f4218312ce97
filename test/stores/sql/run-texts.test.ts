/** The search for words in stored texts, in every store. */
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { RunQuery, Store, StoreItem } from '../../../src/model/store/store.ts';
import { sqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts';
import { textQuery } from '../../../src/stores/sql/run-texts.ts';
import type { JsonValue } from '../../../src/model/json.ts';
import { agentTrace } from '../../builders/agent-trace.ts';
import { retention } from '../../builders/retention.ts';
import { scored, scoredRun } from '../../builders/scored-run.ts';
import { folder, members, open } from '../members.ts';
import { base, nth, numbers, secondMicros } from '../numbered.ts';

function item(number: number, input: string, answer: JsonValue = '', revision = 1): StoreItem {
  const trace = agentTrace({ agent: 'a', input, finalResponse: answer });
  return scoredRun({ a: scored(number % 2) }, nth(number, { trace, revision }));
}

/** Steps until nothing is left; resolves with the number of steps. */
async function indexAll(store: Store, runsMax = 100, charsMax = 1_000): Promise<number> {
  for (let steps = 1; ; steps++) if (!(await store.indexTexts({ runsMax, charsMax })).more) return steps;
}

async function found(store: Store, text: string, more: Partial<RunQuery> = {}): Promise<readonly number[]> {
  return numbers(await store.runs({ limit: 10, text, ...more }));
}

describe.each(members)('%s', (member) => {
  test('texts: words are found in input and answer, with other conditions, newest first', async () => {
    const store = await open(member);
    await store.write([
      item(0, 'Where is order A-17?', 'It is late.'),
      item(1, 'Cancel my order', { text: 'Cancelled: order A-18', refund: 12 }),
      { ...item(2, 'order nothing'), withoutContent: 'switched_off' },
    ]);
    expect((await store.runs({ limit: 10, text: 'order' })).unindexed).toBe(3);
    expect(await found(store, 'order')).toEqual([]);
    await indexAll(store);
    expect((await store.runs({ limit: 10, text: 'order' })).unindexed).toBe(0);
    expect((await store.runs({ limit: 10 })).unindexed).toBeUndefined();
    expect(await found(store, 'order')).toEqual([1, 0]);
    expect(await found(store, 'ORDER late')).toEqual([0]);
    expect(await found(store, 'refund canc')).toEqual([1]);
    expect(await found(store, 'late refund')).toEqual([]);
    expect(await found(store, 'order', { verdict: 'fail' })).toEqual([0]);
    expect(await found(store, 'order', { to: base + secondMicros })).toEqual([0]);
    expect(await found(store, 'order', { agent: 'b' })).toEqual([]);
    expect(await found(store, 'order', { traceId: nth(1).traceId })).toEqual([1]);
  });

  test('texts: a run with more words than the index takes has the first of them, and stops no other run', async () => {
    const store = await open(member);
    const words = Array.from({ length: 200_000 }, (_, at) => `w${at.toString().padStart(6, '0')}`).join(' ');
    await store.write([item(0, `first ${words} last`), item(1, 'first last')]);
    expect(await store.indexTexts({ runsMax: 100, charsMax: 10_000_000 })).toMatchObject({ runs: 2, cut: 1 });
    expect([await found(store, 'first'), await found(store, 'last')]).toEqual([[1, 0], [1]]);
  });

  test('texts: runs that were written last are found by their words before these are indexed', async () => {
    const store = await open(member);
    const { position } = await store.recent({ limit: 1 });
    await store.write([item(0, 'late order'), item(1, 'an order'), { ...item(2, 'late order'), withoutContent: 'switched_off' }]);
    const late = await store.recent({ limit: 10, after: position, text: 'order late' });
    expect([numbers(late), late.leftOut]).toEqual([[0], 0]);
    await store.write(Array.from({ length: 60 }, (_, at) => item(at + 3, 'late')));
    const many = await store.recent({ limit: 20, after: late.position, text: 'late' });
    expect([many.runs.length, many.leftOut]).toEqual([20, 40]);
  });

  test.each(['"', '*', 'a"b', 'NEAR(a b)', 'words:a', '-a', '^a', "' or 1=1 --", '(', 'AND', 'a AND', '\\', '\u0000', '💥'])(
    'texts: a search for %j is a search for its words',
    async (text) => {
      const store = await open(member);
      await store.write([item(0, `x ${text} y`), item(1, 'z')]);
      await indexAll(store);
      expect(await found(store, text)).toEqual(textQuery(text) === undefined ? [] : [0]);
    },
  );

  test('texts: words go with their content, with their run, and with the revision that they were of', async () => {
    const store = await open(member);
    await store.write([item(0, 'alpha'), item(1, 'alpha'), item(2, 'alpha'), item(3, 'alpha')]);
    await indexAll(store);
    await store.write([item(3, 'beta', '', 2)]);
    expect(await found(store, 'alpha')).toEqual([2, 1, 0]);
    await indexAll(store);
    expect(await found(store, 'beta')).toEqual([3]);
    await store.write([scoredRun({}, nth(2, { revision: 2, partOf: nth(3), trace: agentTrace({ input: 'alpha' }) }))]);
    await indexAll(store);
    expect(await found(store, 'alpha')).toEqual([1, 0]);
    await store.prune(retention({ contentBefore: base + secondMicros }));
    expect(await found(store, 'alpha')).toEqual([1]);
    await store.prune(retention({ runsBefore: base + 10 * secondMicros }));
    expect(await found(store, 'alpha')).toEqual([]);
    await store.write([item(4, 'alpha')]);
    await indexAll(store);
    expect(await found(store, 'alpha')).toEqual([4]);
  });

  test('texts: a step is bounded, and only the beginning of a text is indexed', async () => {
    const store = await open(member);
    await store.write(Array.from({ length: 7 }, (_, at) => item(at, `head ${'x '.repeat(20)} tail`)));
    expect(await indexAll(store, 3, 10)).toBe(3);
    expect(await found(store, 'head')).toEqual([6, 5, 4, 3, 2, 1, 0]);
    expect(await found(store, 'tail')).toEqual([]);
  });

  test('texts: a search whose words many runs have examines a bounded number of runs', async () => {
    const store = await open(member);
    const many = 2_100;
    for (let at = 0; at < many; at += 300)
      await store.write(Array.from({ length: 300 }, (_, next) => item(at + next, at + next === 5 ? 'common rare' : 'common')));
    await indexAll(store, 1_000);
    const page = await store.runs({ limit: 3, text: 'common', examine: 50 });
    expect([numbers(page), page.searchedTo]).toEqual([[2_099, 2_098, 2_097], undefined]);
    const failed = await store.runs({ limit: 60, text: 'common', verdict: 'fail', examine: 50 });
    expect([failed.runs.length, failed.searchedTo]).toEqual([25, base + 2_050 * secondMicros]);
    expect(await found(store, 'rare common', { examine: 50 })).toEqual([5]);
  });
});

test('texts: a file of an earlier release is indexed from its newest run on, in steps, and its rows get excerpts', async () => {
  const at = join(folder(), 'old.db');
  const first = await sqliteStore(at, { inThread: false });
  await first.write(Array.from({ length: 5 }, (_, number) => item(number, `word${number} shared`)));
  await first.stop();
  const old = new DatabaseSync(at);
  old.exec(`delete from kysely_migration where name in ('023_run_texts', '023_run_lists');
    drop trigger run_texts_of_gone_run; drop trigger run_texts_state_of_gone_run; drop trigger run_texts_of_content; drop table run_texts; drop table run_texts_state; drop table run_texts_waiting;
    drop index annotations_by_label; alter table runs drop column excerpt`);
  old.close();
  const store = await sqliteStore(at, { inThread: false });
  await store.write([item(5, 'word5 shared')]);
  expect((await store.runs({ limit: 10, text: 'shared' })).unindexed).toBe(6);
  await store.indexTexts({ runsMax: 3, charsMax: 100 });
  expect(await found(store, 'shared')).toEqual([5, 4, 3]);
  await indexAll(store, 3);
  expect(await found(store, 'shared')).toEqual([5, 4, 3, 2, 1, 0]);
  expect((await store.runs({ limit: 10 })).runs.map(({ excerpt }) => excerpt)).toEqual(
    [5, 4, 3, 2, 1, 0].map((number) => `word${number} shared`),
  );
  await store.stop();
});
