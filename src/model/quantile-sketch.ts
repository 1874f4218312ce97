/** Quantiles of a stream as bounded data; `src/statistics/quantile-sketch.ts` has the arithmetic. */

export interface QuantileSketch {
  /** Number of values. */
  readonly count: number;
  /** Values of 0 or below, which count as 0. */
  readonly zeros: number;
  readonly low: number;
  readonly high: number;
  /** Index of a bucket and the number of its values, by index. */
  readonly buckets: readonly (readonly [index: number, count: number])[];
}

export const emptySketch: QuantileSketch = { count: 0, zeros: 0, low: 0, high: 0, buckets: [] };
