/**
 * The HTTP client of every outgoing request: it limits time and answer bytes, keeps connections, and follows no redirects. It does not
 * trust the server.
 */
import type { LookupFunction } from 'node:net';
import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Agent } from 'undici';
import type { ClientTls } from '../model/client-tls.ts';
import { percentDecoded } from '../model/percent-decoded.ts';

export interface HttpClientOptions {
  /** Certificates for HTTPS. Default: those of Node. */
  readonly tls?: ClientTls | undefined;
  /** Resolves host names. Default: the resolver of the machine. */
  readonly lookup?: LookupFunction | undefined;
}

export interface HttpRequest {
  /** Default: POST. */
  readonly method?: string;
  /** A user in the URL becomes the header `authorization`, unless `headers` contains one. */
  readonly url: string;
  readonly headers: HttpHeaders;
  readonly body?: Uint8Array;
  /** Timeout of the whole request: name look-up, connection and answer. */
  readonly timeoutMs: number;
  /** Limit of the body after decompression. At the limit the connection ends. */
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
      /** True when the answer is larger than `answerBytesMax`. */
      readonly isCut: boolean;
    }
  /** `phase`: `connection` when no connection was available. */
  | { readonly kind: 'unanswered'; readonly reason: 'timed_out'; readonly phase: 'connection' | 'request'; readonly afterMs: number }
  | { readonly kind: 'unanswered'; readonly reason: 'aborted' }
  /** `code`: of Node, OpenSSL or undici, such as ECONNREFUSED. Messages are left out, as they may quote the server. */
  | { readonly kind: 'unanswered'; readonly reason: 'failed'; readonly code: string };

export interface HttpClient {
  /** Resolves, never rejects. */
  send(request: HttpRequest): Promise<HttpAnswer>;
  /** Closes the connections and aborts the requests in progress. */
  stop(): void;
}

/** Timeout of a connection attempt. */
const connectMsMax = 10_000;
/** Idle connections close sooner than servers close theirs, so no request meets a closing one. */
const idleMs = 4_000;

const decoders: { readonly [encoding: string]: () => Transform } = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** undici codes and the Node codes of the same meaning. */
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
      if (request.signal?.aborted === true) return aborted;
      try {
        return await exchange(await opened, request);
      } catch (error) {
        return failed(error);
      }
    },
    stop: () => void opened.then((agent) => agent.destroy()),
  };
}

const aborted = { kind: 'unanswered', reason: 'aborted' } as const;

function failed(error: unknown): HttpAnswer {
  const code = codeOf(error);
  return code === 'UND_ERR_CONNECT_TIMEOUT'
    ? { kind: 'unanswered', reason: 'timed_out', phase: 'connection', afterMs: connectMsMax }
    : { kind: 'unanswered', reason: 'failed', code };
}

/** Imports undici with the first client, as a service that sends nothing does not need its megabytes. */
async function agentOf({ tls, lookup }: HttpClientOptions): Promise<Agent> {
  const { Agent: Pool } = await import('undici');
  return new Pool({
    allowH2: false,
    keepAliveTimeout: idleMs,
    // `timeoutMs` limits the whole request.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { ...tls, ...(lookup === undefined ? {} : { lookup }), timeout: connectMsMax },
  });
}

/** Rejects when the URL or a header is invalid. */
function exchange(agent: Agent, request: HttpRequest): Promise<HttpAnswer> {
  const { method = 'POST', url, headers, body, timeoutMs, answerBytesMax, signal } = request;
  const { origin, pathname, search, username, password } = new URL(url);
  return new Promise((resolve) => {
    let abort: (() => void) | undefined;
    let isOver = false;
    let read: BodyReader | undefined;

    /** `isCut`: the connection must not be reused. */
    function end(answer: HttpAnswer, isCut: boolean): void {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
      if (isCut) abort?.();
      read?.stop();
      resolve(answer);
    }

    // The timer and the caller's signal end the request directly. A signal derived from both would be reachable only from the request, and
    // garbage collection could take it before it aborts.
    const stop = (): void => end(aborted, true);
    const late = (): void => end({ kind: 'unanswered', reason: 'timed_out', phase: 'request', afterMs: timeoutMs }, true);
    const timer = setTimeout(late, timeoutMs);
    signal?.addEventListener('abort', stop, { once: true });

    const path = pathname + search;
    agent.dispatch(
      { origin, path, method, headers: withUser(headers, username, password), ...(body === undefined ? {} : { body }) },
      {
        onRequestStart(controller) {
          abort = () => controller.abort(new Error('aborted'));
          // The request ended while it waited for a connection.
          if (isOver) abort();
        },
        onResponseStart(controller, status, answerHeaders) {
          // An informational response, such as 103, comes before the answer.
          if (status < 200 || isOver) return;
          const named = headersOf(answerHeaders);
          read = bodyReader({
            encoding: named['content-encoding'],
            bytesMax: answerBytesMax,
            pause: () => controller.pause(),
            resume: () => controller.resume(),
            onEnd: (bytes, isCut) =>
              end(
                isStatus(status)
                  ? { kind: 'answered', status, headers: named, body: bytes, isCut }
                  : { kind: 'unanswered', reason: 'failed', code: 'HPE_INVALID_STATUS' },
                isCut,
              ),
            onFault: (error) => end(failed(error), true),
          });
        },
        onResponseData: (_, chunk) => read?.write(chunk),
        onResponseEnd: () => read?.end(),
        onResponseError: (_, error) => end(failed(error), true),
      },
    );
  });
}

interface BodyReader {
  write(chunk: Buffer): void;
  end(): void;
  stop(): void;
}

interface BodyReaderOptions {
  readonly encoding: string | undefined;
  /** Limit of the decoded body. */
  readonly bytesMax: number;
  readonly pause: () => void;
  readonly resume: () => void;
  /** Called with the body, cut at `bytesMax`. */
  readonly onEnd: (bytes: Buffer, isCut: boolean) => void;
  readonly onFault: (error: unknown) => void;
}

function bodyReader({ encoding = '', bytesMax, pause, resume, onEnd, onFault }: BodyReaderOptions): BodyReader {
  const chunks: Buffer[] = [];
  let bytes = 0;

  function take(chunk: Buffer): void {
    if (bytes > bytesMax) return;
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > bytesMax) onEnd(Buffer.concat(chunks).subarray(0, bytesMax), true);
  }

  const done = (): void => onEnd(Buffer.concat(chunks), false);
  const decoder = decoders[encoding.trim().toLowerCase()]?.();
  if (decoder === undefined) return { write: take, end: done, stop: () => undefined };
  decoder.on('data', take).on('end', done).on('error', onFault).on('drain', resume);
  return {
    write(chunk) {
      if (!decoder.write(chunk)) pause();
    },
    end: () => void decoder.end(),
    stop: () => void decoder.destroy(),
  };
}

/** True when the status is final (RFC 9110, section 15). */
function isStatus(status: number): boolean {
  return status >= 200 && status <= 599;
}

function headersOf(headers: { readonly [name: string]: string | string[] | undefined }): HttpHeaders {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  );
}

function withUser(headers: HttpHeaders, username: string, password: string): HttpHeaders {
  const user = [username, password].map(percentDecoded).join(':');
  if (user === ':' || Object.keys(headers).some((name) => name.toLowerCase() === 'authorization')) return headers;
  return { ...headers, authorization: `Basic ${Buffer.from(user).toString('base64')}` };
}

/** Limit of the chain of causes, which may be a ring. */
const causesMax = 10;

/** The first code in the chain of causes. */
function codeOf(error: unknown): string {
  for (let one = error, depth = 0; one instanceof Error && depth < causesMax; one = one.cause, depth++) {
    const code: unknown = 'code' in one ? one.code : undefined;
    if (typeof code === 'string' && code !== '') return nodeCodes[code] ?? code;
  }
  return 'no answer';
}
