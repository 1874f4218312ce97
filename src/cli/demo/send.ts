/** Posts spans in batches, as an exporter does: it waits and tries again when the service says so, within bounds. */
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

export async function sendSpans(spans: readonly Span[], options: SendOptions): Promise<Sent> {
  let bytes = 0;
  let requests = 0;
  for (let at = 0; at < spans.length; at += spansPerRequest) {
    const body = writeTraces(spans.slice(at, at + spansPerRequest), 'protobuf');
    const end = await post(body, options);
    if (end.kind !== 'sent') return end;
    bytes += body.length;
    requests++;
  }
  return { kind: 'sent', requests, bytes };
}

async function post(body: Buffer, { url, headers, sleep }: SendOptions): Promise<Sent> {
  let why = '';
  for (let tried = 0; tried < triesMax; tried++) {
    let response: Response;
    try {
      response = await fetch(url, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/x-protobuf' },
        body: new Uint8Array(body),
        redirect: 'error',
        signal: AbortSignal.timeout(answerWithinMs),
      });
    } catch (error) {
      if (isRefusedConnection(error)) return { kind: 'not_listening' };
      return { kind: 'refused', why: failureText(error) };
    }
    const text = (await response.text().catch(() => '')).slice(0, whyCharsMax);
    if (response.ok) return { kind: 'sent', requests: 1, bytes: body.length };
    why = `${response.status} ${text}`.trim();
    if (response.status !== 429 && response.status !== 503) return { kind: 'refused', why };
    await sleep(pauseMs(response.headers.get('retry-after'), tried));
  }
  return { kind: 'refused', why: `${why} (after ${triesMax} tries)` };
}

/** What the service asks for in seconds; without a word from it, twice as long each time. */
function pauseMs(retryAfter: string | null, tried: number): number {
  const seconds = retryAfter === null ? Number.NaN : Number(retryAfter);
  return Math.min(retryAfterMsMax, Number.isFinite(seconds) && seconds >= 0 ? seconds * 1_000 : firstPauseMs * 2 ** tried);
}

/** What fetch hides behind `fetch failed`. */
export function failureText(error: unknown): string {
  if (!(error instanceof Error)) return 'no answer';
  return error.cause instanceof Error && error.cause.message !== '' ? error.cause.message : error.message;
}

function isRefusedConnection(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  const inside: readonly unknown[] = cause instanceof AggregateError ? cause.errors : [];
  const codes = [cause, ...inside].map((one) => (one instanceof Error && 'code' in one ? one.code : undefined));
  return codes.includes('ECONNREFUSED');
}
