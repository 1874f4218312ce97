import { expect, test } from 'vitest';
import { bufferPool } from '../../src/runtime/buffer-pool.ts';

const kibibyte = 1024;

test('buffer pool: a buffer has the asked length, and its memory is used again after the last release', () => {
  const pool = bufferPool({ freeBytesMax: 1024 * kibibyte });
  const first = pool.take(100 * kibibyte);
  expect(first.bytes.length).toBe(100 * kibibyte);
  first.retain();
  first.release();
  expect([pool.freeBytes(), pool.usedBytes()]).toEqual([0, first.bytes.buffer.byteLength]);
  first.release();
  expect(pool.usedBytes()).toBe(0);
  expect(pool.freeBytes()).toBeGreaterThanOrEqual(100 * kibibyte);
  const again = pool.take(99 * kibibyte);
  expect(again.bytes.buffer).toBe(first.bytes.buffer);
  expect(again.bytes.length).toBe(99 * kibibyte);
  expect(pool.take(99 * kibibyte).bytes.buffer).not.toBe(first.bytes.buffer);
});

test.for([0, 1, 4_096, 4_097, 5_000, 65_536, 65_537, 316_000, 16 * 1024 * kibibyte, 16 * 1024 * kibibyte + 1])(
  'buffer pool: %d bytes take at most a quarter more, or the smallest size',
  (bytes) => {
    const { byteLength } = bufferPool({ freeBytesMax: 0 }).take(bytes).bytes.buffer;
    expect(byteLength).toBeGreaterThanOrEqual(bytes);
    expect(byteLength).toBeLessThanOrEqual(Math.max(4_096, bytes * 1.25));
  },
);

test('buffer pool: unread bytes stay within its bound', () => {
  const pool = bufferPool({ freeBytesMax: 10 * 64 * kibibyte });
  const taken = Array.from({ length: 20 }, () => pool.take(64 * kibibyte));
  for (const one of taken) one.release();
  expect(pool.freeBytes()).toBe(10 * 64 * kibibyte);
});

test('buffer pool: a kept buffer is never used again', () => {
  const pool = bufferPool({ freeBytesMax: 1024 * kibibyte, poisons: true });
  const kept = pool.take(64 * kibibyte);
  kept.bytes.fill(7);
  kept.keep();
  expect(pool.usedBytes()).toBe(0);
  kept.keep();
  kept.release();
  expect([pool.freeBytes(), pool.usedBytes()]).toEqual([0, 0]);
  expect(kept.bytes.every((byte) => byte === 7)).toBe(true);
});

test.for(['retain', 'release', 'keep'] as const)('buffer pool: %s of a buffer that was given back throws', (method) => {
  const one = bufferPool({ freeBytesMax: 0 }).take(1);
  one.release();
  expect(() => one[method]()).toThrow('given back');
});

test('buffer pool: a pool for tests overwrites what is given back', () => {
  const one = bufferPool({ freeBytesMax: 0, poisons: true }).take(8);
  one.bytes.fill(1);
  one.release();
  expect([...one.bytes]).toEqual(Array.from({ length: 8 }, () => 0xdd));
});
