/** The metrics API of the service. `metrics.ts` lists all metrics. */
import type { MetricName } from './metrics.ts';

export type Labels = { readonly [label: string]: string };

export interface Telemetry {
  /** Adds to a counter. */
  add(metric: MetricName, value: number, labels?: Labels): void;
  /** Sets a gauge. */
  set(metric: MetricName, value: number, labels?: Labels): void;
  /** Records one value in a histogram; the exemplar names its trace. */
  record(metric: MetricName, value: number, labels?: Labels, exemplar?: Labels): void;
}

/** Counts nothing; for tests and the library. */
export const noTelemetry: Telemetry = { add() {}, set() {}, record() {} };
