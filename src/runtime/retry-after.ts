/** The header `Retry-After` (RFC 9110, 10.2.3), and the reset headers that some services send in its place. */

/** A larger number of seconds is a time since the Unix epoch. */
const secondsMax = 1_000_000_000;

export interface RetryAfterOptions {
  readonly nowMs: number;
  /** `Date.parse`, which is the machine's. */
  readonly parseDate: (text: string) => number;
}

/** Milliseconds to wait, 0 or more; `undefined` when the header is absent or unreadable. Reads seconds, seconds since the epoch, or a date. */
export function retryAfterMs(header: string | undefined, { nowMs, parseDate }: RetryAfterOptions): number | undefined {
  const text = header?.trim() ?? '';
  if (!/^\d+(\.\d+)?$/.test(text)) {
    // `Date.parse` reads a signed number as a year.
    const atMs = /^[-+]/.test(text) ? Number.NaN : parseDate(text);
    return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
  }
  const seconds = Number(text);
  if (!Number.isFinite(seconds)) return undefined;
  return seconds > secondsMax ? Math.max(0, seconds * 1_000 - nowMs) : seconds * 1_000;
}
