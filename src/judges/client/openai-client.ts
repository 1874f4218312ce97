/** The client of an endpoint that speaks OpenAI's protocol, and the meaning of its errors. */
import type { HttpAnswer, HttpClient } from '../../http/http-client.ts';
import type OpenAI from 'openai';
import { isJsonArray, isJsonObject, jsonText, member, parseJson } from '../../model/json.ts';
import { busyStatuses, type Busy } from '../../runtime/retry.ts';
import { redactedReason, type Confidential } from './endpoint-reason.ts';
import type { JudgeSettings } from '../judge.ts';

type Unanswered = Extract<HttpAnswer, { readonly kind: 'unanswered' }>;

/** An own member of an unknown value; `undefined` when it has none. */
export function field(from: unknown, name: string): unknown {
  return typeof from === 'object' && from !== null && Object.hasOwn(from, name)
    ? (from as { readonly [key: string]: unknown })[name]
    : undefined;
}

/** Error codes of Node and OpenSSL for rejected certificates and peers without TLS. */
const handshake = /^(?:CERT_|DEPTH_ZERO_SELF_SIGNED_CERT$|SELF_SIGNED_CERT_IN_CHAIN$|UNABLE_TO_|ERR_TLS_|ERR_SSL_|EPROTO$)/;

/** Error codes of a host that cannot be reached. */
const unreachable: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);

/** The code of a failed or broken connection, such as ECONNREFUSED; `undefined` for any other fault. */
function connectionCode(fault: Unanswered): string | undefined {
  if (fault.reason === 'failed') return /^[A-Z][A-Z0-9_]{2,40}$/.test(fault.code) ? fault.code : undefined;
  return fault.reason === 'timed_out' && fault.phase === 'connection' ? 'ETIMEDOUT' : undefined;
}

/** A message for people, with the code of a TLS fault. */
export function noConnection(fault: Unanswered): string {
  const code = connectionCode(fault) ?? '';
  return handshake.test(code) ? `no connection, for TLS (${code})` : 'no connection';
}

/** True when the endpoint cannot have read the request. */
function isUnsent(fault: Unanswered): boolean {
  if (fault.reason === 'timed_out') return fault.phase === 'connection';
  return fault.reason === 'failed' && (unreachable.has(fault.code) || handshake.test(fault.code));
}

/** Members of a question's body that models and endpoints refuse, and that a question can do without or name otherwise. */
export type RefusableMember = 'temperature' | 'reasoning_effort' | 'max_completion_tokens';
const refusable: readonly RefusableMember[] = ['temperature', 'reasoning_effort', 'max_completion_tokens'];

/** The endpoint refused the request itself. */
export interface Refused {
  readonly kind: 'refused';
  readonly error: string;
  /** The member of the body that it refused, where it names one. */
  readonly member?: RefusableMember;
}

export interface Failed {
  readonly kind: 'failed';
  readonly error: string;
  /** True when the endpoint may have worked on the request and may charge for it. */
  readonly mayCost?: true;
}

export type Trouble = Busy | Refused | Failed;

const refusedStatuses: ReadonlySet<number> = new Set([400, 415, 422, 501]);

/** The transport of the `openai` package, and the limit of an answer's body. */
interface OpenAiTransport {
  readonly http: HttpClient;
  readonly answerBytesMax: number;
}

/**
 * Sends once, without retries and logs. The `openai` package takes a fifth of the service's memory, so it is loaded only when there is a
 * judge, and then at once, before the first question.
 */
export async function openAiClient(settings: JudgeSettings, transport: OpenAiTransport): Promise<OpenAI> {
  const { default: Client } = await import('openai');
  return new Client({
    baseURL: settings.baseUrl,
    // Without a key the package takes one from the environment, which may belong to another endpoint.
    apiKey: settings.apiKey === '' ? 'none' : settings.apiKey,
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    defaultHeaders: { ...settings.headers, ...(settings.apiKey === '' ? { Authorization: null } : {}) },
    timeout: settings.timeoutMs,
    maxRetries: 0,
    // Its logs would contain texts of runs.
    logLevel: 'off',
    fetch: fetchOver(transport, settings.timeoutMs),
  });
}

/** An HTTP fault on its way through the package, which recognises a timeout by `message`. */
class HttpFault extends Error {
  readonly fault: Unanswered | { readonly reason: 'too_large'; readonly bytesMax: number };

  constructor(fault: HttpFault['fault']) {
    super(
      fault.reason === 'timed_out' && fault.phase === 'request' ? 'timed out' : fault.reason === 'too_large' ? 'too large' : 'unreachable',
    );
    this.fault = fault;
  }
}

/** The part of `fetch` that the package uses; it resolves with the whole answer. */
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
    // Rejects as `fetch` does, so the package recognises its own timeout and an abort by the caller.
    if (answer.kind === 'unanswered') throw answer.reason === 'aborted' ? new DOMException('aborted', 'AbortError') : new HttpFault(answer);
    const { status, isCut } = answer;
    if (isCut) throw new HttpFault({ reason: 'too_large', bytesMax: answerBytesMax });
    // The HTTP client has decoded the body.
    const { 'content-encoding': _, 'content-length': __, ...headers } = answer.headers;
    return new Response(bodiless.has(status) ? null : new Uint8Array(status < 400 ? answer.body : asError(answer.body)), {
      status,
      headers,
    });
  };
}

/** The package reads only the member `error`; others write `{message}` (vLLM) or `{detail}` (FastAPI). */
function asError(body: Buffer): Buffer {
  const value = parseJson(body.toString('utf8'));
  if (!isJsonObject(value) || Object.hasOwn(value, 'error')) return body;
  const detail = member(value, 'detail');
  const first = isJsonArray(detail) ? detail[0] : undefined;
  const located = isJsonObject(first) ? [member(first, 'msg'), member(first, 'loc')].flat() : [];
  const message = member(value, 'message') ?? (located.length === 0 ? detail : located.join(' '));
  return typeof message === 'string' ? Buffer.from(jsonText({ error: { message } })) : body;
}

/** Statuses for which `Response` accepts no body. */
const bodiless: ReadonlySet<number> = new Set([204, 205, 304]);

/** The HTTP fault in the chain of causes; `undefined` when there is none. */
function httpFault(error: unknown): HttpFault['fault'] | undefined {
  let one = error;
  for (let depth = 0; one instanceof Error && depth < causesMax; depth++) {
    if (one instanceof HttpFault) return one.fault;
    one = one.cause;
  }
  return undefined;
}

const causesMax = 10;

/** The code of a failed or broken connection, such as ECONNREFUSED; `undefined` for any other error. */
export function codeOf(error: unknown): string | undefined {
  const fault = httpFault(error);
  return fault === undefined || fault.reason === 'too_large' ? undefined : connectionCode(fault);
}

/** Without `of`, leaves the endpoint's reason out, as it may quote the run or the key. */
export async function failureOf(error: unknown, of?: Confidential): Promise<Trouble> {
  const { APIConnectionError, APIConnectionTimeoutError, APIError } = await import('openai');
  const fault = httpFault(error);
  if (fault?.reason === 'too_large')
    return { kind: 'failed', error: `judge_answer_too_large: more than ${fault.bytesMax} bytes`, mayCost: true };
  if (error instanceof APIConnectionTimeoutError)
    return { kind: 'busy', error: 'judge_timed_out: no whole answer in time', retryAfter: undefined, mayCost: true, isUnanswered: true };
  if (error instanceof APIConnectionError)
    return {
      kind: 'busy',
      error: `judge_unavailable: ${fault === undefined ? 'no connection' : noConnection(fault)}`,
      retryAfter: undefined,
      isUnanswered: true,
      ...(fault !== undefined && isUnsent(fault) ? {} : { mayCost: true }),
    };
  if (!(error instanceof APIError)) return { kind: 'failed', error: 'judge_answer_invalid: the endpoint did not send JSON', mayCost: true };
  const status = field(error, 'status');
  if (typeof status !== 'number') return { kind: 'failed', error: 'judge_stopped: the question was given up', mayCost: true };
  const told = of === undefined ? undefined : messageIn(field(error, 'error'));
  const reason = told === undefined || of === undefined ? '' : `: ${redactedReason(told, of)}`;
  const unavailable = `judge_unavailable: status ${status}${reason}`;
  if (status >= 300 && status < 400) return { kind: 'failed', error: `judge_redirected: status ${status}, and redirects are not followed` };
  // A retry does not refill an exhausted account.
  if (status === 429 && field(error, 'code') === 'insufficient_quota')
    return { kind: 'failed', error: `judge_out_of_quota: status 429${reason}` };
  if (busyStatuses.has(status)) return { kind: 'busy', error: unavailable, retryAfter: retryAfterOf(field(error, 'headers')) };
  // Neither a retry nor another format changes what the filter thinks of the text.
  if (isFilter(error)) return { kind: 'failed', error: `judge_refused: a content filter stopped the question${reason}` };
  if (refusedStatuses.has(status))
    return { kind: 'refused', error: `judge_refused_request: status ${status}${reason}`, ...refusedMember(error) };
  return { kind: 'failed', error: unavailable };
}

/** The message of an error object, or the error itself where it is a text. */
function messageIn(error: unknown): string | undefined {
  const message = typeof error === 'string' ? error : field(error, 'message');
  return typeof message === 'string' && message.trim() !== '' ? message : undefined;
}

/** Sources: Azure OpenAI, OpenAI. */
function isFilter(error: unknown): boolean {
  const inner = field(field(error, 'error'), 'innererror') ?? field(error, 'innererror');
  const codes = [field(error, 'code'), field(inner, 'code')];
  return (
    codes.some((code) => code === 'content_filter' || code === 'content_policy_violation' || code === 'ResponsibleAIPolicyViolation') ||
    /content (?:management policy|filter)/i.test(messageIn(field(error, 'error')) ?? '')
  );
}

/** A value that is only too large does not justify leaving the member out. */
const UNSUPPORTED =
  /unsupported|not (?:be )?(?:supported|permitted|allowed|accepted)|does not support|unknown|unrecogni[sz]ed|unexpected|extra/i;

/** The parameter that the error names, or that its message does. */
function refusedMember(error: unknown): { readonly member?: RefusableMember } {
  const message = messageIn(field(error, 'error')) ?? '';
  if (!UNSUPPORTED.test(`${String(field(error, 'code'))} ${message}`)) return {};
  const member = refusable.find((name) => field(error, 'param') === name) ?? refusable.find((name) => message.includes(name));
  return member === undefined ? {} : { member };
}

/** An error that an endpoint sends with the status of an answer. */
export function errorInside(body: unknown, of: Confidential | undefined): Trouble | undefined {
  const error = field(body, 'error') ?? undefined;
  if (error === undefined) return undefined;
  const message = messageIn(error);
  const reason = message === undefined || of === undefined ? '' : `: ${redactedReason(message, of)}`;
  const status = Number(field(error, 'code') ?? field(error, 'status'));
  if (busyStatuses.has(status)) return { kind: 'busy', error: `judge_unavailable: status ${status}${reason}`, retryAfter: undefined };
  return { kind: 'failed', error: `judge_unavailable: the endpoint sent an error in place of an answer${reason}` };
}

function retryAfterOf(headers: unknown): string | undefined {
  return headers instanceof Headers ? (headers.get('retry-after') ?? undefined) : undefined;
}
