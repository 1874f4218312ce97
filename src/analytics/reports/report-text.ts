/** Figures and tables of reports as text. */
import type { Measure } from '../experiment-summary.ts';
import type { Estimate } from '../../statistics/estimate.ts';

/** Rounds down: the text never names a share that was not reached. */
export function percent(share: number): string {
  return `${Math.floor(share * 1_000 + 1e-9) / 10} %`;
}

/** Shares are rounded down, so that no text names a share that was not reached. */
export function measureText(value: number, measure: Measure): string {
  return measure === 'rate' ? percent(value) : value.toFixed(3);
}

export function intervalText(estimate: Estimate, measure: Measure): string {
  return estimate.kind === 'estimated' ? `${measureText(estimate.low, measure)} to ${measureText(estimate.high, measure)}` : '–';
}

/** Aligns the first column to the left and the others to the right. */
export function aligned(rows: readonly (readonly string[])[], others: 'left' | 'right' = 'right'): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => (column === 0 || others === 'left' ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  '),
  );
}
