/** Exponential backoff with jitter. */
import type { Clock, Sleep } from '../model/clock.ts';

export interface BackoffOptions {
  /** A number from 0 to 1 that spreads attempts over the second half of the wait. Default: no jitter. */
  readonly random?: () => number;
  readonly firstRestMs?: number;
  readonly longestRestMs?: number;
}

/** 2 ** 30 first waits exceed any longest wait. */
const doublingsMax = 30;

/** The wait after attempt `attempt`, counted from 1: it doubles with every attempt. */
export function backoffMs(attempt: number, { random = () => 1, firstRestMs = 1_000, longestRestMs = 60_000 }: BackoffOptions): number {
  const full = Math.min(longestRestMs, firstRestMs * 2 ** Math.min(attempt - 1, doublingsMax));
  return full / 2 + (full / 2) * random();
}

/** A larger number of seconds is a time since the Unix epoch. */
const secondsMax = 1_000_000_000;

interface RetryAfterOptions {
  readonly nowMs: number;
  /** `Date.parse`, which is the machine's. */
  readonly parseDate: (text: string) => number;
}

/**
 * The wait of a `Retry-After` header (RFC 9110, 10.2.3) or of a rate-limit reset header, in milliseconds; `undefined` when it is absent or
 * unreadable. Reads seconds, seconds since the epoch, and dates.
 */
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

/** A reply that is worth another attempt. */
export interface Busy {
  readonly kind: 'busy';
  readonly error: string;
  /** The header Retry-After as the endpoint wrote it. */
  readonly retryAfter: string | undefined;
  /** True when the endpoint may have worked on the request and may charge for it. */
  readonly mayCost?: true;
  /** True when no answer came back. */
  readonly isUnanswered?: true;
}

export interface RetryPolicy {
  /** Attempts for one request. */
  readonly attemptsMax: number;
  readonly onRetry: (busy: Busy) => void;
  /** Ends the backoff; no attempt follows. */
  readonly signal: AbortSignal;
  /** The error of a request that `signal` ended. */
  readonly stopped: string;
  readonly clock: Clock;
  readonly sleep: Sleep;
  readonly random: () => number;
  /** `Date.parse`. */
  readonly parseDate: (text: string) => number;
}

export const busyStatuses: ReadonlySet<number> = new Set([408, 409, 425, 429, 500, 502, 503, 504, 529]);

const bounds = { firstRestMs: 500, longestRestMs: 30_000 };
/** Limit of the wait that an endpoint may request. */
const longestRetryAfterMs = 120_000;

/** Repeats a request while the endpoint is busy, up to `attemptsMax` times, with backoff. */
export async function withRetry<Reply extends { readonly kind: string }>(
  send: () => Promise<Reply | Busy>,
  { attemptsMax, onRetry, signal, stopped, clock, sleep, random, parseDate }: RetryPolicy,
): Promise<Exclude<Reply, Busy> | { readonly kind: 'failed'; readonly error: string }> {
  for (let attempt = 1; ; attempt++) {
    if (signal.aborted) return { kind: 'failed', error: stopped };
    const reply = await send();
    if (!isBusy(reply)) return reply as Exclude<Reply, Busy>;
    if (attempt >= attemptsMax) return { kind: 'failed', error: reply.error };
    onRetry(reply);
    const requestedMs = Math.min(longestRetryAfterMs, retryAfterMs(reply.retryAfter, { nowMs: clock.nowMs(), parseDate }) ?? 0);
    await sleep(Math.max(backoffMs(attempt, { ...bounds, random }), requestedMs), signal);
  }
}

function isBusy(reply: { readonly kind: string }): reply is Busy {
  return reply.kind === 'busy';
}
