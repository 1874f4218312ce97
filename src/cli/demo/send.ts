/** Posts spans in batches, as an exporter does: it retries when the service asks for it, within bounds. */
import { httpClient, type HttpAnswer, type HttpClient } from '../../http/http-client.ts';
import type { Span } from '../../model/span.ts';
import type { Sleep } from '../../model/clock.ts';
import { writeTraces } from '../../otlp/write/write.ts';

export interface SendOptions {
  /** The whole URL. */
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  readonly sleep: Sleep;
}

export type Sent =
  | { readonly kind: 'sent'; readonly requests: number; readonly bytes: number }
  | { readonly kind: 'not_listening' }
  | { readonly kind: 'refused'; readonly why: string };

const spansPerRequest = 100;
const triesMax = 6;
const answerWithinMs = 15_000;
const retryAfterMsMax = 10_000;
const firstPauseMs = 500;
const whyCharsMax = 300;
const answerBytesMax = 64 * 1024;

export async function sendSpans(spans: readonly Span[], options: SendOptions): Promise<Sent> {
  const http = httpClient();
  let bytes = 0;
  let requests = 0;
  try {
    for (let at = 0; at < spans.length; at += spansPerRequest) {
      const body = writeTraces(spans.slice(at, at + spansPerRequest), 'protobuf');
      const end = await post(body, http, options);
      if (end.kind !== 'sent') return end;
      bytes += body.length;
      requests++;
    }
  } finally {
    http.stop();
  }
  return { kind: 'sent', requests, bytes };
}

async function post(body: Buffer, http: HttpClient, { url, headers, sleep }: SendOptions): Promise<Sent> {
  let why = '';
  for (let tried = 0; tried < triesMax; tried++) {
    const answer = await http.send({
      url,
      headers: { ...headers, 'content-type': 'application/x-protobuf' },
      body,
      timeoutMs: answerWithinMs,
      answerBytesMax,
    });
    if (answer.kind === 'unanswered') {
      if (answer.reason === 'failed' && answer.code === 'ECONNREFUSED') return { kind: 'not_listening' };
      return { kind: 'refused', why: failureText(answer) };
    }
    const { status } = answer;
    if (status < 300) return { kind: 'sent', requests: 1, bytes: body.length };
    why = `${status} ${answer.body.toString().slice(0, whyCharsMax)}`.trim();
    if (status !== 429 && status !== 503) return { kind: 'refused', why };
    await sleep(pauseMs(answer.headers['retry-after'], tried));
  }
  return { kind: 'refused', why: `${why} (after ${triesMax} tries)` };
}

/** What the service asks for in seconds; without a word from it, twice as long each time. */
function pauseMs(retryAfter: string | undefined, tried: number): number {
  const seconds = retryAfter === undefined ? Number.NaN : Number(retryAfter);
  return Math.min(retryAfterMsMax, Number.isFinite(seconds) && seconds >= 0 ? seconds * 1_000 : firstPauseMs * 2 ** tried);
}

/** Why no answer came. */
export function failureText(answer: Extract<HttpAnswer, { readonly kind: 'unanswered' }>): string {
  if (answer.reason === 'timed_out') return `no answer within ${answer.afterMs / 1_000} s`;
  return answer.reason === 'failed' ? answer.code : 'stopped';
}
