/**
 * Every request that the product sends over HTTP or HTTPS: with a limit of time and of the answer's bytes, on kept connections, without redirects. The other side is not trusted.
 */
import type { LookupFunction } from 'node:net';
import { pipeline, type Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Agent } from 'undici';
import type { ClientTls } from '../model/client-tls.ts';

export interface HttpClientOptions {
  /** Certificates for HTTPS; those of Node when left out. */
  readonly tls?: ClientTls | undefined;
  /** Resolves names; the machine does when left out. */
  readonly lookup?: LookupFunction | undefined;
}

export interface HttpRequest {
  /** POST when left out. */
  readonly method?: string;
  /** A user in it becomes the header `authorization`, unless `headers` have one. */
  readonly url: string;
  readonly headers: HttpHeaders;
  readonly body?: Uint8Array;
  /** Of the whole request: name, connection, answer. */
  readonly timeoutMs: number;
  /** Bytes of the answer that are read, after decompression. At the limit the connection ends. */
  readonly answerBytesMax: number;
  readonly signal?: AbortSignal | undefined;
}

export interface HttpHeaders {
  readonly [name: string]: string;
}

export type HttpAnswer =
  | {
      readonly kind: 'answered';
      readonly status: number;
      /** Names in lower case; several values of one name are joined by a comma. */
      readonly headers: HttpHeaders;
      readonly body: Buffer;
      /** The answer is larger than `answerBytesMax`. */
      readonly isCut: boolean;
    }
  /** `phase`: before `request` there was no connection that could take it. */
  | { readonly kind: 'unanswered'; readonly reason: 'timed_out'; readonly phase: 'connection' | 'request'; readonly afterMs: number }
  | { readonly kind: 'unanswered'; readonly reason: 'aborted' }
  /** `code`: of Node, OpenSSL or undici, such as ECONNREFUSED. A message is left out: it may quote what the other side sent. */
  | { readonly kind: 'unanswered'; readonly reason: 'failed'; readonly code: string };

export interface HttpClient {
  /** Resolves, never rejects. */
  send(request: HttpRequest): Promise<HttpAnswer>;
  /** Ends the connections, and with them what is under way. */
  stop(): void;
}

/** Longest wait for a connection. */
const connectMsMax = 10_000;
/** A connection without a request ends after this time: sooner than servers close theirs, so that no request meets a closing one. */
const idleMs = 4_000;

const decoders: { readonly [encoding: string]: () => Transform } = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** Codes of undici that say the same as one of Node. */
const nodeCodes: { readonly [code: string]: string } = {
  UND_ERR_SOCKET: 'ECONNRESET',
  UND_ERR_CLOSED: 'ECONNRESET',
  UND_ERR_DESTROYED: 'ECONNRESET',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'ECONNRESET',
  UND_ERR_HEADERS_OVERFLOW: 'HPE_HEADER_OVERFLOW',
};

export function httpClient(options: HttpClientOptions = {}): HttpClient {
  const opened = agentOf(options);
  return {
    async send(request) {
      const { timeoutMs, signal } = request;
      const ending = new AbortController();
      let isLate = false;
      // The timer and the caller's signal hold the request until it ends: a signal that only the request held would be collected as garbage, and never abort.
      const timer = setTimeout(() => {
        isLate = true;
        ending.abort();
      }, timeoutMs);
      const abort = (): void => ending.abort();
      if (signal?.aborted === true) abort();
      signal?.addEventListener('abort', abort, { once: true });
      try {
        return await exchange(await opened, request, ending.signal);
      } catch (error) {
        if (isLate) return { kind: 'unanswered', reason: 'timed_out', phase: 'request', afterMs: timeoutMs };
        if (ending.signal.aborted) return { kind: 'unanswered', reason: 'aborted' };
        const code = codeOf(error);
        return code === 'UND_ERR_CONNECT_TIMEOUT'
          ? { kind: 'unanswered', reason: 'timed_out', phase: 'connection', afterMs: connectMsMax }
          : { kind: 'unanswered', reason: 'failed', code };
      } finally {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
      }
    },
    stop: () => void opened.then((agent) => agent.destroy()),
  };
}

/** Loaded with the first client: a service that sends nothing does not need its megabytes. */
async function agentOf({ tls, lookup }: HttpClientOptions): Promise<Agent> {
  const { Agent: Pool } = await import('undici');
  return new Pool({
    allowH2: false,
    keepAliveTimeout: idleMs,
    // The time of the whole request is limited.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { ...tls, ...(lookup === undefined ? {} : { lookup }), timeout: connectMsMax },
  });
}

async function exchange(agent: Agent, request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer> {
  const { method = 'POST', url, headers, body, answerBytesMax } = request;
  const { origin, pathname, search, username, password } = new URL(url);
  const response = await agent.request({
    origin,
    path: pathname + search,
    method,
    headers: withUser(headers, username, password),
    ...(body === undefined ? {} : { body }),
    signal,
  });
  const answered = headersOf(response.headers);
  const read = await bodyOf(response.body, answered['content-encoding'], answerBytesMax);
  const status = response.statusCode;
  return isStatus(status)
    ? { kind: 'answered', status, headers: answered, ...read }
    : { kind: 'unanswered', reason: 'failed', code: 'HPE_INVALID_STATUS' };
}

/** What ends a request (RFC 9110, section 15). */
function isStatus(status: number): boolean {
  return status >= 200 && status <= 599;
}

async function bodyOf(
  body: Readable,
  encoding: string | undefined,
  bytesMax: number,
): Promise<{ readonly body: Buffer; readonly isCut: boolean }> {
  const decoder = decoders[encoding?.trim().toLowerCase() ?? '']?.();
  const chunks: Buffer[] = [];
  let bytes = 0;
  // An error of one of them ends all, and reaches the loop.
  const source = decoder === undefined ? body : pipeline(body, decoder, () => undefined);
  for await (const chunk of source as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    // Leaving the loop ends the body, and with it the connection.
    if (bytes > bytesMax) break;
  }
  return { body: Buffer.concat(chunks).subarray(0, bytesMax), isCut: bytes > bytesMax };
}

function headersOf(headers: { readonly [name: string]: string | string[] | undefined }): HttpHeaders {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  );
}

function withUser(headers: HttpHeaders, username: string, password: string): HttpHeaders {
  const user = [username, password].map(decoded).join(':');
  if (user === ':' || Object.keys(headers).some((name) => name.toLowerCase() === 'authorization')) return headers;
  return { ...headers, authorization: `Basic ${Buffer.from(user).toString('base64')}` };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Causes of errors form short chains, and none may be a ring. */
const causesMax = 10;

/** The first code in the chain of causes. */
function codeOf(error: unknown): string {
  for (let one = error, depth = 0; one instanceof Error && depth < causesMax; one = one.cause, depth++) {
    const code: unknown = 'code' in one ? one.code : undefined;
    if (typeof code === 'string' && code !== '') return nodeCodes[code] ?? code;
  }
  return 'no answer';
}
