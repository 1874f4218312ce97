/** One request to a chat completions endpoint, and what it came to. No retry here. */
import OpenAI, { APIConnectionError, APIConnectionTimeoutError, APIError } from 'openai';
import type { JsonSchema } from '../../evaluators/evaluator.ts';
import { AnswerTooLarge, boundedFetch } from './bounded-fetch.ts';
import type { JudgeSettings } from './settings.ts';

/** How the endpoint is asked to keep to the schema, from the strictest. Not every compatible endpoint knows each. */
export const answerFormats = ['json_schema', 'json_object', 'text'] as const;
export type AnswerFormat = (typeof answerFormats)[number];

export interface Message {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

export interface CompletionRequest {
  readonly messages: readonly Message[];
  readonly format: AnswerFormat;
  readonly schema: JsonSchema;
  readonly schemaName: string;
  readonly signal: AbortSignal;
}

export interface Tokens {
  readonly input: number;
  readonly output: number;
}

export type Completion =
  | { readonly kind: 'text'; readonly text: string; readonly tokens: Tokens | undefined }
  /** Worth another try; `retryAfter` as the endpoint wrote it. */
  | { readonly kind: 'busy'; readonly error: string; readonly retryAfter: string | undefined }
  /** The request itself was refused: perhaps the format is not known there. */
  | { readonly kind: 'refused'; readonly error: string }
  | { readonly kind: 'failed'; readonly error: string; readonly tokens?: Tokens };

export type Complete = (request: CompletionRequest) => Promise<Completion>;

/** The answers of our questions are a few kilobytes. */
const answerBytesMax = 2 * 1024 * 1024;
const busyStatuses: ReadonlySet<number> = new Set([408, 409, 425, 429, 500, 502, 503, 504, 529]);
const refusedStatuses: ReadonlySet<number> = new Set([400, 415, 422, 501]);

export function chatCompletions(settings: JudgeSettings): Complete {
  const client = new OpenAI({
    baseURL: settings.baseUrl,
    // The client wants a key and else takes one from the environment: a key for one endpoint must not go to another.
    apiKey: settings.apiKey === '' ? 'none' : settings.apiKey,
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    ...(settings.apiKey === '' ? { defaultHeaders: { Authorization: null } } : {}),
    timeout: settings.timeoutMs,
    maxRetries: 0,
    // What it logs would be texts of runs.
    logLevel: 'off',
    fetch: boundedFetch(answerBytesMax),
  });
  return async (request) => {
    try {
      return completionOf(await client.chat.completions.create(bodyOf(settings, request), { signal: request.signal }));
    } catch (error) {
      return faultOf(error);
    }
  };
}

function bodyOf(settings: JudgeSettings, { messages, format, schema, schemaName }: CompletionRequest): OpenAI.ChatCompletionCreateParamsNonStreaming {
  return {
    model: settings.model,
    messages: messages.map(({ role, content }) => ({ role, content })),
    ...(format === 'json_schema' ? { response_format: { type: format, json_schema: { name: schemaName, strict: true, schema } } } : {}),
    ...(format === 'json_object' ? { response_format: { type: format } } : {}),
    ...(settings.temperature === undefined ? {} : { temperature: settings.temperature }),
    ...(settings.answerTokensMax === undefined ? {} : { max_completion_tokens: settings.answerTokensMax }),
  };
}

/** The body is whatever the endpoint sent: its declared type is a hope. */
function completionOf(body: unknown): Completion {
  const counted = tokensOf(field(body, 'usage'));
  const tokens = counted === undefined ? {} : { tokens: counted };
  const choices = field(body, 'choices');
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
  const message = field(choice, 'message');
  const content = field(message, 'content');
  const refusal = field(message, 'refusal');
  const finish = field(choice, 'finish_reason');
  if (typeof refusal === 'string' && refusal !== '') return { kind: 'failed', error: 'judge_refused: the model declined to answer', ...tokens };
  if (finish === 'content_filter') return { kind: 'failed', error: 'judge_refused: a content filter stopped the answer', ...tokens };
  if (finish === 'length') return { kind: 'failed', error: 'judge_answer_cut: the answer reached the token limit', ...tokens };
  if (typeof content !== 'string') return { kind: 'failed', error: 'judge_answer_invalid: the endpoint sent no message text', ...tokens };
  return { kind: 'text', text: content, tokens: counted };
}

function tokensOf(usage: unknown): Tokens | undefined {
  const input = field(usage, 'prompt_tokens');
  const output = field(usage, 'completion_tokens');
  return isCount(input) && isCount(output) ? { input, output } : undefined;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

/** The endpoint's own message is left out: it may quote the run or the key. */
function faultOf(error: unknown): Completion {
  if (chainOf(error).some((one) => one instanceof AnswerTooLarge)) return { kind: 'failed', error: `judge_answer_too_large: more than ${answerBytesMax} bytes` };
  if (error instanceof APIConnectionTimeoutError) return { kind: 'busy', error: 'judge_timed_out: no whole answer in time', retryAfter: undefined };
  if (error instanceof APIConnectionError) return { kind: 'busy', error: 'judge_unavailable: no connection', retryAfter: undefined };
  if (!(error instanceof APIError)) return { kind: 'failed', error: 'judge_answer_invalid: the endpoint did not send JSON' };
  const status = field(error, 'status');
  if (typeof status !== 'number') return { kind: 'failed', error: 'judge_stopped: the question was given up' };
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

/** An error and what caused it; chains of errors are short, and none may be a ring. */
function chainOf(error: unknown): readonly unknown[] {
  const chain: unknown[] = [];
  for (let one = error; one instanceof Error && chain.length < 10; one = one.cause) chain.push(one);
  return chain;
}

function field(from: unknown, name: string): unknown {
  return typeof from === 'object' && from !== null && Object.hasOwn(from, name) ? (from as { readonly [key: string]: unknown })[name] : undefined;
}
