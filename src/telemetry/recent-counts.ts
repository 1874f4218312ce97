/** The growth of counters in the last hour, from samples of their values. */
import type { Clock } from '../model/clock.ts';
import type { MetricFamily } from './registry.ts';
import type { Labels } from './telemetry.ts';

/** A metric without the members that the table of metrics has. */
export type MetricPoints = Pick<MetricFamily, 'name' | 'points'>;

interface Count {
  readonly labels: Labels;
  readonly value: number;
}

export interface RecentCounts {
  /** Takes a sample; called once a minute. */
  sample(registry: readonly MetricPoints[]): void;
  /** Label sets that grew, with their growth. A counter that is not watched has none. */
  grown(metric: string, registry: readonly MetricPoints[]): readonly Count[];
}

const windowMs = 3_600_000;
/** One a minute, and the one before the window. */
const samplesMax = 62;

interface Sample {
  readonly atMs: number;
  /** Values by metric and labels. */
  readonly values: ReadonlyMap<string, number>;
}

/** Counters begin at 0 with the process, so the first window begins there. */
export function recentCounts(watched: ReadonlySet<string>, clock: Clock): RecentCounts {
  const samples: Sample[] = [{ atMs: clock.nowMs(), values: new Map() }];

  /** The last sample that is as old as the window, else the first one. */
  function before(): Sample | undefined {
    const from = clock.nowMs() - windowMs;
    return samples.findLast(({ atMs }) => atMs <= from) ?? samples[0];
  }

  return {
    sample(registry) {
      const values = new Map<string, number>();
      for (const { name, points } of registry) {
        if (!watched.has(name)) continue;
        for (const point of points) if (point.kind === 'number') values.set(keyOf(name, point.labels), point.value);
      }
      samples.push({ atMs: clock.nowMs(), values });
      if (samples.length > samplesMax) samples.shift();
    },
    grown(metric, registry) {
      if (!watched.has(metric)) return [];
      const base = before()?.values;
      const points = registry.find(({ name }) => name === metric)?.points ?? [];
      return points.flatMap((point) => {
        if (point.kind !== 'number') return [];
        const growth = point.value - (base?.get(keyOf(metric, point.labels)) ?? 0);
        return growth > 0 ? [{ labels: point.labels, value: growth }] : [];
      });
    },
  };
}

function keyOf(metric: string, labels: Labels): string {
  return JSON.stringify([metric, Object.entries(labels)]);
}
