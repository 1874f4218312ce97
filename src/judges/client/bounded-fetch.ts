/** `fetch` for an endpoint that is not fully trusted: the whole answer is read within the request's time limit and up to a size, redirects are not followed. */
import https from 'node:https';
import type { IncomingMessage } from 'node:http';
import { addAbortSignal, pipeline, Readable, type Duplex } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { ClientTls } from '../../model/client-tls.ts';

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

/** A connection that nobody uses for so long is closed, as those of Node's own are. */
const idleMs = 4_000;

/** None is asked for; some servers compress all the same. */
const decoders: { readonly [encoding: string]: () => Duplex } = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};
const bodilessStatuses: ReadonlySet<number> = new Set([204, 205, 304]);

export function tlsFetch(tls: ClientTls): typeof fetch {
  const agent = new https.Agent({ ...tls, keepAlive: true, timeout: idleMs });
  return async (input, init) => {
    const request = new Request(input, init);
    const body = Buffer.from(await request.arrayBuffer());
    // The caller's own signal: the one of a Request is forgotten, and never aborts, once the Request is collected as garbage.
    const signal = init?.signal ?? undefined;
    return answerOf(await answered(request, body, agent, signal), signal);
  };
}

function answered(
  { url, method, headers }: Request,
  body: Buffer,
  agent: https.Agent,
  signal: AbortSignal | undefined,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = https.request(
      url,
      {
        method,
        agent,
        ...(signal === undefined ? {} : { signal }),
        headers: { ...Object.fromEntries(headers), 'accept-encoding': 'identity', 'content-length': body.length },
      },
      resolve,
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Whoever reads the body is told when it ends early, and when that is because of the signal. */
function answerOf(message: IncomingMessage, signal: AbortSignal | undefined): Response {
  const { statusCode: status = 0, statusMessage: statusText = '' } = message;
  // No answer has such a status: nobody would read its body to the end.
  if (status < 200 || status > 599) {
    message.destroy();
    throw new Error(`status ${status}`);
  }
  const headers = new Headers(
    Object.entries(message.headersDistinct).flatMap(([name, values = []]) => values.map((value): [string, string] => [name, value])),
  );
  if (bodilessStatuses.has(status)) {
    message.resume();
    return new Response(null, { status, statusText, headers });
  }
  const body = decoded(message);
  return new Response(Readable.toWeb(signal === undefined ? body : addAbortSignal(signal, body)) as ReadableStream<Uint8Array>, {
    status,
    statusText,
    headers,
  });
}

function decoded(message: IncomingMessage): Readable {
  const decoder = decoders[message.headers['content-encoding']?.trim().toLowerCase() ?? '']?.();
  // What goes wrong on the way ends the decoder, and is told to its reader.
  return decoder === undefined ? message : pipeline(message, decoder, () => undefined);
}
