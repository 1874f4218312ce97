/** A small line over time. Absent values are gaps, never 0. */
import { sparklinePaths } from './sparkline-paths.ts';

export interface SparklineProps {
  readonly values: readonly (number | null)[];
  /** For a screen reader: what the line is, and how it goes. */
  readonly label: string;
  /** Ends of the scale. Default: of the values. */
  readonly min?: number;
  readonly max?: number;
}

const [width, height] = [120, 24];

export function Sparkline({ values, label, min, max }: SparklineProps) {
  const paths = sparklinePaths(values, { width, height, min, max });
  return (
    <svg class="sparkline" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label} preserveAspectRatio="none">
      {paths.map((d) => (
        <path
          key={d}
          d={d}
          fill="none"
          stroke="currentColor"
          stroke-width="1.5"
          stroke-linejoin="round"
          stroke-linecap="round"
          vector-effect="non-scaling-stroke"
        />
      ))}
    </svg>
  );
}
