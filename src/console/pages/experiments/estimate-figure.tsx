/** An estimate with its interval; without one, why there is none. */
import { Figure } from '../../parts/figure.tsx';
import { type Estimate, type Measure, measureText } from './experiment-text.ts';

export function EstimateFigure({ estimate, measure }: { readonly estimate: Estimate; readonly measure: Measure }) {
  return estimate.kind === 'estimated' ? (
    <Figure value={estimate.point} low={estimate.low} high={estimate.high} text={(value) => measureText(value, measure)} />
  ) : (
    <Figure value={undefined} why={estimate.explanation} />
  );
}
