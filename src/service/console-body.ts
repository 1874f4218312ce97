/** Bodies of requests to the console, under the account of all requests in flight. */
import type { IncomingMessage } from 'node:http';
import { JuryError } from '../model/errors.ts';
import { readBody } from '../receivers/body.ts';
import type { ByteLease } from '../receivers/byte-budget.ts';

/** Rejects with an error that has the status of its answer. */
export function consoleBody(lease: ByteLease): (request: IncomingMessage, bytesMax: number) => Promise<Buffer> {
  return async (request, bytesMax) => {
    const taken = lease();
    try {
      const { body } = await readBody(request, {
        encoding: 'identity',
        bodyBytesMax: bytesMax,
        inflatedBytesMax: bytesMax,
        leasedBytes: 0,
        lease: taken,
        received: () => undefined,
      });
      return body;
    } catch (error) {
      throw Object.assign(new Error('the body could not be read'), { statusCode: error instanceof JuryError ? error.status : 400 });
    } finally {
      taken.release();
    }
  };
}
