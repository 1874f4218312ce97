import { expect, test } from 'vitest';
import { manualClock } from '../../src/model/clock.ts';
import { withRetry, type Busy } from '../../src/runtime/retry.ts';

type Reply = { readonly kind: 'done' } | Busy;

const busy = (retryAfter?: string): Busy => ({ kind: 'busy', error: 'busy', retryAfter });

async function retried(replies: readonly Reply[], { attemptsMax = 4, stopAfter = Infinity } = {}) {
  const slept: number[] = [];
  const stop = new AbortController();
  let retries = 0;
  let sent = 0;
  const end = await withRetry<Reply>(async () => replies[sent++] ?? { kind: 'done' }, {
    attemptsMax,
    onRetry: () => void retries++,
    signal: stop.signal,
    stopped: 'stopped',
    clock: manualClock(),
    random: () => 1,
    parseDate: Date.parse,
    async sleep(ms) {
      slept.push(ms);
      if (slept.length >= stopAfter) stop.abort();
    },
  });
  return { end, slept, retries, sent };
}

for (const { name, replies, options, want } of [
  { name: 'an answer is final', replies: [], options: {}, want: { end: { kind: 'done' }, slept: [], retries: 0, sent: 1 } },
  {
    name: 'a busy endpoint gets the request again, after a backoff that doubles',
    replies: [busy(), busy()],
    options: {},
    want: { end: { kind: 'done' }, slept: [500, 1_000], retries: 2, sent: 3 },
  },
  {
    name: 'attempts are bounded, and the last error remains',
    replies: [busy(), busy(), busy()],
    options: { attemptsMax: 2 },
    want: { end: { kind: 'failed', error: 'busy' }, slept: [500], retries: 1, sent: 2 },
  },
  {
    name: 'Retry-After lengthens the backoff, up to two minutes, and never shortens it',
    replies: [busy('7'), busy('86400'), busy('1')],
    options: {},
    want: { end: { kind: 'done' }, slept: [7_000, 120_000, 2_000], retries: 3, sent: 4 },
  },
  {
    name: 'no attempt follows a stop',
    replies: [busy(), busy()],
    options: { stopAfter: 1 },
    want: { end: { kind: 'failed', error: 'stopped' }, slept: [500], retries: 1, sent: 1 },
  },
] as const)
  test(`retry: ${name}`, async () => {
    expect(await retried(replies, options)).toEqual(want);
  });
