/** Sends a request again while an endpoint is busy: a bounded number of attempts, with backoff between two of them. */
import type { Clock, Sleep } from '../model/clock.ts';
import { backoffMs } from './backoff.ts';
import { retryAfterMs } from './retry-after.ts';

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
