/** Questions in batches, in every store. */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { JudgeBatchStore, NewBatch } from '../../src/model/store/judge-store.ts';
import { folder, members, open, openFile } from './members.ts';

const batch = (given: Partial<NewBatch> = {}): NewBatch => ({
  id: 'one',
  judge: 'main',
  endpoint: 'e',
  preparedAt: 1_000,
  questions: ['b', 'a'],
  ...given,
});

const lease = (owner: string, now = 0) => ({ owner, now, until: now + 30 });
const prepare = (store: JudgeBatchStore, given: Partial<NewBatch> = {}, owner = 'one') => store.prepare(batch(given), lease(owner));
const unfinished = async (store: JudgeBatchStore, judge = 'main', owner = 'one') =>
  (await store.take({ judge, endpoint: 'e', known: [] }, lease(owner))).taken;

async function answer(store: JudgeBatchStore, question: string): Promise<string | undefined> {
  const state = (await store.find([question])).get(question);
  return state?.kind === 'answered' ? state.text : undefined;
}

describe.each(members)('%s', (member) => {
  test('stores: a batch is there from before it goes until it ends, oldest first, by judge', async () => {
    const { judgeBatches } = await open(member);
    await prepare(judgeBatches, { id: 'two', preparedAt: 2_000, questions: ['c'] });
    await prepare(judgeBatches);
    await prepare(judgeBatches, { id: 'three', judge: 'other', questions: [] });
    await judgeBatches.submitted('one', 'remote');
    await judgeBatches.submitted('nobody', 'remote');
    expect(await unfinished(judgeBatches)).toEqual([
      { ...batch(), questions: ['a', 'b'], remoteId: 'remote' },
      { ...batch({ id: 'two', preparedAt: 2_000, questions: ['c'] }), remoteId: undefined },
    ]);
    await judgeBatches.end('one', [], 5_000);
    await judgeBatches.end('one', [], 5_000);
    expect((await unfinished(judgeBatches)).map(({ id }) => id)).toEqual(['two']);
  });

  test('stores: answers of a batch stay when it has ended, those of others and unrequested ones do not', async () => {
    const { judgeBatches } = await open(member);
    await prepare(judgeBatches);
    await prepare(judgeBatches, { id: 'two', questions: ['c'] });
    await judgeBatches.end(
      'one',
      [
        { question: 'a', text: 'yes' },
        { question: 'c', text: 'no' },
        { question: 'd', text: 'no' },
      ],
      5_000,
    );
    expect(await Promise.all(['a', 'b', 'c', 'd'].map(async (question) => await answer(judgeBatches, question)))).toEqual([
      'yes',
      undefined,
      undefined,
      undefined,
    ]);
    expect((await unfinished(judgeBatches)).map(({ questions }) => questions)).toEqual([['c']]);
  });

  test('stores: a batch has one owner, until its lease is over or it ends', async () => {
    const { judgeBatches } = await open(member);
    await prepare(judgeBatches, { questions: ['a'] }, 'one');
    await prepare(judgeBatches, { id: 'two', questions: ['b'] }, 'other');
    const take = async (owner: string, now: number, known: readonly string[] = []) => {
      const { held, taken } = await judgeBatches.take({ judge: 'main', endpoint: 'e', known }, lease(owner, now));
      return { held, taken: taken.map(({ id }) => id) };
    };
    expect(await take('one', 10, ['one'])).toEqual({ held: ['one'], taken: [] });
    expect(await take('other', 29, ['two', 'gone'])).toEqual({ held: ['two'], taken: [] });
    expect(await take('third', 39)).toEqual({ held: [], taken: [] });
    expect(await take('third', 40)).toEqual({ held: [], taken: ['one'] });
    expect(await take('one', 41, ['one'])).toEqual({ held: [], taken: [] });
    expect(await judgeBatches.find(['a', 'b', 'c'])).toEqual(
      new Map([
        ['a', { kind: 'in_batch', batch: 'one' }],
        ['b', { kind: 'in_batch', batch: 'two' }],
      ]),
    );
    await judgeBatches.endOthers({ judge: 'main', endpoint: 'new' }, lease('third', 50));
    expect([...(await judgeBatches.find(['a', 'b'])).keys()]).toEqual(['b']);
    await judgeBatches.endOthers({ judge: 'main', endpoint: 'e' }, lease('other', 50));
    expect([...(await judgeBatches.find(['b'])).keys()]).toEqual(['b']);
  });

  test('stores: only its owner renews the lease on a batch', async () => {
    const { judgeBatches } = await open(member);
    await prepare(judgeBatches, { questions: ['a'] }, 'one');
    const of = { judge: 'main', endpoint: 'e' };
    const taken = async (now: number) => (await judgeBatches.take({ ...of, known: [] }, lease('other', now))).taken.map(({ id }) => id);
    await judgeBatches.renew(of, lease('one', 25));
    await judgeBatches.renew({ ...of, endpoint: 'new' }, lease('one', 50));
    await judgeBatches.renew(of, lease('other', 50));
    expect([await taken(54), await taken(55)]).toEqual([[], ['one']]);
  });

  test('stores: a question that goes once more has no answer any more', async () => {
    const { judgeBatches } = await open(member);
    await prepare(judgeBatches);
    await judgeBatches.end('one', [{ question: 'a', text: 'yes' }], 5_000);
    await prepare(judgeBatches, { id: 'two', questions: ['a'] });
    expect(await answer(judgeBatches, 'a')).toBeUndefined();
    await judgeBatches.end('two', [{ question: 'a', text: 'no' }], 6_000);
    expect(await answer(judgeBatches, 'a')).toBe('no');
  });

  const bounds = [
    { name: 'those from before a time', limits: { before: 30, rows: 100 }, left: ['3', '4'] },
    { name: 'the oldest beyond a number', limits: { before: 0, rows: 1 }, left: ['4'] },
    { name: 'none that are under way', limits: { before: 1_000, rows: 0 }, left: [] },
  ];
  for (const { name, limits, left } of bounds) {
    test(`stores: of answers in batches are forgotten ${name}`, async () => {
      const { judgeBatches } = await open(member);
      for (const at of [1, 2, 3, 4]) {
        await prepare(judgeBatches, { id: `${at}`, questions: [`${at}`] });
        await judgeBatches.end(`${at}`, [{ question: `${at}`, text: 'yes' }], at * 10);
      }
      await prepare(judgeBatches);
      await judgeBatches.forget(limits);
      const found = await Promise.all(
        ['1', '2', '3', '4'].map(async (question) => ((await answer(judgeBatches, question)) === undefined ? [] : [question])),
      );
      expect(found.flat()).toEqual(left);
      expect((await unfinished(judgeBatches))[0]?.questions).toEqual(['a', 'b']);
    });
  }

  test('stores: a batch without an owner is forgotten with its questions', async () => {
    const { judgeBatches } = await open(member);
    await prepare(judgeBatches);
    await prepare(judgeBatches, { id: 'two', preparedAt: 2_000, questions: ['c'] });
    await judgeBatches.forget({ before: 1_500, rows: 100 });
    expect((await unfinished(judgeBatches)).map(({ id }) => id)).toEqual(['two']);
  });

  test('stores: a batch may have thousands of questions', async () => {
    const { judgeBatches } = await open(member);
    const questions = Array.from({ length: 2_000 }, (_, at) => `question ${`${at}`.padStart(4, '0')}`);
    await prepare(judgeBatches, { questions });
    await judgeBatches.end(
      'one',
      questions.map((question) => ({ question, text: question })),
      5_000,
    );
    expect(await answer(judgeBatches, 'question 1999')).toBe('question 1999');
  });
});

test('stores: what is in a batch is there for the next one who opens the file', async () => {
  const file = join(folder(), 'tracejury.db');
  const first = await openFile(file);
  await prepare(first.judgeBatches);
  await first.judgeBatches.submitted('one', 'remote');
  await first.stop();
  const second = await openFile(file);
  expect(await unfinished(second.judgeBatches)).toEqual([{ ...batch(), questions: ['a', 'b'], remoteId: 'remote' }]);
});
