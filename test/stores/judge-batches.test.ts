/** Which questions are in batches, in every store. */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { NewBatch } from '../../src/model/store/judge-store.ts';
import { folder, members, open, openFile } from './members.ts';

const batch = (given: Partial<NewBatch> = {}): NewBatch => ({
  id: 'one',
  judge: 'main',
  endpoint: 'e',
  preparedAt: 1_000,
  questions: ['b', 'a'],
  ...given,
});

describe.each(members)('%s', (member) => {
  test('stores: a batch is there from before it goes until it ends, oldest first, by judge', async () => {
    const { judgeBatches } = await open(member);
    await judgeBatches.prepare(batch({ id: 'two', preparedAt: 2_000, questions: ['c'] }));
    await judgeBatches.prepare(batch());
    await judgeBatches.prepare(batch({ id: 'three', judge: 'other', questions: [] }));
    await judgeBatches.submitted('one', 'remote');
    await judgeBatches.submitted('nobody', 'remote');
    expect(await judgeBatches.unfinished('main')).toEqual([
      { ...batch(), questions: ['a', 'b'], remoteId: 'remote' },
      { ...batch({ id: 'two', preparedAt: 2_000, questions: ['c'] }), remoteId: undefined },
    ]);
    await judgeBatches.end('one', [], 5_000);
    await judgeBatches.end('one', [], 5_000);
    expect((await judgeBatches.unfinished('main')).map(({ id }) => id)).toEqual(['two']);
  });

  test('stores: answers of a batch stay when it has ended, those of others and what nobody asked do not', async () => {
    const { judgeBatches } = await open(member);
    await judgeBatches.prepare(batch());
    await judgeBatches.prepare(batch({ id: 'two', questions: ['c'] }));
    await judgeBatches.end(
      'one',
      [
        { question: 'a', text: 'yes' },
        { question: 'c', text: 'no' },
        { question: 'd', text: 'no' },
      ],
      5_000,
    );
    expect(await Promise.all(['a', 'b', 'c', 'd'].map(async (question) => await judgeBatches.answer(question)))).toEqual([
      'yes',
      undefined,
      undefined,
      undefined,
    ]);
    expect((await judgeBatches.unfinished('main')).map(({ questions }) => questions)).toEqual([['c']]);
  });

  test('stores: a question that goes once more has no answer any more', async () => {
    const { judgeBatches } = await open(member);
    await judgeBatches.prepare(batch());
    await judgeBatches.end('one', [{ question: 'a', text: 'yes' }], 5_000);
    await judgeBatches.prepare(batch({ id: 'two', questions: ['a'] }));
    expect(await judgeBatches.answer('a')).toBeUndefined();
    await judgeBatches.end('two', [{ question: 'a', text: 'no' }], 6_000);
    expect(await judgeBatches.answer('a')).toBe('no');
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
        await judgeBatches.prepare(batch({ id: `${at}`, questions: [`${at}`] }));
        await judgeBatches.end(`${at}`, [{ question: `${at}`, text: 'yes' }], at * 10);
      }
      await judgeBatches.prepare(batch());
      await judgeBatches.forget(limits);
      const found = await Promise.all(
        ['1', '2', '3', '4'].map(async (question) => ((await judgeBatches.answer(question)) === undefined ? [] : [question])),
      );
      expect(found.flat()).toEqual(left);
      expect((await judgeBatches.unfinished('main'))[0]?.questions).toEqual(['a', 'b']);
    });
  }

  test('stores: a batch that nobody looks after is forgotten with its questions', async () => {
    const { judgeBatches } = await open(member);
    await judgeBatches.prepare(batch());
    await judgeBatches.prepare(batch({ id: 'two', preparedAt: 2_000, questions: ['c'] }));
    await judgeBatches.forget({ before: 1_500, rows: 100 });
    expect((await judgeBatches.unfinished('main')).map(({ id }) => id)).toEqual(['two']);
  });

  test('stores: a batch may have thousands of questions', async () => {
    const { judgeBatches } = await open(member);
    const questions = Array.from({ length: 2_000 }, (_, at) => `question ${`${at}`.padStart(4, '0')}`);
    await judgeBatches.prepare(batch({ questions }));
    await judgeBatches.end(
      'one',
      questions.map((question) => ({ question, text: question })),
      5_000,
    );
    expect(await judgeBatches.answer('question 1999')).toBe('question 1999');
  });
});

test('stores: what is in a batch is there for the next one who opens the file', async () => {
  const file = join(folder(), 'tracejury.db');
  const first = await openFile(file);
  await first.judgeBatches.prepare(batch());
  await first.judgeBatches.submitted('one', 'remote');
  await first.stop();
  const second = await openFile(file);
  expect(await second.judgeBatches.unfinished('main')).toEqual([{ ...batch(), questions: ['a', 'b'], remoteId: 'remote' }]);
});
