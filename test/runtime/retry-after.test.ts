import { expect, test } from 'vitest';
import { retryAfterMs } from '../../src/runtime/retry-after.ts';

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
