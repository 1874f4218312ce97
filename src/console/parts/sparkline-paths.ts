/** Lines of a sparkline as SVG paths, one for each piece without a gap. */

export interface SparklineScale {
  readonly width: number;
  readonly height: number;
  readonly min?: number | undefined;
  readonly max?: number | undefined;
}

/** Room for the width of the line, at each edge. */
const margin = 2;

export function sparklinePaths(values: readonly (number | null)[], { width, height, min, max }: SparklineScale): readonly string[] {
  const known = values.filter((value) => value !== null && Number.isFinite(value)) as readonly number[];
  if (known.length === 0) return [];
  const low = min ?? known.reduce((one, other) => Math.min(one, other));
  const high = max ?? known.reduce((one, other) => Math.max(one, other));
  const step = values.length > 1 ? (width - 2 * margin) / (values.length - 1) : 0;
  const y = (value: number): number =>
    high === low ? height / 2 : height - margin - ((value - low) / (high - low)) * (height - 2 * margin);
  const paths: string[] = [];
  let open: string[] = [];
  const close = (): void => {
    // A single point is a short line.
    if (open.length === 1) open.push('h1');
    if (open.length > 0) paths.push(open.join(''));
    open = [];
  };
  for (const [at, value] of values.entries()) {
    if (value === null || !Number.isFinite(value)) close();
    else open.push(`${open.length === 0 ? 'M' : 'L'}${rounded(margin + at * step)} ${rounded(y(value))}`);
  }
  close();
  return paths;
}

/** Coordinates of a path to a tenth of a pixel. */
export function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}
