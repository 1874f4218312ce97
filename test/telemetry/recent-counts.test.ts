import { expect, test } from 'vitest';
import { manualClock } from '../../src/model/clock.ts';
import type { MetricPoints } from '../../src/telemetry/recent-counts.ts';
import { recentCounts } from '../../src/telemetry/recent-counts.ts';

const minute = 60_000;
const watched = 'tracejury.stress.shed';

function registry(value: number, metric = watched): readonly MetricPoints[] {
  return [{ name: metric, points: [{ kind: 'number', labels: { 'tracejury.what': 'judge' }, value }] }];
}

test('recent counts: a counter grows from the start of the process until the window has passed', () => {
  const clock = manualClock();
  const counts = recentCounts(new Set([watched]), clock);
  expect(counts.grown(watched, registry(3))).toEqual([{ labels: { 'tracejury.what': 'judge' }, value: 3 }]);
  for (let at = 0; at < 59; at++) {
    clock.advance(minute);
    counts.sample(registry(3));
  }
  expect(counts.grown(watched, registry(3))).toHaveLength(1);
  clock.advance(2 * minute);
  counts.sample(registry(3));
  expect(counts.grown(watched, registry(3))).toEqual([]);
  expect(counts.grown(watched, registry(5))).toEqual([{ labels: { 'tracejury.what': 'judge' }, value: 2 }]);
});

test('recent counts: the window moves, however long the process runs', () => {
  const clock = manualClock();
  const counts = recentCounts(new Set([watched]), clock);
  for (let at = 1; at <= 500; at++) {
    clock.advance(minute);
    counts.sample(registry(at));
  }
  expect(counts.grown(watched, registry(500))).toEqual([{ labels: { 'tracejury.what': 'judge' }, value: 60 }]);
});

test('recent counts: a counter that is not watched has no growth, and a smaller value is none', () => {
  const clock = manualClock();
  const counts = recentCounts(new Set([watched]), clock);
  expect(counts.grown('tracejury.store.items', registry(3, 'tracejury.store.items'))).toEqual([]);
  counts.sample(registry(9));
  clock.advance(120 * minute);
  expect(counts.grown(watched, registry(4))).toEqual([]);
});
