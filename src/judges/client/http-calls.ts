/** Sends documents to the HTTP endpoints of evaluators: bounded in time and size, with retries while an endpoint is busy. */
import type { Answer, HttpCall } from '../../../evaluators/evaluator.ts';
import type { ClientTls } from '../../model/client-tls.ts';
import { parseJson } from '../../model/json.ts';
import { httpClient, type HttpAnswer, type HttpClient, type HttpHeaders } from '../../http/http-client.ts';
import { noConnection } from './openai-client.ts';
import { busyStatuses, withRetry, type Busy } from '../../runtime/retry.ts';
import type { JudgeDeps } from '../judge.ts';

export interface HttpCalls {
  /** Resolves, never rejects: a fault is an answer of kind `failed`. `name` labels the metrics. `tls`: certificates for HTTPS. */
  call(name: string, request: HttpCall, tls?: ClientTls): Promise<Answer>;
  /** Aborts the calls in progress and sends nothing more. */
  stop(): Promise<void>;
}

/** A verdict has a few kilobytes. */
const answerBytesMax = 1024 * 1024;
/** Attempts to send one document while the endpoint is busy. */
const attemptsMax = 3;

export function httpCalls(parts: Pick<JudgeDeps, 'telemetry' | 'clock' | 'sleep' | 'random' | 'onRetry' | 'onReply'>): HttpCalls {
  const stopping = new AbortController();
  let plain: HttpClient | undefined;
  /** One client per set of certificates, while they are in use. */
  const guarded = new WeakMap<ClientTls, HttpClient>();

  function clientOf(tls: ClientTls | undefined): HttpClient {
    if (tls === undefined) return (plain ??= httpClient());
    const own = guarded.get(tls) ?? httpClient({ tls });
    guarded.set(tls, own);
    return own;
  }

  function count(name: string, outcome: 'answered' | 'failed' | 'retried'): void {
    parts.telemetry.add('tracejury.judge.requests', 1, { 'tracejury.judge': name, 'tracejury.outcome': outcome });
  }

  async function sent(request: HttpCall, client: HttpClient): Promise<Answer | Busy> {
    const answer = await client.send({
      url: request.url,
      headers: headersOf(request),
      body: Buffer.from(request.body),
      timeoutMs: request.timeoutMs,
      answerBytesMax,
      signal: stopping.signal,
    });
    if (answer.kind === 'answered') return answerOf(answer);
    if (answer.reason === 'aborted') return failed('http_stopped: the call was given up');
    if (answer.reason === 'timed_out' && answer.phase === 'request') return failed('http_timed_out: no whole answer in time');
    return { kind: 'busy', error: `http_unavailable: ${noConnection(answer)}`, retryAfter: undefined, isUnanswered: true };
  }

  return {
    async call(name, request, tls) {
      const retry = {
        attemptsMax,
        ...parts,
        onRetry(busy: Busy) {
          count(name, 'retried');
          parts.onRetry?.(name, busy);
        },
        signal: stopping.signal,
        stopped: 'http_stopped: the service is stopping',
        parseDate: Date.parse,
      };
      const answer = await withRetry<Answer>(() => sent(request, clientOf(tls)), retry);
      count(name, answer.kind);
      parts.onReply?.(name, answer.kind === 'failed' ? answer.error : undefined);
      return answer;
    },
    async stop() {
      stopping.abort();
      plain?.stop();
    },
  };
}

/** Leaves the body of an error out, as it may quote the run or the key. */
function answerOf({ status, headers, body, isCut }: Extract<HttpAnswer, { readonly kind: 'answered' }>): Answer | Busy {
  if (isCut) return failed(`http_answer_too_large: more than ${answerBytesMax} bytes`);
  if (busyStatuses.has(status)) return { kind: 'busy', error: `http_unavailable: status ${status}`, retryAfter: headers['retry-after'] };
  if (status >= 300 && status < 400) return failed(`http_redirected: status ${status}, and redirects are not followed`);
  if (status >= 300) return failed(`http_refused: status ${status}`);
  const value = parseJson(new TextDecoder().decode(body));
  return value === undefined
    ? failed('http_answer_invalid: the endpoint did not send JSON')
    : { kind: 'answered', value, truncated: false };
}

function failed(error: string): Answer {
  return { kind: 'failed', error };
}

function headersOf({ headers }: HttpCall): HttpHeaders {
  const own = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return { accept: 'application/json', 'accept-encoding': 'gzip, deflate', ...own, 'content-type': 'application/json' };
}

/** The queue key of an evaluator's endpoint, also its label. No judge has such a name, as judge names have no colon. */
export function endpointQueueKey(evaluator: string): string {
  return `http:${evaluator}`;
}
