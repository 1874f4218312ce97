import { expect, test } from 'vitest';
import { manualClock } from '../../src/model/clock.ts';
import { backoffMs, type Busy, retryAfterMs, withRetry } from '../../src/runtime/retry.ts';

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

const bounds = { firstRestMs: 100, longestRestMs: 300 };

test('backoff: chance shortens a rest by half at most', () => {
  expect([1, 2, 40].map((attempts) => backoffMs(attempts, { ...bounds, random: () => 0 }))).toEqual([50, 100, 150]);
});

test('backoff: the wait doubles with every attempt up to the longest, without jitter when no randomness is given', () => {
  expect([1, 2, 3, 1_000_000].map((attempt) => backoffMs(attempt, bounds))).toEqual([100, 200, 300, 300]);
});

const nowMs = Date.UTC(2026, 0, 1);

for (const { header, ms } of [
  { header: undefined, ms: undefined },
  { header: '', ms: undefined },
  { header: 'soon', ms: undefined },
  { header: '-3', ms: undefined },
  { header: '0', ms: 0 },
  { header: ' 7 ', ms: 7_000 },
  { header: '1.5', ms: 1_500 },
  { header: String(nowMs / 1_000 + 30), ms: 30_000 },
  { header: String(nowMs / 1_000 - 30), ms: 0 },
  { header: 'Thu, 01 Jan 2026 00:00:09 GMT', ms: 9_000 },
  { header: 'Wed, 31 Dec 2025 00:00:00 GMT', ms: 0 },
  { header: '9'.repeat(400), ms: undefined },
])
  test(`retry-after: ${header === undefined ? 'no header' : JSON.stringify(header.slice(0, 40))} is ${ms ?? 'nothing'}`, () => {
    expect(retryAfterMs(header, { nowMs, parseDate: Date.parse })).toBe(ms);
  });
