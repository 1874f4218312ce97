/** Posts OTLP requests for a command, and retries within bounds when the service asks for it. */
import { type HttpAnswer, httpClient, type HttpClient } from '../http/http-client.ts';
import type { Sleep } from '../model/clock.ts';

export interface PostOptions {
  /** The whole URL. */
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  readonly sleep: Sleep;
  /** Attempts of one request. Default: 6. */
  readonly triesMax?: number;
}

export type Posted =
  | { readonly kind: 'sent'; readonly requests: number; readonly bytes: number }
  /** The connection failed, or no answer came in time. `isListening`: something took the connection. */
  | { readonly kind: 'unanswered'; readonly isListening: boolean; readonly why: string }
  | { readonly kind: 'refused'; readonly why: string };

export interface OtlpBody {
  readonly contentType: 'application/x-protobuf' | 'application/json';
  readonly body: Buffer;
}

const triesDefault = 6;
const sendTimeoutMs = 15_000;
const retryAfterMsMax = 10_000;
const firstPauseMs = 500;
const whyCharsMax = 300;
const answerBytesMax = 64 * 1024;

/** Ends at the first request that the service does not take. */
export async function postAll(bodies: Iterable<OtlpBody>, options: PostOptions): Promise<Posted> {
  const http = httpClient();
  let [requests, bytes] = [0, 0];
  try {
    for (const one of bodies) {
      const end = await post(one, http, options);
      if (end.kind !== 'sent') return end;
      bytes += one.body.length;
      requests++;
    }
  } finally {
    http.stop();
  }
  return { kind: 'sent', requests, bytes };
}

async function post(
  { body, contentType }: OtlpBody,
  http: HttpClient,
  { url, headers, sleep, triesMax = triesDefault }: PostOptions,
): Promise<Posted> {
  let why = '';
  for (let tried = 0; tried < triesMax; tried++) {
    const answer = await http.send({
      url,
      headers: { ...headers, 'content-type': contentType },
      body,
      timeoutMs: sendTimeoutMs,
      answerBytesMax,
    });
    if (answer.kind === 'unanswered') {
      const isListening = answer.reason !== 'failed' || answer.code !== 'ECONNREFUSED';
      return { kind: 'unanswered', isListening, why: failureText(answer) };
    }
    const { status } = answer;
    if (status < 300) return { kind: 'sent', requests: 1, bytes: body.length };
    why = `${status} ${answer.body.toString().slice(0, whyCharsMax)}`.trim();
    if (status !== 429 && status !== 503) return { kind: 'refused', why };
    await sleep(pauseMs(answer.headers['retry-after'], tried));
  }
  return { kind: 'refused', why: `${why} (after ${triesMax} tries)` };
}

/** The Retry-After of the service, otherwise exponential backoff. */
function pauseMs(retryAfter: string | undefined, tried: number): number {
  const seconds = retryAfter === undefined ? Number.NaN : Number(retryAfter);
  return Math.min(retryAfterMsMax, Number.isFinite(seconds) && seconds >= 0 ? seconds * 1_000 : firstPauseMs * 2 ** tried);
}

export function failureText(answer: Extract<HttpAnswer, { readonly kind: 'unanswered' }>): string {
  if (answer.reason === 'timed_out') return `no answer within ${answer.afterMs / 1_000} s`;
  return answer.reason === 'failed' ? answer.code : 'stopped';
}
