/** Exponential backoff with jitter. */
import type { Clock, Sleep } from '../model/clock.ts';

export interface BackoffOptions {
  /** 0..1. Spreads the attempts of many clients over the second half of the wait; absent: no jitter. */
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

// The header `Retry-After` (RFC 9110, 10.2.3), and the reset headers that some services send in its place.

/** A larger number of seconds is a time since the Unix epoch. */
const secondsMax = 1_000_000_000;

interface RetryAfterOptions {
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

// Sends a request again while an endpoint is busy: a bounded number of attempts, with backoff between two of them.

/** Worth another attempt. */
export interface Busy {
  readonly kind: 'busy';
  readonly error: string;
  /** The header Retry-After as the endpoint wrote it. */
  readonly retryAfter: string | undefined;
  /** The endpoint may have worked on the request, and charge for it. */
  readonly mayCost?: true;
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
/** An endpoint may ask for a longer wait than the backoff, but not for any. */
const longestRetryAfterMs = 120_000;

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
    const askedMs = Math.min(longestRetryAfterMs, retryAfterMs(reply.retryAfter, { nowMs: clock.nowMs(), parseDate }) ?? 0);
    await sleep(Math.max(backoffMs(attempt, { ...bounds, random }), askedMs), signal);
  }
}

function isBusy(reply: { readonly kind: string }): reply is Busy {
  return reply.kind === 'busy';
}
