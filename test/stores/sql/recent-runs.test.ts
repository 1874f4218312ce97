import { expect, test } from 'vitest';
import { recentRuns, sharedRecentRuns } from '../../../src/stores/sql/recent-runs.ts';

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

test('recent runs of several processes: writes come in the order of their positions, whenever they are heard', () => {
  const recent = sharedRecentRuns(5);
  recent.begin(100);
  expect(recent.since(undefined)).toEqual({ ids: [], position: 100, forgotten: 0 });
  recent.heard(102, [1, 2]);
  recent.heard(103, [1]);
  recent.heard(102, [1, 2]);
  expect(recent.since(100)).toEqual({ ids: [2, 1], position: 103, forgotten: 0 });
  expect(recent.since(102)).toEqual({ ids: [1], position: 103, forgotten: 0 });
  recent.heard(107, [3, 4, 5, 6]);
  expect(recent.since(100)).toEqual({ ids: [1, 3, 4, 5, 6], position: 107, forgotten: 2 });
});

test('recent runs of several processes: writes that were not heard are counted', () => {
  const recent = sharedRecentRuns(10);
  recent.begin(100);
  recent.heard(101, [1]);
  recent.begin(104);
  recent.heard(105, [5]);
  expect(recent.since(100)).toEqual({ ids: [1, 5], position: 105, forgotten: 3 });
  expect(recent.since(90)).toEqual({ ids: [1, 5], position: 105, forgotten: 13 });
});

test('recent runs of several processes: a position that another process has heard of waits, and one of another store begins anew', () => {
  const recent = sharedRecentRuns(10);
  recent.begin(100);
  recent.heard(101, [1]);
  expect(recent.since(103)).toEqual({ ids: [], position: 103, forgotten: 0 });
  expect(recent.since(1_000)).toEqual({ ids: [], position: 101, forgotten: 0 });
});
