/** Estimates of the API as bars on a scale, and as text. */

/** `Estimate` of the API. */
export interface Estimate {
  readonly point: number | null;
  readonly low: number | null;
  readonly high: number | null;
  readonly confidence?: number | null;
  readonly n?: number | null;
  readonly not_estimable?: { readonly reason: string; readonly explanation: string } | null;
}

export interface BarScale {
  readonly min: number;
  readonly max: number;
  readonly width: number;
}

/** Places on a scale, in its unit of width. `undefined`: there is no figure. */
export interface BarPlaces {
  readonly left: number;
  readonly right: number;
  readonly point: number;
}

/** Values beyond the scale are at its end. */
export function barPlaces({ point, low, high }: Estimate, { min, max, width }: BarScale): BarPlaces | undefined {
  if (point === null) return undefined;
  const at = (value: number): number => {
    const share = max === min ? 0.5 : (value - min) / (max - min);
    return Math.round(Math.min(1, Math.max(0, share)) * width * 10) / 10;
  };
  return { left: at(low ?? point), right: at(high ?? point), point: at(point) };
}

/** Why there is no figure; `undefined` when there is one. */
export function whyNone({ point, not_estimable: none }: Estimate): string | undefined {
  return point === null ? (none?.explanation ?? 'There is no figure.') : undefined;
}

/** A difference of shares in percentage points, with its sign. */
export function pointsText(difference: number): string {
  const points = Math.round(difference * 1_000) / 10;
  const text = Math.abs(points) >= 10 ? Math.abs(Math.round(points)).toString() : Math.abs(points).toFixed(1).replace(/\.0$/, '');
  return `${points > 0 ? '+' : points < 0 ? '−' : '±'}${text} pp`;
}

/** A p-value: small ones as a bound. */
export function pText(p: number | null | undefined): string {
  if (p === null || p === undefined) return '–';
  if (p < 0.0001) return '< 0.0001';
  return p < 0.01 ? p.toFixed(4) : p.toFixed(2);
}

/** An end of a scale that is easy to read, not below `value`: 1, 2 or 5 times a power of ten. */
export function niceEnd(value: number): number {
  if (!(value > 0) || !Number.isFinite(value)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 5, 10].find((one) => one * power >= value * (1 - 1e-9)) ?? 10;
  return Number((step * power).toPrecision(3));
}
