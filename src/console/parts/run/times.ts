/** Times of the API as numbers, and durations as people read them. */

const TIME = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?Z$/;

/** Microseconds since the epoch; NaN for any other text. */
export function microsOf(time: string): number {
  const [, seconds, fraction = ''] = TIME.exec(time) ?? [];
  if (seconds === undefined) return Number.NaN;
  return Date.parse(`${seconds}Z`) * 1_000 + Number(fraction.padEnd(6, '0').slice(0, 6));
}

/** Two or three digits, with the unit that suits: 850 µs, 12.3 ms, 1.25 s, 2 min 5 s, 1 h 3 min. */
export function durationText(micros: number): string {
  if (!Number.isFinite(micros)) return 'unknown';
  if (micros < 0) return `−${durationText(-micros)}`;
  if (micros < 1_000) return `${Math.round(micros)} µs`;
  if (micros < 999_500) return `${digits(micros / 1_000)} ms`;
  const seconds = micros / 1_000_000;
  if (seconds < 59.95) return `${digits(seconds)} s`;
  const whole = Math.round(seconds);
  if (whole < 3_600) return parts(Math.floor(whole / 60), 'min', whole % 60, 's');
  const minutes = Math.round(seconds / 60);
  return parts(Math.floor(minutes / 60), 'h', minutes % 60, 'min');
}

function parts(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`;
}

function digits(value: number): string {
  return value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
}
