/** Sends requests to one backend over HTTP or HTTPS, and parses its answers for exporters. */
import type { LookupFunction } from 'node:net';
import { isJsonArray, isJsonObject, parseJson, type JsonObject, type JsonValue } from '../../model/json.ts';
import { httpClient as boundedClient, type HttpAnswer, type HttpHeaders } from '../../http/http-client.ts';
import type { ClientTls } from '../../model/client-tls.ts';
import { retryAfterMs } from '../../runtime/retry.ts';

export interface HttpClientOptions {
  readonly tls?: ClientTls | undefined;
  /** Timeout of one request, from the name look-up to the end of the answer. */
  readonly timeoutMs?: number | undefined;
  /** Resolves host names. Default: the resolver of the machine. */
  readonly lookup?: LookupFunction | undefined;
}

export interface BackendRequest {
  /** Limit of the answer's body; the rest is dropped. */
  readonly answerBytesMax?: number;
  /** Default: POST. */
  readonly method?: string;
  readonly url: string;
  readonly headers: HttpHeaders;
}

export interface HttpClient {
  /** Resolves, never rejects. */
  send(request: BackendRequest, body: Uint8Array): Promise<Answer>;
  /** Closes the connections and aborts the requests in progress. */
  stop(): void;
}

export type Answer =
  /** `isPage`: the answer is HTML. */
  | { readonly kind: 'answered'; readonly status: number; readonly retryAfterMs?: number; readonly isPage?: true; readonly body: Buffer }
  /** `fault`: an error code, never a message. */
  | { readonly kind: 'unanswered'; readonly fault: string };

export const timeoutMsDefault = 10_000;
const answerBytesMaxDefault = 64 * 1024;

export function httpClient({ timeoutMs = timeoutMsDefault, ...connection }: HttpClientOptions): HttpClient {
  const client = boundedClient(connection);
  return {
    send: async ({ answerBytesMax = answerBytesMaxDefault, ...request }, body) =>
      answerOf(await client.send({ ...request, body, timeoutMs, answerBytesMax })),
    stop: client.stop,
  };
}

function answerOf(answer: HttpAnswer): Answer {
  if (answer.kind === 'answered') {
    const { status, headers, body } = answer;
    const isPage = /^text\/html\b/i.test(headers['content-type'] ?? '');
    return { kind: 'answered', status, ...retryAfter(status, headers), ...(isPage ? { isPage } : {}), body };
  }
  if (answer.reason === 'failed') return { kind: 'unanswered', fault: answer.code };
  return { kind: 'unanswered', fault: answer.reason === 'timed_out' ? `no answer within ${answer.afterMs} ms` : 'stopped' };
}

const tooMany = 429;

/** Reads `Retry-After`. A status 429 without it may name the reset of its rate limit instead. */
function retryAfter(status: number, headers: HttpHeaders): { readonly retryAfterMs?: number } {
  const resets = status === tooMany ? [headers['ratelimit-reset'], headers['x-ratelimit-reset']] : [];
  const header = [headers['retry-after'], ...resets].find((value) => value !== undefined);
  const ms = retryAfterMs(header, { nowMs: Date.now(), parseDate: Date.parse }) ?? 0;
  return ms > 0 ? { retryAfterMs: ms } : {};
}

/** The JSON object in the body; `undefined` when the body holds none. */
export function answerObject(answer: Answer): JsonObject | undefined {
  const body = answer.kind === 'answered' ? parseJson(answer.body.toString()) : undefined;
  return body !== undefined && isJsonObject(body) ? body : undefined;
}

/** The objects of a JSON array; empty when the value is not an array. */
export function objectsIn(value: JsonValue | undefined): readonly JsonObject[] {
  return value !== undefined && isJsonArray(value) ? value.filter(isJsonObject) : [];
}
