import { expect, test } from 'vitest';
import { recentRuns } from '../../../src/stores/sql/recent-runs.ts';

test('recent runs: what was written behind a position comes once, in the order of the last writes', () => {
  const recent = recentRuns(5);
  expect(recent.since(undefined)).toEqual({ ids: [], position: 0, forgotten: 0 });
  recent.add([1, 2, 1]);
  expect(recent.since(0)).toEqual({ ids: [2, 1], position: 3, forgotten: 0 });
  expect(recent.since(1)).toEqual({ ids: [2, 1], position: 3, forgotten: 0 });
  expect(recent.since(3)).toEqual({ ids: [], position: 3, forgotten: 0 });
  recent.add([3, 4, 5, 6]);
  expect(recent.since(0)).toEqual({ ids: [1, 3, 4, 5, 6], position: 7, forgotten: 2 });
  expect(recent.since(5)).toEqual({ ids: [5, 6], position: 7, forgotten: 0 });
});

test('recent runs: a position of an earlier thread brings all that is known', () => {
  const recent = recentRuns(5);
  recent.add([1, 2]);
  expect(recent.since(900)).toEqual({ ids: [1, 2], position: 2, forgotten: 0 });
});
