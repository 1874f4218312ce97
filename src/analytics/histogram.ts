/** The histogram of a sketch, with edges that people read: 1, 2 and 5 times a power of ten. */
import type { QuantileSketch } from '../model/quantile-sketch.ts';
import { bucketMiddle } from '../statistics/quantile-sketch.ts';

export interface Bin {
  /** Exclusive, but for the bin of 0. */
  readonly from: number;
  /** Inclusive. */
  readonly to: number;
  readonly count: number;
}

/** Steps without a value between two with one are left out when there are more. */
const binsMax = 60;

/** Sorted by value. Values of 0 have a separate bin. `unit`: divides the values. */
export function histogramOf({ zeros, buckets }: QuantileSketch, unit = 1): readonly Bin[] {
  const counts = new Map<number, number>();
  for (const [index, count] of buckets) {
    const step = stepOf(bucketMiddle(index) / unit);
    counts.set(step, (counts.get(step) ?? 0) + count);
  }
  const steps = [...counts.keys()].sort((one, other) => one - other);
  const [first = 0, last = -1] = [steps.at(0), steps.at(-1)];
  const shown = last - first < binsMax ? Array.from({ length: last - first + 1 }, (_, at) => first + at) : steps;
  return [
    ...(zeros > 0 ? [{ from: 0, to: 0, count: zeros }] : []),
    ...shown.map((step) => ({ from: edgeOf(step - 1), to: edgeOf(step), count: counts.get(step) ?? 0 })),
  ];
}

const edges = [1, 2, 5] as const;

/** Step 0 ends at 1, step 1 at 2, step 2 at 5, step 3 at 10. */
function edgeOf(step: number): number {
  const decade = Math.floor(step / edges.length);
  const edge = edges[step - decade * edges.length] ?? 1;
  // A power below 1 as a quotient: 0.2 and not 0.2000…1.
  return decade < 0 ? edge / 10 ** -decade : edge * 10 ** decade;
}

/** The step that contains a value above 0. */
function stepOf(value: number): number {
  const decade = Math.floor(Math.log10(value));
  let step = decade * edges.length;
  while (edgeOf(step) < value) step++;
  while (edgeOf(step - 1) >= value) step--;
  return step;
}
