/** Points with their intervals, one for each version, from the oldest to the newest. */
import { lineText } from './format.ts';
import { pointRangeLayout, type RangePoint } from './point-range.ts';

export interface PointRangeChartProps {
  readonly title: string;
  readonly points: readonly RangePoint[];
  readonly text: (value: number) => string;
  readonly min?: number;
  readonly max?: number;
}

const size = { width: 300, height: 130 } as const;
const labelCharsMax = 9;

export function PointRangeChart({ title, points, text, min, max }: PointRangeChartProps) {
  const layout = pointRangeLayout(points, { ...size, ...(min === undefined ? {} : { min }), ...(max === undefined ? {} : { max }) });
  const spoken = layout.points.map(({ label, value }) => `${label}: ${text(value)}`).join(', ');
  return (
    <figure class="point-range">
      <figcaption>{title}</figcaption>
      <svg viewBox={`0 0 ${size.width} ${size.height}`} role="img" aria-label={`${title}. ${spoken === '' ? 'No figure.' : spoken}`}>
        {layout.ticks.map(({ y, value }) => (
          <g key={value}>
            <line class="grid" x1={50} x2={size.width - 4} y1={y} y2={y} />
            <text class="tick" x={45} y={y + 4} text-anchor="end">
              {text(value)}
            </text>
          </g>
        ))}
        {layout.lines.map((d) => (
          <path key={d} class="join" d={d} />
        ))}
        {layout.points.map(({ label, x, y, top, bottom, value }) => (
          <g key={`${label} ${x}`}>
            <title>{`${label}: ${text(value)}`}</title>
            <line class="interval" x1={x} x2={x} y1={top} y2={bottom} />
            <circle class="point" cx={x} cy={y} r={4} />
          </g>
        ))}
        {layout.labels.map(({ x, text: label }) => (
          <text key={`${label} ${x}`} class="tick" x={x} y={size.height - 6} text-anchor="middle">
            {lineText(label, labelCharsMax)}
          </text>
        ))}
      </svg>
    </figure>
  );
}
