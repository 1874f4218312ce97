/** Datasets and their versions, in every store. */
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { DatasetExample } from '../../src/model/example.ts';
import { noTenant, tenant } from '../../src/model/ids.ts';
import {
  changedExamplesMax,
  datasetsMax,
  exampleBytesMax,
  isDatasetName,
  type DatasetChange,
  type DatasetKey,
  type DatasetOutcome,
  type DatasetStore,
} from '../../src/model/store/dataset-store.ts';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.ts';
import { propertyRuns } from '../builders/property-runs.ts';
import { closedLater, folder, members, open, opened } from './members.ts';

const key: DatasetKey = { tenant: noTenant, name: 'failures' };
const pageOfAll = { limit: 1_000 };

function example(id: string, given: Partial<DatasetExample> = {}): DatasetExample {
  return { id, input: `question ${id}`, ...given };
}

function change(given: Partial<DatasetChange>): DatasetChange {
  return { by: 'ann', at: 1_000, ...given };
}

const written = (version: number, given: Partial<DatasetOutcome> = {}): DatasetOutcome =>
  ({
    kind: 'written',
    version,
    added: 0,
    changed: 0,
    changedReviewed: 0,
    removed: 0,
    unchanged: 0,
    leftOut: [],
    ...given,
  }) as DatasetOutcome;

async function ids(datasets: DatasetStore, version?: number, of = key): Promise<readonly string[] | undefined> {
  return (await datasets.examples(of, version, pageOfAll))?.examples.map(({ example: { id } }) => id);
}

test.each([
  ['a', true],
  ['refunds-2026.v2_draft', true],
  ['n'.repeat(100), true],
  ['', false],
  ['n'.repeat(101), false],
  ['..', false],
  ['a/b', false],
  ['a@3', false],
])('dataset: %j is a name: %s', (name, want) => {
  expect(isDatasetName(name)).toBe(want);
});

describe.each(members)('%s', (member) => {
  test('dataset: an example is read as written', async () => {
    const { datasets } = await open(member);
    const whole: DatasetExample = {
      id: 'refund-17',
      input: [{ role: 'user', content: 'Refund order 4711' }],
      expect: { tool_calls: [{ name: 'refund_order', arguments: { id: 90071992547409931n } }], output: 'Done.' },
      tasks: ['refund'],
      constraints: 'be polite',
      tools: [{ name: 'refund_order' }],
      tags: ['german', 'x"y'],
      split: 'test',
      evaluators: [{ use: 'output_contains', options: { text: 'OK' } }],
      timeoutSeconds: 30,
      metadata: { ticket: 'T-1', long: 'text '.repeat(500) },
      origin: { by: 'ann', at: 5 },
      review: 'draft',
    };
    await datasets.change(key, change({ put: [whole], note: 'first' }));
    expect(await datasets.examples(key, undefined, pageOfAll)).toEqual({
      version: 1,
      examples: [{ example: whole, since: 1 }],
      next: undefined,
    });
    expect(await datasets.dataset(key)).toEqual({ ...key, version: 1, examples: 1, drafts: 1, createdAt: 1_000, changedAt: 1_000 });
    expect(await datasets.versions(key, { limit: 10 })).toEqual([
      { version: 1, at: 1_000, by: 'ann', note: 'first', added: 1, changed: 0, removed: 0, examples: 1 },
    ]);
  });

  test.each<{ readonly name: string; readonly change: Partial<DatasetChange>; readonly want: DatasetOutcome; readonly left: string }>([
    { name: 'new ones are added', change: { put: [example('c')] }, want: written(2, { added: 1 }), left: 'a b c' },
    {
      name: 'a changed one keeps its place',
      change: { put: [example('a', { input: 'new' })] },
      want: written(2, { changed: 1, changedReviewed: 1 }),
      left: 'a b',
    },
    {
      name: 'a changed draft was not reviewed',
      change: { put: [example('a', { input: 'new' }), example('b', { input: 'other' })] },
      want: written(2, { changed: 2, changedReviewed: 1 }),
      left: 'a b',
    },
    { name: 'a removed one leaves', change: { remove: ['a', 'a'] }, want: written(2, { removed: 1 }), left: 'b' },
    { name: 'what stays the same makes no version', change: { put: [example('a')] }, want: written(1, { unchanged: 1 }), left: 'a b' },
    {
      name: 'another origin makes no difference',
      change: { put: [example('a', { origin: { by: 'bob', at: 9 } })] },
      want: written(1, { unchanged: 1 }),
      left: 'a b',
    },
    {
      name: 'an unknown one cannot be removed',
      change: { remove: ['z'] },
      want: written(1, { leftOut: [{ id: 'z', reason: 'unknown' }] }),
      left: 'a b',
    },
    {
      name: 'put wins over remove',
      change: { put: [example('a', { input: 'new' })], remove: ['a'] },
      want: written(2, { changed: 1, changedReviewed: 1 }),
      left: 'a b',
    },
    { name: 'the expected version', change: { put: [example('c')], expected: 1 }, want: written(2, { added: 1 }), left: 'a b c' },
    {
      name: 'a version that is not the expected one',
      change: { put: [example('c')], expected: 0 },
      want: { kind: 'conflict', version: 1 },
      left: 'a b',
    },
    {
      name: 'a reviewed one is kept when only drafts are replaced',
      change: { put: [example('a', { input: 'x' }), example('b', { input: 'y' })], replaces: 'drafts' },
      want: written(2, { changed: 1, leftOut: [{ id: 'a', reason: 'kept' }] }),
      left: 'a b',
    },
    {
      name: 'none is replaced on demand',
      change: { put: [example('b', { input: 'y' }), example('c')], replaces: 'none' },
      want: written(2, { added: 1, leftOut: [{ id: 'b', reason: 'kept' }] }),
      left: 'a b c',
    },
    {
      name: 'near-duplicates are left out on demand, of the dataset and of the change',
      change: {
        put: [example('c', { input: 'Question, A!' }), example('d', { input: 'new one' }), example('e', { input: 'New one.' })],
        isDistinct: true,
      },
      want: written(2, {
        added: 1,
        leftOut: [
          { id: 'c', reason: 'duplicate' },
          { id: 'e', reason: 'duplicate' },
        ],
      }),
      left: 'a b d',
    },
    {
      name: 'a changed one never duplicates itself',
      change: { put: [example('a', { tags: ['t'] })], isDistinct: true },
      want: written(2, { changed: 1, changedReviewed: 1 }),
      left: 'a b',
    },
    {
      name: 'beyond the limit new ones are left out, and changed ones are not',
      change: { put: [example('c'), example('d'), example('a', { input: 'x' })], examplesMax: 3 },
      want: written(2, { added: 1, changed: 1, changedReviewed: 1, leftOut: [{ id: 'd', reason: 'full' }] }),
      left: 'a b c',
    },
    {
      name: 'a too large one is left out',
      change: { put: [example('c', { input: 'x'.repeat(exampleBytesMax) })] },
      want: written(1, { leftOut: [{ id: 'c', reason: 'too_large' }] }),
      left: 'a b',
    },
  ])('dataset: $name', async ({ change: given, want, left }) => {
    const { datasets } = await open(member);
    await datasets.change(key, change({ put: [example('a'), example('b', { review: 'draft' })] }));
    expect(await datasets.change(key, change({ ...given, at: 2_000 }))).toEqual(want);
    expect((await ids(datasets))?.join(' ')).toBe(left);
    expect(await ids(datasets, 1)).toEqual(['a', 'b']);
  });

  test('dataset: a change without effect makes no dataset', async () => {
    const { datasets } = await open(member);
    expect(await datasets.change(key, change({ remove: ['a'] }))).toEqual(written(0, { leftOut: [{ id: 'a', reason: 'unknown' }] }));
    expect(await datasets.change(key, change({ put: [example('a')], expected: 1 }))).toEqual({ kind: 'conflict', version: 0 });
    expect(await datasets.change(key, change({ put: [example('a')], expected: 0 }))).toEqual(written(1, { added: 1 }));
    expect(await datasets.list()).toHaveLength(1);
  });

  test('dataset: tenants and names do not see each other', async () => {
    const { datasets } = await open(member);
    const other = { ...key, tenant: tenant('other') };
    await datasets.change(key, change({ put: [example('a')] }));
    await datasets.change(other, change({ put: [example('b'), example('c')] }));
    await datasets.change({ ...key, name: 'eggs' }, change({ put: [example('d')] }));
    expect(await ids(datasets)).toEqual(['a']);
    expect((await datasets.list(noTenant)).map(({ name }) => name)).toEqual(['eggs', 'failures']);
    expect((await datasets.list()).map(({ name, tenant: of, examples }) => `${of}/${name} ${examples}`)).toEqual([
      '/eggs 1',
      '/failures 1',
      'other/failures 2',
    ]);
    expect(await datasets.delete(other)).toBe(true);
    expect(await datasets.delete(other)).toBe(false);
    expect(await ids(datasets, undefined, other)).toBeUndefined();
    expect(await ids(datasets)).toEqual(['a']);
  });

  test('dataset: examples are read by pages, splits and tags', async () => {
    const { datasets } = await open(member);
    const put = Array.from({ length: 7 }, (_, at) =>
      example(String(at), { split: at % 2 === 0 ? 'test' : 'train', tags: at < 3 ? ['early', 'x'] : [] }),
    );
    await datasets.change(key, change({ put }));
    const pages: (readonly string[])[] = [];
    let after: number | undefined;
    do {
      const page = await datasets.examples(key, undefined, { limit: 2, split: 'test', ...(after === undefined ? {} : { after }) });
      pages.push(page?.examples.map(({ example: { id } }) => id) ?? []);
      after = page?.next;
    } while (after !== undefined);
    expect(pages).toEqual([
      ['0', '2'],
      ['4', '6'],
    ]);
    const early = await datasets.examples(key, 1, { limit: 10, tag: 'early' });
    expect(early?.examples.map(({ example: { id } }) => id)).toEqual(['0', '1', '2']);
    expect(await datasets.examples(key, 2, pageOfAll)).toBeUndefined();
    expect(await datasets.examples({ ...key, name: 'none' }, undefined, pageOfAll)).toBeUndefined();
  });

  test('dataset: an example has a history, and versions a difference', async () => {
    const { datasets } = await open(member);
    await datasets.change(key, change({ put: [example('a'), example('b'), example('c')] }));
    await datasets.change(key, change({ put: [example('a', { input: 'two' })], by: 'bob', at: 2_000, note: 'mended' }));
    await datasets.change(key, change({ put: [example('a'), example('d')], remove: ['b'], at: 3_000 }));
    const history = await datasets.history(key, 'a', 10);
    expect(history.map(({ from, until, example: { input } }) => [from.version, from.by, from.note, until, input])).toEqual([
      [3, 'ann', undefined, undefined, 'question a'],
      [2, 'bob', 'mended', 3, 'two'],
      [1, 'ann', undefined, 2, 'question a'],
    ]);
    expect(await datasets.example(key, 2, 'a')).toEqual({ example: example('a', { input: 'two' }), since: 2 });
    expect(await datasets.example(key, undefined, 'b')).toBeUndefined();
    expect(await datasets.diff(key, { from: 1, to: 3 }, pageOfAll)).toEqual({
      added: 1,
      changed: 0,
      removed: 1,
      examples: [
        { id: 'b', before: example('b'), after: undefined },
        { id: 'd', before: undefined, after: example('d') },
      ],
      next: undefined,
    });
    const first = await datasets.diff(key, { from: 3, to: 2 }, { limit: 2 });
    expect([first?.added, first?.changed, first?.removed, first?.examples.map(({ id }) => id)]).toEqual([1, 1, 1, ['a', 'b']]);
    const second = await datasets.diff(key, { from: 3, to: 2 }, { limit: 2, after: first?.next ?? 0 });
    expect([second?.examples, second?.next]).toEqual([[{ id: 'd', before: example('d'), after: undefined }], undefined]);
    expect(await datasets.diff(key, { from: 1, to: 4 }, pageOfAll)).toBeUndefined();
  });

  test('dataset: of many changes on one version, one is written', async () => {
    const { datasets } = await open(member);
    await datasets.change(key, change({ put: [example('a')] }));
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, (_, at) => datasets.change(key, change({ put: [example(`n${at}`)], expected: 1 }))),
    );
    expect(outcomes.filter(({ kind }) => kind === 'written')).toHaveLength(1);
    expect(await ids(datasets)).toHaveLength(2);
  });

  test('dataset: no version changes once it is made, after any later change', async () => {
    const id = fc.constantFrom('a', 'b', 'c', 'd');
    const text = fc.constantFrom('one', 'two', 'ONE!', 'three');
    const step = fc.record({
      put: fc.array(fc.record({ id, input: text, review: fc.constantFrom('draft' as const, 'reviewed' as const) }), { maxLength: 4 }),
      remove: fc.array(id, { maxLength: 2 }),
      expectedOffset: fc.constantFrom(undefined, 0, 0, -1),
      replaces: fc.constantFrom('all' as const, 'drafts' as const, 'none' as const),
      examplesMax: fc.constantFrom(2, 4),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
        const store = await opened[member]();
        const { datasets } = store;
        const versions: (readonly DatasetExample[])[] = [[]];
        for (const { expectedOffset, ...given } of steps) {
          const newest = versions.length - 1;
          const expected = expectedOffset === undefined ? {} : { expected: newest + expectedOffset };
          const outcome = await datasets.change(key, change({ ...given, ...expected }));
          const want = expectedOffset === -1 ? undefined : afterChange(versions.at(-1) ?? [], given);
          if (outcome.kind !== 'written') expect(want).toBeUndefined();
          else if (outcome.version > newest) versions.push(want ?? []);
          else expect(JSON.stringify(want)).toBe(JSON.stringify(versions.at(-1)));
        }
        for (const [version, want] of versions.entries())
          if (version > 0)
            expect((await datasets.examples(key, version, pageOfAll))?.examples.map(({ example: one }) => one)).toEqual(want);
        await store.stop();
      }),
      { numRuns: propertyRuns({ short: 10, long: 40 }) },
    );
  });
});

/** The effect of a change on a version, in a few words. */
function afterChange(
  before: readonly DatasetExample[],
  { put, remove, replaces, examplesMax }: Required<Pick<DatasetChange, 'put' | 'remove' | 'replaces' | 'examplesMax'>>,
): readonly DatasetExample[] {
  const last = new Map(put.map((one) => [one.id, one]));
  const after = new Map(before.filter(({ id }) => last.has(id) || !remove.includes(id)).map((one) => [one.id, one]));
  for (const [id, one] of last) {
    const present = after.get(id);
    const mayReplace = replaces === 'all' || (replaces === 'drafts' && present?.review === 'draft');
    if (present === undefined ? after.size < examplesMax : mayReplace) after.set(id, one);
  }
  return [...after.values()];
}

test('dataset: a change has a limit of examples, and a store of datasets', async () => {
  const store = await open('sqlite in memory');
  const { datasets } = store;
  const put = Array.from({ length: changedExamplesMax + 2 }, (_, at) => example(String(at)));
  const outcome = await datasets.change(key, change({ put }));
  expect(outcome).toMatchObject({ added: changedExamplesMax, leftOut: [{ reason: 'surplus' }, { reason: 'surplus' }] });
  for (let at = 1; at < datasetsMax; at++) await datasets.change({ ...key, name: `n${at}` }, change({ put: [example('a')] }));
  expect(await datasets.change({ ...key, name: 'one-more' }, change({ put: [example('a')] }))).toEqual({ kind: 'full', of: 'datasets' });
  expect(await datasets.change({ ...key, name: 'n1' }, change({ put: [example('b')] }))).toMatchObject({ kind: 'written', version: 2 });
});

test('dataset: versions are there after a restart', async () => {
  const file = join(folder(), 'tracejury.db');
  const first = await sqliteStore(file);
  await first.datasets.change(key, change({ put: [example('a')] }));
  await first.datasets.change(key, change({ put: [example('a', { input: 'two' })] }));
  await first.stop();
  const again = closedLater(await sqliteStore(file)).datasets;
  expect((await again.examples(key, 1, pageOfAll))?.examples).toEqual([{ example: example('a'), since: 1 }]);
  expect((await again.examples(key, undefined, pageOfAll))?.examples).toEqual([{ example: example('a', { input: 'two' }), since: 2 }]);
});
