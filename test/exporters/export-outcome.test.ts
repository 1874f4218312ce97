import { expect, test } from 'vitest';
import { exportOutcome } from '../../src/exporters/export-outcome.ts';

const error = (code?: unknown) => Object.assign(new Error('secret of the backend'), code === undefined ? {} : { code });

const cases = [
  { name: 'success is sent', result: { code: 0 }, want: { kind: 'sent' } },
  { name: '429 may be tried again', result: { code: 1, error: error(429) }, want: { kind: 'failed', retryable: true, error: 'status 429' } },
  { name: '500 may be tried again', result: { code: 1, error: error(500) }, want: { kind: 'failed', retryable: true, error: 'status 500' } },
  { name: '501 is lasting', result: { code: 1, error: error(501) }, want: { kind: 'failed', retryable: false, error: 'status 501' } },
  { name: '413 is lasting', result: { code: 1, error: error(413) }, want: { kind: 'failed', retryable: false, error: 'status 413' } },
  { name: 'a broken connection may be tried again', result: { code: 1, error: error('ECONNRESET') }, want: { kind: 'failed', retryable: true, error: 'ECONNRESET' } },
  { name: 'a name that does not resolve may be tried again', result: { code: 1, error: error('ENOTFOUND') }, want: { kind: 'failed', retryable: true, error: 'ENOTFOUND' } },
  { name: 'a certificate that is not trusted is lasting', result: { code: 1, error: error('SELF_SIGNED_CERT_IN_CHAIN') }, want: { kind: 'failed', retryable: false, error: 'SELF_SIGNED_CERT_IN_CHAIN' } },
  { name: 'what is not HTTP is lasting', result: { code: 1, error: error('HPE_INVALID_CONSTANT') }, want: { kind: 'failed', retryable: false, error: 'HPE_INVALID_CONSTANT' } },
  { name: 'no code at all may be tried again', result: { code: 1, error: error() }, want: { kind: 'failed', retryable: true, error: 'no answer, or one that asks to try again' } },
  { name: 'not even an error may be tried again', result: { code: 1 }, want: { kind: 'failed', retryable: true, error: 'no answer, or one that asks to try again' } },
];
for (const { name, result, want } of cases) {
  test(`export-outcome: ${name}`, () => {
    expect(exportOutcome(result)).toEqual(want);
  });
}
