/** Registries of several threads, read as one. */
import { expect, test } from 'vitest';
import { countersOf, mergedMetrics } from '../../src/telemetry/merge.ts';
import { metricRegistry, type MetricRegistry } from '../../src/telemetry/registry.ts';

function registry(fill: (to: MetricRegistry) => void): MetricRegistry {
  const made = metricRegistry();
  fill(made);
  return made;
}

const one = registry((to) => {
  to.add('tracejury.spans.late', 2, { 'tracejury.reason': 'after_close' });
  to.set('tracejury.open.traces', 3);
  to.set('tracejury.stress.level', 1);
  to.record('tracejury.store.write.duration', 0.25);
});
const other = registry((to) => {
  to.add('tracejury.spans.late', 1, { 'tracejury.reason': 'after_close' });
  to.add('tracejury.spans.late', 5, { 'tracejury.reason': 'after_late' });
  to.set('tracejury.open.traces', 4);
  to.set('tracejury.stress.level', 2);
  to.record('tracejury.store.write.duration', 0.25);
  to.record('tracejury.store.write.duration', 7);
});
const merged = mergedMetrics([one.snapshot(), other.snapshot()]);
const pointsOf = (families: ReturnType<typeof mergedMetrics>, name: string) => families.find((family) => family.name === name)?.points;

test('metrics: counters and histograms of several registries add up, label set by label set', () => {
  expect(pointsOf(merged, 'tracejury.spans.late')).toEqual([
    { kind: 'number', labels: { 'tracejury.reason': 'after_close' }, value: 3 },
    { kind: 'number', labels: { 'tracejury.reason': 'after_late' }, value: 5 },
  ]);
  const [duration] = pointsOf(merged, 'tracejury.store.write.duration') ?? [];
  expect(duration).toMatchObject({ kind: 'histogram', sum: 7.5 });
  expect(duration?.kind === 'histogram' ? duration.counts.reduce((sum, count) => sum + count, 0) : 0).toBe(3);
});

test('metrics: a gauge adds up, or is the greatest value, as the table says', () => {
  expect(pointsOf(merged, 'tracejury.open.traces')).toEqual([{ kind: 'number', labels: {}, value: 7 }]);
  expect(pointsOf(merged, 'tracejury.stress.level')).toEqual([{ kind: 'number', labels: {}, value: 2 }]);
});

test('metrics: merged families are those of one registry, in its order', () => {
  expect(merged.map(({ name }) => name)).toEqual(one.snapshot().map(({ name }) => name));
  expect(mergedMetrics([one.snapshot()])).toEqual(one.snapshot());
});

test('metrics: of a registry that is gone the counts stay, and its gauges go', () => {
  const left = mergedMetrics([countersOf(one.snapshot()), other.snapshot()]);
  expect(pointsOf(left, 'tracejury.open.traces')).toEqual([{ kind: 'number', labels: {}, value: 4 }]);
  expect(pointsOf(left, 'tracejury.spans.late')?.[0]).toMatchObject({ value: 3 });
});
