/** Sends again while an endpoint is busy, so many times, with rests between. */
import type { Clock, Sleep } from '../model/clock.ts';

/** Worth another try; `retryAfter` as the endpoint wrote it. */
export interface Busy {
  readonly kind: 'busy';
  readonly error: string;
  readonly retryAfter: string | undefined;
  /** It may have been worked on, and charged, all the same. */
  readonly mayCost?: true;
}

export interface RetryPolicy {
  /** Sendings of one request. */
  readonly attemptsMax: number;
  readonly onRetry: (busy: Busy) => void;
  /** Ends the rests; nothing is sent after it. */
  readonly signal: AbortSignal;
  /** The error of a request that was not sent any more. */
  readonly stopped: string;
  readonly clock: Clock;
  readonly sleep: Sleep;
  readonly random: () => number;
}

export const busyStatuses: ReadonlySet<number> = new Set([408, 409, 425, 429, 500, 502, 503, 504, 529]);

export async function withRetry<Reply extends { readonly kind: string }>(
  send: () => Promise<Reply | Busy>,
  patience: RetryPolicy,
): Promise<Exclude<Reply, Busy> | { readonly kind: 'failed'; readonly error: string }> {
  const { attemptsMax, onRetry, signal, stopped, clock, sleep, random } = patience;
  for (let attempt = 1; ; attempt++) {
    if (signal.aborted) return { kind: 'failed', error: stopped };
    const reply = await send();
    if (!isBusy(reply)) return reply as Exclude<Reply, Busy>;
    if (attempt >= attemptsMax) return { kind: 'failed', error: reply.error };
    onRetry(reply);
    await sleep(restMs({ attempt, retryAfter: reply.retryAfter, clock, random }), signal);
  }
}

function isBusy(reply: { readonly kind: string }): reply is Busy {
  return reply.kind === 'busy';
}

/** How long to wait before a busy endpoint is asked again. */
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
