/** Figures and times as people read them. Unknown values are a dash, never 0. */

export const unknownText = '–';

/** A share of 1, as in `93 %`. Digits only where the share is near an end. */
export function percentText(share: number | null | undefined): string {
  if (share === null || share === undefined) return unknownText;
  const percent = share * 100;
  const isNearEnd = (percent > 0 && percent < 1) || (percent > 99 && percent < 100);
  return `${isNearEnd ? Math.min(Math.max(percent, 0.1), 99.9).toFixed(1) : Math.round(percent)} %`;
}

const scoreDigitsMax = 8;

/**
 * A score with two digits, or as many as it takes: 0.997 does not stand as 1, and 0.4996 does not stand as the threshold 0.5 that it missed.
 */
export function scoreText(score: number | null | undefined, threshold?: number | null): string {
  if (score === null || score === undefined) return unknownText;
  for (let digits = 2; digits <= scoreDigitsMax; digits++) {
    const rounded: number = Number(score.toFixed(digits));
    if (rounded === score || (!Number.isInteger(rounded) && rounded !== threshold)) return String(rounded);
  }
  return String(score);
}

export function durationText(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) return unknownText;
  if (seconds < 0.9995) return `${Math.round(seconds * 1_000)} ms`;
  if (seconds < 59.95) return `${seconds.toFixed(seconds < 9.95 ? 1 : 0)} s`;
  const minutes = Math.round(seconds / 60);
  if (seconds < 3_570) return `${Math.floor(Math.round(seconds) / 60)} min ${Math.round(seconds) % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** US dollars. */
export function costText(usd: number | null | undefined): string {
  if (usd === null || usd === undefined) return unknownText;
  if (usd === 0) return '$0';
  return usd < 0.01 ? `$${usd.toPrecision(2)}` : `$${usd.toFixed(2)}`;
}

/** Whole numbers with thousands apart. */
export function countText(count: number | null | undefined): string {
  return count === null || count === undefined ? unknownText : Math.round(count).toLocaleString('en-US');
}

/** A count such as `1.2 k`, for narrow columns. */
export function shortCountText(count: number | null | undefined): string {
  if (count === null || count === undefined) return unknownText;
  if (count < 1_000) return String(Math.round(count));
  const [value, unit] = count < 999_500 ? [count / 1_000, 'k'] : [count / 1_000_000, 'M'];
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)} ${unit}`;
}

export function bytesText(bytes: number | null | undefined): string {
  if (bytes === null || bytes === undefined) return unknownText;
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const at = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1_024 ** at;
  return `${at === 0 || value >= 9.95 ? Math.round(value) : value.toFixed(1)} ${units[at] ?? ''}`;
}

/** Local date and time to the second. */
export function timeText(iso: string | null | undefined): string {
  const at = new Date(iso ?? '');
  if (Number.isNaN(at.getTime())) return unknownText;
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

/** An age such as `5 min ago`. */
export function agoText(iso: string | null | undefined, nowMs: number): string {
  const ms = nowMs - Date.parse(iso ?? '');
  if (!Number.isFinite(ms)) return unknownText;
  const steps = [
    [60_000, 1_000, 's'],
    [3_600_000, 60_000, 'min'],
    [86_400_000, 3_600_000, 'h'],
    [Infinity, 86_400_000, 'd'],
  ] as const;
  const [, unitMs, unit] = steps.find(([below]) => ms < below) ?? steps[3];
  return `${Math.max(0, Math.floor(ms / unitMs))} ${unit} ago`;
}

/** On one line, at most `charsMax` characters. */
export function lineText(text: string | null | undefined, charsMax = 300): string {
  const line = (text ?? '').replaceAll(/\s+/g, ' ').trim();
  return line.length <= charsMax ? line : `${line.slice(0, charsMax - 1)}…`;
}
