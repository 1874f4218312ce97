import { expect, test } from 'vitest';
import { histogramBars } from '../../../src/console/parts/histogram-bars.ts';

const scale = { width: 100, height: 50, min: 0, max: 1 } as const;

test('histogram bars: the highest bin fills the height, an empty one has no bar', () => {
  const bars = histogramBars(
    [
      { from: 0, to: 0.5, count: 10 },
      { from: 0.5, to: 0.9, count: 0 },
      { from: 0.9, to: 1, count: 5 },
    ],
    scale,
  );
  expect(bars.map(({ x, y, width, height }) => [x, y, width, height])).toEqual([
    [0, 0, 49, 50],
    [90, 25, 9, 25],
  ]);
});

test('histogram bars: a single value and a rare one can be seen, inside the picture', () => {
  const bars = histogramBars(
    [
      { from: 0, to: 0, count: 100_000 },
      { from: 1, to: 1, count: 1 },
    ],
    scale,
  );
  for (const { x, y, width, height } of bars) {
    expect(width).toBeGreaterThanOrEqual(3);
    expect(height).toBeGreaterThanOrEqual(3);
    expect(x + width).toBeLessThanOrEqual(100);
    expect(y + height).toBe(50);
  }
  expect(histogramBars([], scale)).toEqual([]);
});
