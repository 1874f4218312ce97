/** Documents to the endpoints of evaluators over HTTP, and their answers: bounded in time and size, sent again while an endpoint is busy. */
import type { Answer, HttpCall } from '../../../evaluators/evaluator.ts';
import type { ClientTls } from '../../model/client-tls.ts';
import { parseJson } from '../../model/json.ts';
import { AnswerTooLarge, boundedFetch } from './bounded-fetch.ts';
import { noConnection } from './connection-fault.ts';
import { busyStatuses, withRetry, type Busy } from '../../runtime/retry.ts';
import type { JudgeDeps } from '../settings.ts';

export interface HttpCalls {
  /** Resolves, never rejects: every fault is an answer of kind `failed`. `name` is what it is counted under. `tls`: certificates for HTTPS. */
  call(name: string, request: HttpCall, tls?: ClientTls): Promise<Answer>;
  /** Ends the calls on their way; nothing is sent after it. */
  stop(): Promise<void>;
}

/** An outcome is a few kilobytes. */
const answerBytesMax = 1024 * 1024;
/** Sendings of one document while the endpoint is busy. */
const attemptsMax = 3;

export function httpCalls(parts: Pick<JudgeDeps, 'telemetry' | 'clock' | 'sleep' | 'random'>): HttpCalls {
  const stopping = new AbortController();
  const plain = boundedFetch(answerBytesMax);
  /** As long as somebody has the certificates. */
  const guarded = new WeakMap<ClientTls, typeof fetch>();

  function senderOf(tls: ClientTls | undefined): typeof fetch {
    if (tls === undefined) return plain;
    const own = guarded.get(tls) ?? boundedFetch(answerBytesMax, tls);
    guarded.set(tls, own);
    return own;
  }

  function count(name: string, outcome: 'answered' | 'failed' | 'retried'): void {
    parts.telemetry.add('tracejury.judge.requests', 1, { 'tracejury.judge': name, 'tracejury.outcome': outcome });
  }

  async function sent(request: HttpCall, send: typeof fetch): Promise<Answer | Busy> {
    const limit = AbortSignal.timeout(request.timeoutMs);
    try {
      const response = await send(addressOf(request.url), {
        method: 'POST',
        headers: headersOf(request),
        body: request.body,
        signal: AbortSignal.any([stopping.signal, limit]),
      });
      return await answerOf(response);
    } catch (error) {
      if (stopping.signal.aborted) return failed('http_stopped: the call was given up');
      if (limit.aborted) return failed('http_timed_out: no whole answer in time');
      if (error instanceof AnswerTooLarge) return failed(`http_answer_too_large: more than ${answerBytesMax} bytes`);
      return { kind: 'busy', error: `http_unavailable: ${noConnection(error)}`, retryAfter: undefined };
    }
  }

  return {
    async call(name, request, tls) {
      const patience = {
        attemptsMax,
        onRetry: () => count(name, 'retried'),
        signal: stopping.signal,
        stopped: 'http_stopped: the service is stopping',
        parseDate: Date.parse,
        ...parts,
      };
      const answer = await withRetry<Answer>(() => sent(request, senderOf(tls)), patience);
      count(name, answer.kind);
      return answer;
    },
    async stop() {
      stopping.abort();
    },
  };
}

/** What the endpoint says beside an error is left out: it may quote the run or the key. */
async function answerOf(response: Response): Promise<Answer | Busy> {
  const { status } = response;
  if (busyStatuses.has(status))
    return { kind: 'busy', error: `http_unavailable: status ${status}`, retryAfter: response.headers.get('retry-after') ?? undefined };
  if (status >= 300 && status < 400) return failed(`http_redirected: status ${status}, and redirects are not followed`);
  if (!response.ok) return failed(`http_refused: status ${status}`);
  const value = parseJson(await response.text());
  return value === undefined
    ? failed('http_answer_invalid: the endpoint did not send JSON')
    : { kind: 'answered', value, truncated: false };
}

function failed(error: string): Answer {
  return { kind: 'failed', error };
}

/** `fetch` takes no URL with a user in it. */
function addressOf(url: string): string {
  const address = new URL(url);
  address.username = '';
  address.password = '';
  return address.href;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The user of the URL stands for a header, unless that is given. */
function headersOf({ url, headers: given }: HttpCall): Headers {
  const headers = new Headers(given);
  const { username, password } = new URL(url);
  const user = [username, password].map(decoded).join(':');
  if (user !== ':' && !headers.has('authorization')) headers.set('authorization', `Basic ${Buffer.from(user).toString('base64')}`);
  if (!headers.has('accept')) headers.set('accept', 'application/json');
  headers.set('content-type', 'application/json');
  return headers;
}

/** Under what name the endpoint of an evaluator is asked, queued for and counted. No judge is named so: their names have no colon. */
export function endpointQueueKey(evaluator: string): string {
  return `http:${evaluator}`;
}
