import { expect, test } from 'vitest';
import { sharedLru, trimOldest, weightedLru } from '../../src/runtime/lru.ts';

const keys = ['a', 'b', 'c', 'd'];

function held(bounds: { readonly weightMax: number; readonly entriesMax?: number }, ...values: readonly (readonly [string, string])[]) {
  const lru = weightedLru<string>({ weightOf: ({ length }) => length, ...bounds });
  for (const [key, value] of values) lru.put(key, value);
  return lru;
}

test('lru: the weight bound drops what was used least recently', () => {
  const lru = held({ weightMax: 5 }, ['a', '11'], ['b', '11']);
  lru.put('a', lru.take('a') ?? '');
  lru.put('c', '11');
  expect(keys.map(lru.take)).toEqual(['11', undefined, '11', undefined]);
});

test('lru: the entry bound holds beside the weight bound', () => {
  const lru = held({ weightMax: 100, entriesMax: 2 }, ['a', '1'], ['b', '1'], ['c', '1']);
  expect(keys.map(lru.take)).toEqual([undefined, '1', '1', undefined]);
});

test('lru: a value that replaces another frees the weight of that, and one that is too heavy is not kept', () => {
  const lru = held({ weightMax: 4 }, ['a', '111'], ['a', '11'], ['b', '11'], ['c', '11111']);
  expect(keys.map(lru.take)).toEqual([undefined, undefined, undefined, undefined]);
  const other = held({ weightMax: 4 }, ['a', '111'], ['a', '11'], ['b', '11']);
  expect(keys.map(other.take)).toEqual(['11', '11', undefined, undefined]);
});

test('trimOldest: deletes what was inserted first, down to the bound', () => {
  const map = new Map(keys.map((key) => [key, key]));
  trimOldest(map, 4);
  expect(map.size).toBe(4);
  trimOldest(map, 2);
  expect([...map.keys()]).toEqual(['c', 'd']);
});

test('lru: beyond a shared bound the holder with the most entries loses its oldest', () => {
  const lru = sharedLru<number>(4);
  lru.set('victim', 'one', 1);
  for (let at = 0; at < 100; at++) lru.set('flood', `key ${at}`, at);
  lru.set('flood', 'key 97', 0);
  lru.set('victim', 'two', 2);
  expect([lru.get('victim', 'one'), lru.get('victim', 'two')]).toEqual([1, 2]);
  expect([97, 98, 99].map((at) => lru.get('flood', `key ${at}`))).toEqual([0, undefined, 99]);
});

test('lru: a deleted entry of a shared map leaves its place', () => {
  const lru = sharedLru<number>(2);
  for (const key of ['one', 'two']) lru.set('a', key, 1);
  lru.delete('a', 'one');
  lru.delete('b', 'two');
  lru.set('b', 'one', 2);
  expect([lru.get('a', 'one'), lru.get('a', 'two'), lru.get('b', 'one')]).toEqual([undefined, 1, 2]);
});
