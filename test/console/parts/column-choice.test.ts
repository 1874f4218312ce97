import { expect, test } from 'vitest';
import { chosenColumns, storeColumns, storedColumns } from '../../../src/console/parts/column-choice.ts';

const columns = [{ key: 'time' }, { key: 'agent' }, { key: 'cost', from: 'wide' }] as const;

test('columns: without a choice the table has all, and its width decides', () => {
  expect(chosenColumns(columns, undefined)).toBe(columns);
});

test('columns: a choice shows its columns at any width, in the order of the table, beside the first', () => {
  expect(chosenColumns<{ readonly key: string; readonly from?: string | undefined }>(columns, ['cost', 'gone'])).toEqual([
    { key: 'time' },
    { key: 'cost' },
  ]);
});

test('columns: the choice of one table is kept, and none leaves nothing behind', () => {
  const values = new Map<string, string>();
  const storage = () => ({
    getItem: (key: string) => values.get(key) ?? null,
    setItem: (key: string, value: string) => void values.set(key, value),
    removeItem: (key: string) => void values.delete(key),
  });
  storeColumns(storage, 'runs', ['agent', 'cost']);
  expect([storedColumns(storage, 'runs'), storedColumns(storage, 'tools')]).toEqual([['agent', 'cost'], undefined]);
  storeColumns(storage, 'runs', undefined);
  expect(values.size).toBe(0);
});

test('columns: a storage that refuses gives no choice', () => {
  const refused = () => {
    throw new Error('denied');
  };
  expect(storedColumns(refused, 'runs')).toBeUndefined();
  expect(() => storeColumns(refused, 'runs', ['agent'])).not.toThrow();
});
