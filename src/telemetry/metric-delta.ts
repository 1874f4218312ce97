/** What was counted since an earlier snapshot of the same registry. */
import type { MetricFamily, MetricPoint } from './registry.ts';

/** Gauges are as they are now. What has not counted since is left out. */
export function since(before: readonly MetricFamily[], now: readonly MetricFamily[]): readonly MetricFamily[] {
  const known = new Map(before.map(({ name, points }) => [name, points]));
  return now.map((family) => {
    if (family.row.kind === 'gauge') return family;
    // By the labels themselves, which a series keeps: of a hundred thousand series their texts take more than a tenth of a second.
    const earlier = new Map(known.get(family.name)?.map((point) => [point.labels, point]));
    return { ...family, points: family.points.flatMap((point) => difference(earlier.get(point.labels), point)) };
  });
}

function difference(before: MetricPoint | undefined, now: MetricPoint): readonly MetricPoint[] {
  if (now.kind === 'number') {
    const value = now.value - (before?.kind === 'number' ? before.value : 0);
    return value === 0 ? [] : [{ ...now, value }];
  }
  const from = before?.kind === 'histogram' ? before : undefined;
  const counts = now.counts.map((count, at) => count - (from?.counts[at] ?? 0));
  return counts.every((count) => count === 0) ? [] : [{ ...now, counts, sum: now.sum - (from?.sum ?? 0) }];
}
