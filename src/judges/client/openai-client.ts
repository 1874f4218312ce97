/** The client of an endpoint that speaks OpenAI's protocol, and what its errors mean, down to the codes of Node, OpenSSL and the HTTP client. */
import type { HttpAnswer, HttpClient } from '../../http/http-client.ts';
import type OpenAI from 'openai';
import { busyStatuses, type Busy } from '../../runtime/retry.ts';
import type { JudgeSettings } from '../judge.ts';

type Unanswered = Extract<HttpAnswer, { readonly kind: 'unanswered' }>;

/** A member of something of which nothing is known; undefined: it has none of its own. */
export function field(from: unknown, name: string): unknown {
  return typeof from === 'object' && from !== null && Object.hasOwn(from, name)
    ? (from as { readonly [key: string]: unknown })[name]
    : undefined;
}

/** Of Node and of OpenSSL: one of the two sides does not take the other's certificate, or what answers speaks no TLS. */
const handshake = /^(?:CERT_|DEPTH_ZERO_SELF_SIGNED_CERT$|SELF_SIGNED_CERT_IN_CHAIN$|UNABLE_TO_|ERR_TLS_|ERR_SSL_|EPROTO$)/;

/** The name leads nowhere, or the port is closed. */
const unreachable: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);

/** The code of a connection that was not made or broke, as ECONNREFUSED. `undefined` when there is none. */
function connectionCode(fault: Unanswered): string | undefined {
  if (fault.reason === 'failed') return /^[A-Z][A-Z0-9_]{2,40}$/.test(fault.code) ? fault.code : undefined;
  return fault.reason === 'timed_out' && fault.phase === 'connection' ? 'ETIMEDOUT' : undefined;
}

/** For people: with the code of a fault of certificates. */
export function noConnection(fault: Unanswered): string {
  const code = connectionCode(fault) ?? '';
  return handshake.test(code) ? `no connection, for TLS (${code})` : 'no connection';
}

/** The endpoint has not read the request. */
function isUnsent(fault: Unanswered): boolean {
  if (fault.reason === 'timed_out') return fault.phase === 'connection';
  return fault.reason === 'failed' && (unreachable.has(fault.code) || handshake.test(fault.code));
}

/** The request itself was refused. */
export interface Refused {
  readonly kind: 'refused';
  readonly error: string;
}

export interface Failed {
  readonly kind: 'failed';
  readonly error: string;
  /** The endpoint may have worked on it, and charge for it. */
  readonly mayCost?: true;
}

export type Trouble = Busy | Refused | Failed;

const refusedStatuses: ReadonlySet<number> = new Set([400, 415, 422, 501]);

/** What the package sends requests with, and what it may read of an answer. */
interface OpenAiTransport {
  readonly http: HttpClient;
  readonly answerBytesMax: number;
}

/**
 * It sends once, and neither retries nor logs. Its package is a fifth of what the service would keep in memory, so it is loaded only when
 * there is a judge. It is then loaded at once, so that the first question need not wait.
 */
export async function openAiClient(settings: JudgeSettings, transport: OpenAiTransport): Promise<OpenAI> {
  const { default: Client } = await import('openai');
  return new Client({
    baseURL: settings.baseUrl,
    // The client wants a key and else takes one from the environment: a key for one endpoint must not go to another.
    apiKey: settings.apiKey === '' ? 'none' : settings.apiKey,
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    defaultHeaders: { ...settings.headers, ...(settings.apiKey === '' ? { Authorization: null } : {}) },
    timeout: settings.timeoutMs,
    maxRetries: 0,
    // What it logs would be texts of runs.
    logLevel: 'off',
    fetch: fetchOver(transport, settings.timeoutMs),
  });
}

/** No answer came, or one that is too large. `message`: by it the package recognises a time limit. */
class HttpFault extends Error {
  readonly fault: Unanswered | { readonly reason: 'too_large'; readonly bytesMax: number };

  constructor(fault: HttpFault['fault']) {
    super(
      fault.reason === 'timed_out' && fault.phase === 'request' ? 'timed out' : fault.reason === 'too_large' ? 'too large' : 'unreachable',
    );
    this.fault = fault;
  }
}

/** As much of `fetch` as the package uses: the answer is whole when it resolves. */
function fetchOver({ http, answerBytesMax }: OpenAiTransport, timeoutMs: number): typeof fetch {
  return async (input, { signal, ...init } = {}) => {
    const request = new Request(input, init);
    const body = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer());
    const answer = await http.send({
      method: request.method,
      url: request.url,
      headers: { ...Object.fromEntries(request.headers), 'accept-encoding': 'gzip, deflate' },
      ...(body === undefined ? {} : { body }),
      timeoutMs,
      answerBytesMax,
      signal: signal ?? undefined,
    });
    // As `fetch` does: the package then knows that its own time limit, or its caller, ended the request.
    if (answer.kind === 'unanswered') throw answer.reason === 'aborted' ? new DOMException('aborted', 'AbortError') : new HttpFault(answer);
    const { status, isCut } = answer;
    if (isCut) throw new HttpFault({ reason: 'too_large', bytesMax: answerBytesMax });
    // The body is decoded already.
    const { 'content-encoding': _, 'content-length': __, ...headers } = answer.headers;
    return new Response(bodiless.has(status) ? null : new Uint8Array(answer.body), { status, headers });
  };
}

/** What `Response` takes no body with. */
const bodiless: ReadonlySet<number> = new Set([204, 205, 304]);

/** What the HTTP client said, in the chain of an error of the package. `undefined` when it said nothing. */
function httpFault(error: unknown): HttpFault['fault'] | undefined {
  let one = error;
  for (let depth = 0; one instanceof Error && depth < causesMax; depth++) {
    if (one instanceof HttpFault) return one.fault;
    one = one.cause;
  }
  return undefined;
}

const causesMax = 10;

/** The code of a connection that was not made or broke, as ECONNREFUSED. `undefined` when there is none. */
export function codeOf(error: unknown): string | undefined {
  const fault = httpFault(error);
  return fault === undefined || fault.reason === 'too_large' ? undefined : connectionCode(fault);
}

/** The endpoint's own message is left out: it may quote the run or the key. */
export async function troubleOf(error: unknown): Promise<Trouble> {
  const { APIConnectionError, APIConnectionTimeoutError, APIError } = await import('openai');
  const fault = httpFault(error);
  if (fault?.reason === 'too_large')
    return { kind: 'failed', error: `judge_answer_too_large: more than ${fault.bytesMax} bytes`, mayCost: true };
  if (error instanceof APIConnectionTimeoutError)
    return { kind: 'busy', error: 'judge_timed_out: no whole answer in time', retryAfter: undefined, mayCost: true };
  if (error instanceof APIConnectionError)
    return {
      kind: 'busy',
      error: `judge_unavailable: ${fault === undefined ? 'no connection' : noConnection(fault)}`,
      retryAfter: undefined,
      ...(fault !== undefined && isUnsent(fault) ? {} : { mayCost: true }),
    };
  if (!(error instanceof APIError)) return { kind: 'failed', error: 'judge_answer_invalid: the endpoint did not send JSON', mayCost: true };
  const status = field(error, 'status');
  if (typeof status !== 'number') return { kind: 'failed', error: 'judge_stopped: the question was given up', mayCost: true };
  const unavailable = `judge_unavailable: status ${status}`;
  if (status >= 300 && status < 400) return { kind: 'failed', error: `judge_redirected: status ${status}, and redirects are not followed` };
  // An exhausted account stays so however often it is asked.
  if (status === 429 && field(error, 'code') === 'insufficient_quota') return { kind: 'failed', error: 'judge_out_of_quota: status 429' };
  if (busyStatuses.has(status)) return { kind: 'busy', error: unavailable, retryAfter: retryAfterOf(field(error, 'headers')) };
  if (refusedStatuses.has(status)) return { kind: 'refused', error: `judge_refused_request: status ${status}` };
  return { kind: 'failed', error: unavailable };
}

function retryAfterOf(headers: unknown): string | undefined {
  return headers instanceof Headers ? (headers.get('retry-after') ?? undefined) : undefined;
}
