import { expect, test } from 'vitest';
import { pointRangeLayout, pointsMax } from '../../../src/console/parts/point-range.ts';

const size = { width: 278, height: 132 } as const;
const point = (label: string, value: number | null) => ({ label, point: value, low: value, high: value });

test('point range: points stand from left to right and from 0 to the end of the scale', () => {
  const { points, ticks } = pointRangeLayout([point('1.0', 0), point('1.1', 0.5), point('1.2', 1)], { ...size, max: 1 });
  expect(points.map(({ x, y }) => [x, y])).toEqual([
    [62, 110],
    [162, 60],
    [262, 10],
  ]);
  expect(ticks.map(({ value, y }) => [value, y])).toEqual([
    [0, 110],
    [0.5, 60],
    [1, 10],
  ]);
});

test('point range: a missing figure is a gap, not 0', () => {
  const { points, lines } = pointRangeLayout([point('a', 1), point('b', 1), point('c', null), point('d', 1)], size);
  expect(points.map(({ label }) => label)).toEqual(['a', 'b', 'd']);
  expect(lines).toHaveLength(1);
});

test('point range: the scale reaches the ends of the intervals', () => {
  const { points, ticks } = pointRangeLayout([{ label: 'a', point: 3, low: 1, high: 4 }], size);
  expect(ticks.at(-1)?.value).toBe(5);
  expect(points[0]).toMatchObject({ top: 30, bottom: 90 });
});

test('point range: of many versions the newest are drawn, and labels do not overlap', () => {
  const { points, labels } = pointRangeLayout(
    Array.from({ length: 50 }, (_, at) => point(`v${at}`, at)),
    size,
  );
  expect(points).toHaveLength(pointsMax);
  expect(points.at(-1)?.label).toBe('v49');
  expect(labels.at(-1)?.text).toBe('v49');
  expect(labels.length).toBeLessThan(6);
});
