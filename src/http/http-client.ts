/**
 * Every request that the product sends over HTTP or HTTPS: with a limit of time and of the answer's bytes, on kept connections, without redirects. The other side is not trusted.
 */
import type { LookupFunction } from 'node:net';
import type { Transform } from 'node:stream';
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

/** Rejects when the request is no request of HTTP. */
function exchange(agent: Agent, request: HttpRequest): Promise<HttpAnswer> {
  const { method = 'POST', url, headers, body, timeoutMs, answerBytesMax, signal } = request;
  const { origin, pathname, search, username, password } = new URL(url);
  return new Promise((resolve) => {
    let abort: (() => void) | undefined;
    let isOver = false;
    let read: BodyReader | undefined;

    /** `isCut`: the connection cannot be used again. */
    function end(answer: HttpAnswer, isCut: boolean): void {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
      if (isCut) abort?.();
      read?.stop();
      resolve(answer);
    }

    // The timer and the caller's signal end the request themselves: a signal in between, which only the request held, would be collected as garbage and never abort.
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
          // It waited for a connection until it was over.
          if (isOver) abort();
        },
        onResponseStart(controller, status, answerHeaders) {
          // What comes before the answer, as 103.
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
  /** Of the decoded body. */
  readonly bytesMax: number;
  readonly pause: () => void;
  readonly resume: () => void;
  /** The whole body, or as much of it as `bytesMax`. */
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

/** What ends a request (RFC 9110, section 15). */
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
