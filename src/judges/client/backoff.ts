/** How long to wait before a busy endpoint is asked again. */
import type { Clock } from '../../model/clock.ts';

export interface RestOptions {
  /** 1 after the first attempt. */
  readonly attempt: number;
  /** The header Retry-After: seconds or a date (RFC 9110, 10.2.3). */
  readonly retryAfter: string | undefined;
  readonly clock: Clock;
  readonly random: () => number;
}

const firstRestMs = 500;
const longestRestMs = 30_000;
/** An endpoint may ask for more patience than our own, but not for any. */
const longestRetryAfterMs = 120_000;

export function restMs({ attempt, retryAfter, clock, random }: RestOptions): number {
  const full = Math.min(longestRestMs, firstRestMs * 2 ** Math.min(attempt - 1, 30));
  const own = full / 2 + (full / 2) * random();
  return Math.max(own, Math.min(longestRetryAfterMs, askedForMs(retryAfter, clock)));
}

function askedForMs(retryAfter: string | undefined, clock: Clock): number {
  if (retryAfter === undefined) return 0;
  const text = retryAfter.trim();
  if (/^\d{1,9}(\.\d{1,9})?$/.test(text)) return Number(text) * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? 0 : Math.max(0, at - clock.nowMs());
}
