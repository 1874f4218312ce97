/** Requests to one backend over HTTP, or HTTPS where its address says so, on connections that are kept. */
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import type { ClientTls } from '../../model/client-tls.ts';
import { retryAfterMs } from '../../runtime/retry-after.ts';

export interface HttpClientOptions {
  /** Any address of the backend. */
  readonly url: string;
  readonly tls?: ClientTls;
  /** Longest time for one request, with everything that belongs to it. */
  readonly timeoutMs?: number;
  /** Who resolves names; the machine when left out. */
  readonly lookup?: LookupFunction;
}

export interface HttpClient {
  /** Resolves, never rejects. */
  send(request: Pick<PostOptions, 'method' | 'url' | 'headers' | 'answerBytesMax'>, body: Uint8Array): Promise<Answer>;
  /** Ends the connections, and with them what is under way. */
  stop(): void;
}

export const timeoutMsDefault = 10_000;

export function httpClient({ url, tls, timeoutMs = timeoutMsDefault, lookup }: HttpClientOptions): HttpClient {
  const isTls = url.startsWith('https:');
  const options = { keepAlive: true, ...(lookup === undefined ? {} : { lookup }), ...(isTls ? tls : {}) };
  const agent = isTls ? new https.Agent(options) : new http.Agent(options);
  const own = { timeoutMs, request: isTls ? https.request : http.request, agent };
  return { send: (request, body) => post({ ...request, ...own }, body), stop: () => agent.destroy() };
}

export type Answer =
  /** `isPage`: it is HTML. */
  | { readonly kind: 'answered'; readonly status: number; readonly retryAfterMs?: number; readonly isPage?: true; readonly body: Buffer }
  /** `fault`: a code, never a message. */
  | { readonly kind: 'unanswered'; readonly fault: string };

export interface PostOptions {
  /** What of an answer is kept; the rest is read away. */
  readonly answerBytesMax?: number;
  /** POST when left out. */
  readonly method?: string;
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  readonly timeoutMs: number;
  /** `request` of node:http or node:https. */
  readonly request: typeof http.request;
  readonly agent: http.Agent;
}

const answerBytesMaxDefault = 64 * 1024;

/** Resolves, never rejects. Redirects are not followed. */
export function post(
  { method = 'POST', url, headers, timeoutMs, request, agent, answerBytesMax = answerBytesMaxDefault }: PostOptions,
  body: Uint8Array,
): Promise<Answer> {
  return new Promise((resolve) => {
    const sent = request(url, { method, agent, headers: { ...headers, 'content-length': body.length } }, (response) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        if (bytes < answerBytesMax) chunks.push(chunk);
        bytes += chunk.length;
      });
      response.on('end', () =>
        done({
          kind: 'answered',
          status: response.statusCode ?? 0,
          ...retryAfter(response),
          ...(/^text\/html\b/i.test(response.headers['content-type'] ?? '') ? { isPage: true } : {}),
          body: Buffer.concat(chunks).subarray(0, answerBytesMax),
        }),
      );
      response.on('error', failed);
    });
    const timer = setTimeout(() => {
      done({ kind: 'unanswered', fault: `no answer within ${timeoutMs} ms` });
      sent.destroy();
    }, timeoutMs);

    function done(answer: Answer): void {
      clearTimeout(timer);
      resolve(answer);
    }

    /** Messages may hold what the backend sent; the code says enough and is never secret. */
    function failed(error: NodeJS.ErrnoException): void {
      done({ kind: 'unanswered', fault: error.code ?? 'no answer' });
    }

    sent.on('error', failed);
    sent.end(body);
  });
}

/** `Retry-After`; of status 429 without it, when the limit begins anew. */
function retryAfter({ statusCode, headers }: IncomingMessage): { readonly retryAfterMs?: number } {
  const resets = statusCode === tooMany ? [headers['ratelimit-reset'], headers['x-ratelimit-reset']] : [];
  const header = [headers['retry-after'], ...resets].find((value) => typeof value === 'string');
  const ms = retryAfterMs(header, { nowMs: Date.now(), parseDate: Date.parse }) ?? 0;
  return ms > 0 ? { retryAfterMs: ms } : {};
}

const tooMany = 429;
