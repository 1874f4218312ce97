/** Metrics of several registries as those of one. */
import { metricRows } from './metrics.ts';
import type { MetricFamily, MetricPoint } from './registry.ts';

/** A metric without the members that the table of metrics has. */
export type MetricPoints = Pick<MetricFamily, 'name' | 'points'>;

/** In the order of the table. Counters and histograms are added up; a gauge merges by its row. */
export function mergedMetrics(registries: readonly (readonly MetricPoints[])[]): readonly MetricFamily[] {
  const byName = new Map<string, MetricPoint[]>();
  for (const { name, points } of registries.flat()) {
    const known = byName.get(name);
    if (known === undefined) byName.set(name, [...points]);
    else known.push(...points);
  }
  return Object.entries(metricRows).map(([name, row]) => ({ name, row, points: mergedPoints(byName.get(name) ?? [], row.merge ?? 'sum') }));
}

/** Counters of registries that are gone: their gauges are gone with them. */
export function countersOf(registry: readonly MetricPoints[]): readonly MetricPoints[] {
  return registry.filter(({ name }) => metricRows[name as keyof typeof metricRows]?.kind !== 'gauge');
}

function mergedPoints(points: readonly MetricPoint[], how: 'sum' | 'max'): readonly MetricPoint[] {
  const byLabels = new Map<string, MetricPoint>();
  for (const point of points) {
    const key = JSON.stringify(Object.values(point.labels));
    const known = byLabels.get(key);
    byLabels.set(key, known === undefined ? point : merged(known, point, how));
  }
  return [...byLabels.values()];
}

function merged(one: MetricPoint, other: MetricPoint, how: 'sum' | 'max'): MetricPoint {
  if (one.kind === 'number')
    return other.kind === 'number' ? { ...one, value: how === 'max' ? Math.max(one.value, other.value) : one.value + other.value } : one;
  if (other.kind === 'number') return one;
  return {
    ...one,
    counts: one.counts.map((count, at) => count + (other.counts[at] ?? 0)),
    sum: one.sum + other.sum,
    exemplars: one.exemplars.map((exemplar, at) => {
      const rival = other.exemplars[at];
      return exemplar === undefined || (rival !== undefined && (rival.atMs ?? 0) > (exemplar.atMs ?? 0)) ? rival : exemplar;
    }),
  };
}
