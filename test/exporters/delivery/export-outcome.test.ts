import { expect, test } from 'vitest';
import { exportOutcome } from '../../../src/exporters/delivery/export-outcome.ts';
import type { Answer } from '../../../src/exporters/delivery/http-client.ts';

const answered = (status: number, retryAfterMs?: number): Answer => ({
  kind: 'answered',
  status,
  body: Buffer.from('secret of the backend'),
  ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
});

const cases = [
  { name: '200 is sent', answer: answered(200), want: { kind: 'sent' } },
  { name: '202 is sent', answer: answered(202), want: { kind: 'sent' } },
  {
    name: '429 may be tried again, at the time of the backend',
    answer: answered(429, 7_000),
    want: { kind: 'failed', retryable: true, error: 'status 429', retryAfterMs: 7_000 },
  },
  { name: '500 may be tried again', answer: answered(500), want: { kind: 'failed', retryable: true, error: 'status 500' } },
  {
    name: 'a backend that cannot do it may be another one later',
    answer: answered(501),
    want: { kind: 'failed', retryable: true, error: 'status 501' },
  },
  { name: 'a key that is not taken may be mended', answer: answered(401), want: { kind: 'failed', retryable: true, error: 'status 401' } },
  {
    name: 'an address that is not there may be mended',
    answer: answered(404),
    want: { kind: 'failed', retryable: true, error: 'status 404' },
  },
  {
    name: 'a redirect is not followed, and may be mended',
    answer: answered(302),
    want: { kind: 'failed', retryable: true, error: 'status 302' },
  },
  {
    name: 'an encoding that is not taken may be mended',
    answer: answered(415),
    want: { kind: 'failed', retryable: true, error: 'status 415' },
  },
  { name: '400 is about the item', answer: answered(400), want: { kind: 'failed', retryable: false, error: 'status 400' } },
  { name: '413 is about the item', answer: answered(413), want: { kind: 'failed', retryable: false, error: 'status 413' } },
  { name: '422 is about the item', answer: answered(422), want: { kind: 'failed', retryable: false, error: 'status 422' } },
  {
    name: 'no answer may be tried again',
    answer: { kind: 'unanswered', fault: 'ECONNRESET' },
    want: { kind: 'failed', retryable: true, error: 'ECONNRESET' },
  },
  {
    name: 'a certificate that is not trusted may be mended',
    answer: { kind: 'unanswered', fault: 'SELF_SIGNED_CERT_IN_CHAIN' },
    want: { kind: 'failed', retryable: true, error: 'SELF_SIGNED_CERT_IN_CHAIN' },
  },
] as const satisfies readonly { readonly name: string; readonly answer: Answer; readonly want: object }[];
for (const { name, answer, want } of cases) {
  test(`export-outcome: ${name}`, () => {
    expect(exportOutcome(answer)).toEqual(want);
  });
}
