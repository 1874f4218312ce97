/** Every error that Fastify and Node can raise has an answer in the protocol's words. */
import { errorCodes } from 'fastify';
import { describe, expect, test } from 'vitest';
import { errorCatalogue, JuryError, type ErrorCode } from '../../../src/model/errors.ts';
import { parserRejection, rejectionOf } from '../../../src/receivers/rejection.ts';

describe('otlp_http refusals', () => {
  for (const [code, FastifyError] of Object.entries(errorCodes)) {
    test(`otlp_http: ${code} becomes a status and a sentence of ours`, () => {
      const error = new FastifyError('something private');
      const refusal = rejectionOf(error);
      expect(refusal.status).toBe(error.statusCode !== undefined && error.statusCode >= 400 ? error.statusCode : 500);
      expect(refusal.message).not.toContain('private');
      expect(refusal.message).toMatch(/\.$/);
    });
  }

  for (const code of Object.keys(errorCatalogue) as readonly ErrorCode[]) {
    test(`otlp_http: ${code} is answered with its own status, and Retry-After when it passes`, () => {
      const refusal = rejectionOf(new JuryError(code, 'This time.'));
      expect(refusal.status).toBe(errorCatalogue[code].status);
      expect(refusal.message).toContain('This time.');
      expect(refusal.retryAfterSeconds).toBe(errorCatalogue[code].retryable ? 1 : undefined);
    });
  }

  const parser = [
    ['ERR_HTTP_REQUEST_TIMEOUT', 408],
    ['HPE_HEADER_OVERFLOW', 431],
    ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 413],
    ['HPE_INVALID_METHOD', 400],
  ] as const;
  for (const [code, status] of parser)
    test(`otlp_http: the parser's ${code} is answered ${status}`, () => expect(parserRejection({ code })).toMatchObject({ status }));

  test('otlp_http: a thrown value that is not an error is a fault of the service', () => {
    for (const thrown of [undefined, null, 'text', { statusCode: 200 }, { statusCode: 'x' }])
      expect(rejectionOf(thrown)).toMatchObject({ status: 500 });
  });
});
