/** Requests to one backend over HTTP, or HTTPS where its address says so, on connections that are kept. */
import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import type { ClientTls } from '../../model/client-tls.ts';
import { post, type Answer, type PostOptions } from './http-request.ts';

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
