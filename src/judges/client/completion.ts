/** One request to a chat completions endpoint, and what it came to. No retry here. */
import { field } from './connection-fault.ts';
import type OpenAI from 'openai';
import type { JsonSchema } from '../../../evaluators/evaluator.ts';
import type { Tokens } from '../../model/budget.ts';
import type { ResponseNote } from './call-record.ts';
import { connectionCode } from './connection-fault.ts';
import { openAiClient, troubleOf, type Failed, type Refused } from './openai-client.ts';
import type { Busy } from './retry.ts';
import type { JudgeDeps, JudgeSettings } from '../settings.ts';

/** How the endpoint is asked to keep to the schema, from the strictest. Not every compatible endpoint knows each. */
export const answerFormats = ['json_schema', 'json_object', 'text'] as const;
export type AnswerFormat = (typeof answerFormats)[number];

export interface Message {
  readonly role: 'system' | 'user';
  readonly content: string;
}

export interface CompletionRequest {
  readonly messages: readonly Message[];
  readonly format: AnswerFormat;
  readonly schema: JsonSchema;
  readonly schemaName: string;
  readonly signal: AbortSignal;
}

/** Refused: perhaps the format is not known there. */
export type Completion = (
  | { readonly kind: 'text'; readonly text: string; readonly tokens: Tokens | undefined }
  | Busy
  | Refused
  | (Failed & { readonly tokens?: Tokens })
) & { readonly response?: ResponseNote };

export type Complete = (request: CompletionRequest) => Promise<Completion>;

/** The answers of our questions are a few kilobytes. */
const answerBytesMax = 2 * 1024 * 1024;

export function chatCompletions(settings: JudgeSettings, onNoConnection?: JudgeDeps['onNoConnection']): Complete {
  const client = openAiClient(settings, answerBytesMax);
  return async (request) => {
    try {
      return completionOf(await (await client).chat.completions.create(chatBody(settings, request), { signal: request.signal }));
    } catch (error) {
      const code = connectionCode(error);
      if (code !== undefined) onNoConnection?.(settings.name, code);
      return await troubleOf(error);
    }
  };
}

export function chatBody(
  settings: JudgeSettings,
  { messages, format, schema, schemaName }: Omit<CompletionRequest, 'signal'>,
): OpenAI.ChatCompletionCreateParamsNonStreaming {
  return {
    ...settings.extraBody,
    model: settings.model,
    messages: messages.map(({ role, content }) => ({ role, content })),
    ...(format === 'json_schema' ? { response_format: { type: format, json_schema: { name: schemaName, strict: true, schema } } } : {}),
    ...(format === 'json_object' ? { response_format: { type: format } } : {}),
    ...(settings.temperature === undefined ? {} : { temperature: settings.temperature }),
    ...(settings.reasoningEffort === undefined ? {} : { reasoning_effort: settings.reasoningEffort as OpenAI.ReasoningEffort }),
    ...(settings.answerTokensMax === undefined ? {} : { max_completion_tokens: settings.answerTokensMax }),
  };
}

/** The body is whatever the endpoint sent: its declared type is a hope. */
export function completionOf(body: unknown): Completion {
  return { ...contentOf(body), response: noteOf(body) };
}

function contentOf(body: unknown): Completion {
  const counted = tokensOf(field(body, 'usage'));
  const charged = counted === undefined ? ({ mayCost: true } as const) : { tokens: counted };
  const choices = field(body, 'choices');
  const all: readonly unknown[] = Array.isArray(choices) ? choices : [];
  const [choice, ...others] = all;
  const message = field(choice, 'message');
  const content = textOf(field(message, 'content'));
  const refusal = field(message, 'refusal');
  const finish = field(choice, 'finish_reason');
  if (typeof refusal === 'string' && refusal !== '')
    return { kind: 'failed', error: 'judge_refused: the model declined to answer', ...charged };
  const stop = typeof finish === 'string' ? stops[finish.toLowerCase()] : undefined;
  if (stop !== undefined) return { kind: 'failed', error: stop, ...charged };
  if (others.some((one) => textOf(field(field(one, 'message'), 'content')) !== content))
    return { kind: 'failed', error: 'judge_answer_invalid: the endpoint sent several answers that differ', ...charged };
  const calls = field(message, 'tool_calls');
  if (Array.isArray(calls) && calls.length > 0)
    return { kind: 'failed', error: 'judge_answer_invalid: the model called a tool, and none was offered', ...charged };
  if (content === undefined) return { kind: 'failed', error: 'judge_answer_invalid: the endpoint sent no message text', ...charged };
  return { kind: 'text', text: content, tokens: counted };
}

/** Why no answer is whole, by the word for the end of it: those of OpenAI and what other endpoints have instead. */
const stops: { readonly [finish: string]: string | undefined } = Object.assign(Object.create(null), {
  ...Object.fromEntries(
    ['length', 'max_tokens', 'max_output_tokens', 'model_length', 'model_context_window_exceeded'].map((word) => [
      word,
      'judge_answer_cut: the answer reached the token limit',
    ]),
  ),
  ...Object.fromEntries(
    ['content_filter', 'safety', 'recitation', 'blocklist', 'prohibited_content', 'spii', 'refusal'].map((word) => [
      word,
      'judge_refused: a content filter stopped the answer',
    ]),
  ),
  ...Object.fromEntries(
    ['error', 'abort', 'cancelled', 'malformed_function_call'].map((word) => [
      word,
      'judge_answer_invalid: the endpoint gave the answer up',
    ]),
  ),
}) as { readonly [finish: string]: string | undefined };

/** A message is a text, or a list of parts: of these the texts, and not what the model thought. */
function textOf(content: unknown): string | undefined {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return undefined;
  const texts = content.flatMap((part: unknown) => {
    const text = field(part, 'text');
    const type = field(part, 'type');
    return typeof text === 'string' && (type === 'text' || type === 'output_text') ? [text] : [];
  });
  return texts.length === 0 ? undefined : texts.join('');
}

const noteCharsMax = 200;

function noteOf(body: unknown): ResponseNote {
  const choices = field(body, 'choices');
  const finish = field(Array.isArray(choices) ? choices[0] : undefined, 'finish_reason');
  const cut = (value: unknown): string | undefined =>
    typeof value === 'string' && value !== '' ? value.slice(0, noteCharsMax).toWellFormed() : undefined;
  const [id, model, finishReason] = [cut(field(body, 'id')), cut(field(body, 'model')), cut(finish)];
  return {
    ...(id === undefined ? {} : { id }),
    ...(model === undefined ? {} : { model }),
    ...(finishReason === undefined ? {} : { finishReason }),
  };
}

/** As told: whether they can be believed is seen where it is known what was sent. */
function tokensOf(usage: unknown): Tokens | undefined {
  const input = field(usage, 'prompt_tokens');
  const output = field(usage, 'completion_tokens');
  return typeof input === 'number' && typeof output === 'number' ? { input, output } : undefined;
}
