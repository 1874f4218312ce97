/** An estimate as a bar: the line is the interval, the dot the figure. The text beside it has the same values. */
import { barPlaces, type Estimate } from './estimate.ts';

export interface IntervalBarProps {
  readonly estimate: Estimate;
  /** Ends of the scale. Default: 0 to 1. */
  readonly min?: number;
  readonly max?: number;
  /** A line across the scale, such as “no difference”. */
  readonly mark?: number;
}

const [width, height, edge] = [64, 14, 4];

export function IntervalBar({ estimate, min = 0, max = 1, mark }: IntervalBarProps) {
  const scale = { min, max, width: width - 2 * edge };
  const places = barPlaces(estimate, scale);
  const at = mark === undefined ? undefined : barPlaces({ point: mark, low: mark, high: mark }, scale)?.point;
  if (places === undefined) return null;
  const middle = height / 2;
  return (
    <svg class="interval-bar" viewBox={`0 0 ${width} ${height}`} width={width} height={height} aria-hidden="true">
      <line class="scale" x1={edge} x2={width - edge} y1={middle} y2={middle} />
      {at === undefined ? null : <line class="mark" x1={at + edge} x2={at + edge} y1={0} y2={height} />}
      <line class="interval" x1={places.left + edge} x2={Math.max(places.right, places.left + 1) + edge} y1={middle} y2={middle} />
      <circle class="point" cx={places.point + edge} cy={middle} r={3.5} />
    </svg>
  );
}
