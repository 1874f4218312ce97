/** Geometry of a histogram: one bar for each bin, on a linear scale. */
import { rounded } from './sparkline-paths.ts';

export interface Bin {
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

export interface HistogramBar extends Bin {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface HistogramScale {
  readonly width: number;
  readonly height: number;
  readonly min: number;
  readonly max: number;
}

/** A bin of a single value, and a count of few, still has a bar that can be seen. */
const leastPixels = 3;

export function histogramBars(bins: readonly Bin[], { width, height, min, max }: HistogramScale): readonly HistogramBar[] {
  const most = bins.reduce((one, { count }) => Math.max(one, count), 0);
  const x = (value: number): number => (max === min ? 0 : (Math.min(max, Math.max(min, value)) - min) / (max - min)) * width;
  return bins.flatMap((bin) => {
    if (bin.count <= 0) return [];
    const barHeight = Math.max(leastPixels, (bin.count / most) * height);
    const barWidth = Math.max(leastPixels, x(bin.to) - x(bin.from) - 1);
    return [
      {
        ...bin,
        x: rounded(Math.min(x(bin.from), width - barWidth)),
        y: rounded(height - barHeight),
        width: rounded(barWidth),
        height: rounded(barHeight),
      },
    ];
  });
}
