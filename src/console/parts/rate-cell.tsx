/** An estimate in a table: the figure with its interval, and the same as a bar. */
import { whyNone, type Estimate } from './estimate.ts';
import { Figure } from './figure.tsx';
import { IntervalBar } from './interval-bar.tsx';

export interface RateCellProps {
  readonly estimate: Estimate | null | undefined;
  readonly text?: (value: number) => string;
  readonly min?: number;
  readonly max?: number;
  readonly mark?: number;
}

export function RateCell({ estimate, text, ...scale }: RateCellProps) {
  if (estimate === null || estimate === undefined) return <Figure value={null} />;
  const { point, low, high, n } = estimate;
  return (
    <span class="rate-cell">
      <Figure value={point} low={low} high={high} n={n} why={whyNone(estimate)} {...(text === undefined ? {} : { text })} />
      <IntervalBar estimate={estimate} {...scale} />
    </span>
  );
}
