/** A histogram as bars. The table of a screen reader is its label: each bin with its count. */
import { countText } from './format.ts';
import { type Bin, histogramBars } from './histogram-bars.ts';

export interface HistogramProps {
  readonly title: string;
  readonly bins: readonly Bin[];
  readonly min: number;
  readonly max: number;
  readonly text: (value: number) => string;
}

const size = { width: 300, height: 80 } as const;

export function Histogram({ title, bins, min, max, text }: HistogramProps) {
  const bars = histogramBars(bins, { ...size, min, max });
  const nameOf = ({ from, to, count }: Bin): string => `${from === to ? text(from) : `${text(from)} to ${text(to)}`}: ${countText(count)}`;
  return (
    <figure class="histogram">
      <figcaption>{title}</figcaption>
      <svg viewBox={`0 0 ${size.width} ${size.height + 16}`} role="img" aria-label={`${title}. ${bars.map(nameOf).join(', ')}`}>
        {bars.map((bar) => (
          <rect key={`${bar.from} ${bar.to}`} x={bar.x} y={bar.y} width={bar.width} height={bar.height}>
            <title>{nameOf(bar)}</title>
          </rect>
        ))}
        <line class="grid" x1={0} x2={size.width} y1={size.height} y2={size.height} />
        <text class="tick" x={0} y={size.height + 13}>
          {text(min)}
        </text>
        <text class="tick" x={size.width} y={size.height + 13} text-anchor="end">
          {text(max)}
        </text>
      </svg>
    </figure>
  );
}
