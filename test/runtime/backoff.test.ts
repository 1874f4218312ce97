import { expect, test } from 'vitest';
import { backoffMs } from '../../src/runtime/backoff.ts';

const bounds = { firstRestMs: 100, longestRestMs: 300 };

test('backoff: chance shortens a rest by half at most', () => {
  expect([1, 2, 40].map((attempts) => backoffMs(attempts, { ...bounds, random: () => 0 }))).toEqual([50, 100, 150]);
});

test('backoff: the wait doubles with every attempt up to the longest, without jitter when no randomness is given', () => {
  expect([1, 2, 3, 1_000_000].map((attempt) => backoffMs(attempt, bounds))).toEqual([100, 200, 300, 300]);
});
