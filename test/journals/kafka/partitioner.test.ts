import { expect, test } from 'vitest';
import { fnv1a, partitionOf } from '../../../src/journals/kafka/partitioner.ts';

test.each([
  // The vectors of the authors of FNV, 32 bits.
  ['', 0x811c9dc5],
  ['a', 0xe40c292c],
  ['b', 0xe70c2de5],
  ['fo', 0x6222e842],
  ['foobar', 0xbf9cf968],
] as const)('partitioner: FNV-1a of %j is 0x%x', (text, hash) => {
  expect(fnv1a(Buffer.from(text))).toBe(hash);
});

test('partitioner: the hash is a signed number, and the remainder has no sign', () => {
  const signed = 0xe40c292c - 2 ** 32;
  expect(partitionOf(Buffer.from('a'), 7)).toBe(Math.abs(signed % 7));
  expect(partitionOf(Buffer.from('a'), 7)).not.toBe(0xe40c292c % 7);
});

test('partitioner: every key has one of the partitions', () => {
  const found = new Set(Array.from({ length: 1_000 }, (_, id) => partitionOf(Buffer.from(id.toString(16).padStart(32, '0')), 12)));
  expect([...found].sort((one, other) => one - other)).toEqual(Array.from({ length: 12 }, (_, partition) => partition));
});
