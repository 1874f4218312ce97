/** Geometry of a chart of points with their intervals, one for each version, in the order given. */
import type { Estimate } from './estimate.ts';
import { niceEnd } from './estimate.ts';
import { rounded } from './sparkline-paths.ts';

export interface RangePoint extends Pick<Estimate, 'point' | 'low' | 'high'> {
  readonly label: string;
}

export interface PlacedRange {
  readonly label: string;
  readonly x: number;
  readonly y: number;
  readonly top: number;
  readonly bottom: number;
  readonly value: number;
}

export interface PointRangeLayout {
  readonly width: number;
  readonly height: number;
  readonly points: readonly PlacedRange[];
  /** Points joined by lines; a missing figure is a gap. */
  readonly lines: readonly string[];
  readonly ticks: readonly { readonly y: number; readonly value: number }[];
  readonly labels: readonly { readonly x: number; readonly text: string }[];
}

export interface PointRangeOptions {
  readonly width: number;
  readonly height: number;
  /** Ends of the scale. Default: from 0 to what the points reach. */
  readonly min?: number;
  readonly max?: number;
}

/** Points of one chart: the newest. */
export const pointsMax = 20;
const [left, right, top, bottom] = [62, 16, 10, 22];
/** Labels below the points that fit beside each other. */
const labelWidth = 56;

export function pointRangeLayout(all: readonly RangePoint[], { width, height, min = 0, max }: PointRangeOptions): PointRangeLayout {
  const given = all.slice(-pointsMax);
  const reach = given.reduce((most, { point, high }) => Math.max(most, high ?? point ?? 0), 0);
  const end = max ?? niceEnd(reach);
  const inner = { width: width - left - right, height: height - top - bottom };
  const x = (at: number): number => rounded(left + (given.length === 1 ? inner.width / 2 : (at / (given.length - 1)) * inner.width));
  const y = (value: number): number => rounded(top + (1 - (clamped(value, min, end) - min) / (end - min || 1)) * inner.height);
  const points = given.flatMap(({ label, point, low, high }, at) =>
    point === null ? [] : [{ label, value: point, x: x(at), y: y(point), top: y(high ?? point), bottom: y(low ?? point) }],
  );
  const every = Math.max(1, Math.ceil((given.length * labelWidth) / Math.max(1, inner.width)));
  return {
    width,
    height,
    points,
    lines: linesOf(given, x, y),
    ticks: [min, (min + end) / 2, end].map((value) => ({ value, y: y(value) })),
    labels: given.flatMap(({ label }, at) => ((given.length - 1 - at) % every === 0 ? [{ x: x(at), text: label }] : [])),
  };
}

function linesOf(points: readonly RangePoint[], x: (at: number) => number, y: (value: number) => number): readonly string[] {
  const lines: string[] = [];
  let open: string[] = [];
  for (const [at, { point }] of points.entries()) {
    if (point !== null) open.push(`${open.length === 0 ? 'M' : 'L'}${x(at)} ${y(point)}`);
    if (point !== null && at < points.length - 1) continue;
    if (open.length > 1) lines.push(open.join(''));
    open = [];
  }
  return lines;
}

function clamped(value: number, min: number, max: number): number {
  return Math.min(max, Math.max(min, value));
}
