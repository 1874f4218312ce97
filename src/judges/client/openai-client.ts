/** The client of an endpoint that speaks OpenAI's protocol, and what its errors mean. */
import type OpenAI from 'openai';
import { AnswerTooLarge, boundedFetch } from './bounded-fetch.ts';
import { chainOf, handshakeCode, noConnection, field } from './connection-fault.ts';
import { busyStatuses, type Busy } from '../../runtime/retry.ts';
import type { JudgeSettings } from '../settings.ts';

/** The request itself was refused. */
export interface Refused {
  readonly kind: 'refused';
  readonly error: string;
}

export interface Failed {
  readonly kind: 'failed';
  readonly error: string;
  /** It may have been worked on, and charged, all the same. */
  readonly mayCost?: true;
}

export type Trouble = Busy | Refused | Failed;

const refusedStatuses: ReadonlySet<number> = new Set([400, 415, 422, 501]);

/**
 * It sends once and tells no one: retries and logs are not its business. Its package is a fifth of what the service would keep in memory, so it is loaded when there is
 * a judge, and then at once: the first question need not wait for it.
 */
export async function openAiClient(settings: JudgeSettings, bytesMax: number): Promise<OpenAI> {
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
    fetch: boundedFetch(bytesMax, settings.tls),
  });
}

/** The endpoint's own message is left out: it may quote the run or the key. */
export async function troubleOf(error: unknown): Promise<Trouble> {
  const { APIConnectionError, APIConnectionTimeoutError, APIError } = await import('openai');
  const large = chainOf(error).find((one) => one instanceof AnswerTooLarge);
  if (large !== undefined) return { kind: 'failed', error: `judge_answer_too_large: more than ${large.bytesMax} bytes`, mayCost: true };
  if (error instanceof APIConnectionTimeoutError)
    return { kind: 'busy', error: 'judge_timed_out: no whole answer in time', retryAfter: undefined, mayCost: true };
  if (error instanceof APIConnectionError)
    return {
      kind: 'busy',
      error: `judge_unavailable: ${noConnection(error)}`,
      retryAfter: undefined,
      ...(wasSent(error) ? { mayCost: true } : {}),
    };
  if (!(error instanceof APIError)) return { kind: 'failed', error: 'judge_answer_invalid: the endpoint did not send JSON', mayCost: true };
  const status = field(error, 'status');
  if (typeof status !== 'number') return { kind: 'failed', error: 'judge_stopped: the question was given up', mayCost: true };
  const fault = `judge_unavailable: status ${status}`;
  if (status >= 300 && status < 400) return { kind: 'failed', error: `judge_redirected: status ${status}, and redirects are not followed` };
  // An exhausted account stays so however often it is asked.
  if (status === 429 && field(error, 'code') === 'insufficient_quota') return { kind: 'failed', error: 'judge_out_of_quota: status 429' };
  if (busyStatuses.has(status)) return { kind: 'busy', error: fault, retryAfter: retryAfterOf(field(error, 'headers')) };
  if (refusedStatuses.has(status)) return { kind: 'refused', error: `judge_refused_request: status ${status}` };
  return { kind: 'failed', error: fault };
}

function retryAfterOf(headers: unknown): string | undefined {
  return headers instanceof Headers ? (headers.get('retry-after') ?? undefined) : undefined;
}

/** Names that lead nowhere and doors that are shut: nobody was there to read the request. */
const unsentCodes: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

function wasSent(error: unknown): boolean {
  return handshakeCode(error) === undefined && !chainOf(error).some((one) => unsentCodes.has(field(one, 'code')));
}
