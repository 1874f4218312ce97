/** Rates and means of reports as text. */
import type { Measure } from '../experiment-summary.ts';
import { percent } from '../../report/text.ts';
import type { Estimate } from '../../statistics/estimate.ts';

/** Shares are rounded down, so that no text names a share that was not reached. */
export function measureText(value: number, measure: Measure): string {
  return measure === 'rate' ? percent(value) : value.toFixed(3);
}

export function intervalText(estimate: Estimate, measure: Measure): string {
  return estimate.kind === 'estimated' ? `${measureText(estimate.low, measure)} to ${measureText(estimate.high, measure)}` : '–';
}
