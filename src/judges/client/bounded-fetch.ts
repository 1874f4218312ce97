/** `fetch` for an endpoint that is not fully trusted: the whole answer is read within the request's time limit and up to a size, redirects are not followed. */
import type { ClientTls } from '../../model/client-tls.ts';
import { tlsFetch } from './tls-fetch.ts';

export class AnswerTooLarge extends Error {
  readonly bytesMax: number;

  constructor(bytesMax: number) {
    super(`The answer is larger than ${bytesMax} bytes.`);
    this.name = 'AnswerTooLarge';
    this.bytesMax = bytesMax;
  }
}

/** `tls`: certificates for HTTPS; left out: those of Node. */
export function boundedFetch(bytesMax: number, tls?: ClientTls): typeof fetch {
  const own = tls === undefined ? undefined : tlsFetch(tls);
  return async (input, init) => {
    // A redirect would carry the key and the run's texts to wherever the answer says. As an answer of its own it is just a wrong status.
    const response = await (own ?? fetch)(input, { ...init, redirect: 'manual' });
    const headers = new Headers(response.headers);
    // The body below is decoded already.
    headers.delete('content-encoding');
    headers.delete('content-length');
    const body = response.body === null ? null : await bytesOf(response.body, bytesMax);
    return new Response(body, { status: response.status, statusText: response.statusText, headers });
  };
}

async function bytesOf(body: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    // Leaving the loop cancels the body and with it the connection.
    if (size > bytesMax) throw new AnswerTooLarge(bytesMax);
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}
