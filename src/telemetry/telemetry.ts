/** How the rest of the service counts. The rows of `metrics.ts` are the only metrics there are. */
import type { MetricName } from './metrics.ts';

export type Labels = { readonly [label: string]: string };

export interface Telemetry {
  /** Adds to a counter. */
  add(metric: MetricName, value: number, labels?: Labels): void;
  /** Sets a gauge. */
  set(metric: MetricName, value: number, labels?: Labels): void;
  /** Records one value in a histogram; the exemplar names the trace that it came from. */
  record(metric: MetricName, value: number, labels?: Labels, exemplar?: Labels): void;
}

/** Counts nothing. For tests and the library. */
export const noTelemetry: Telemetry = { add() {}, set() {}, record() {} };
