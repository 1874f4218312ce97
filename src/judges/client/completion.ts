/** Sends one request to a chat completions endpoint and reads the reply. Does not retry. */
import type { Confidential } from './endpoint-reason.ts';
import { errorInside, field, codeOf, openAiClient, failureOf, type Failed, type RefusableMember, type Refused } from './openai-client.ts';
import type OpenAI from 'openai';
import type { JsonSchema } from '../../../evaluators/evaluator.ts';
import type { Tokens } from '../../model/budget.ts';
import type { ResponseNote } from './call-record.ts';
import type { HttpClient } from '../../http/http-client.ts';
import type { Busy } from '../../runtime/retry.ts';
import type { AnswerFormat, JudgeDeps, JudgeSettings } from '../judge.ts';
import { present } from '../../model/present.ts';

/** The function that a model must call; its arguments are the answer. One name for all questions keeps prompts alike. */
export const answerFunction = { name: 'give_answer', description: 'Takes the JSON value that answers the question.' } as const;

export interface Message {
  readonly role: 'system' | 'user';
  readonly content: string;
}

export interface CompletionRequest {
  readonly messages: readonly Message[];
  readonly format: AnswerFormat;
  readonly schema: JsonSchema;
  readonly schemaName: string;
  /** Members of the body that the endpoint has refused. */
  readonly refused: ReadonlySet<RefusableMember>;
  readonly signal: AbortSignal;
}

/** `refused`: the endpoint may not support the format. */
export type Completion = (
  | {
      readonly kind: 'text';
      readonly text: string;
      readonly tokens: Tokens | undefined;
      /** True when the text is the arguments of the required call. */
      readonly called?: true;
    }
  | Busy
  | Refused
  | (Failed & { readonly tokens?: Tokens })
) & { readonly response?: ResponseNote };

export type Complete = (request: CompletionRequest) => Promise<Completion>;

/** An answer has a few kilobytes. */
const answerBytesMax = 2 * 1024 * 1024;

export function chatCompletions(settings: JudgeSettings, http: HttpClient, onNoConnection?: JudgeDeps['onNoConnection']): Complete {
  const client = openAiClient(settings, { http, answerBytesMax });
  return async (request) => {
    const of = { settings, sent: request.messages.map(({ content }) => content) };
    try {
      return completionOf(await (await client).chat.completions.create(chatBody(settings, request), { signal: request.signal }), of);
    } catch (error) {
      const code = codeOf(error);
      if (code !== undefined) onNoConnection?.(settings.name, code);
      const trouble = await failureOf(error, of);
      return request.format === 'tool_call' && isUnknownThere(error)
        ? { kind: 'refused', error: 'judge_refused_request: status 404' }
        : trouble;
    }
  };
}

/** Gateways such as OpenRouter answer 404 when a model does not support tools. */
function isUnknownThere(error: unknown): boolean {
  return field(error, 'status') === 404;
}

export function chatBody(
  settings: JudgeSettings,
  { messages, format, schema, schemaName, refused }: Omit<CompletionRequest, 'signal'>,
): OpenAI.ChatCompletionCreateParamsNonStreaming {
  return {
    ...settings.extraBody,
    model: settings.model,
    messages: messages.map(({ role, content }) => ({ role, content })),
    ...(format === 'json_schema' ? { response_format: { type: format, json_schema: { name: schemaName, strict: true, schema } } } : {}),
    ...(format === 'tool_call' ? forcedCall(schema) : {}),
    ...(format === 'json_object' ? { response_format: { type: format } } : {}),
    ...(settings.temperature === undefined || refused.has('temperature') ? {} : { temperature: settings.temperature }),
    ...(settings.reasoningEffort === undefined || refused.has('reasoning_effort')
      ? {}
      : { reasoning_effort: settings.reasoningEffort as OpenAI.ReasoningEffort }),
    // The older name, and the only one that some endpoints know.
    ...(settings.answerTokensMax === undefined
      ? {}
      : { [refused.has('max_completion_tokens') ? 'max_tokens' : 'max_completion_tokens']: settings.answerTokensMax }),
  };
}

/** Not `strict`: this format is for endpoints that have refused strict schemas, or whose user has excluded them. */
function forcedCall(schema: JsonSchema): Pick<OpenAI.ChatCompletionCreateParamsNonStreaming, 'tools' | 'tool_choice'> {
  return {
    tools: [{ type: 'function', function: { ...answerFunction, parameters: schema } }],
    tool_choice: { type: 'function', function: { name: answerFunction.name } },
  };
}

/** Trusts nothing in the body, in spite of its declared type. */
export function completionOf(body: unknown, of?: Confidential): Completion {
  return { ...contentOf(body, of), response: noteOf(body) };
}

function contentOf(body: unknown, of: Confidential | undefined): Completion {
  const counted = tokensOf(field(body, 'usage'));
  const charged = counted === undefined ? ({ mayCost: true } as const) : { tokens: counted };
  const choices = field(body, 'choices');
  const all: readonly unknown[] = Array.isArray(choices) ? choices : [];
  const inside = all.length === 0 ? errorInside(body, of) : undefined;
  if (inside !== undefined) return inside;
  const [choice, ...others] = all;
  const message = field(choice, 'message');
  const content = answerOf(message);
  const refusal = field(message, 'refusal');
  const finish = field(choice, 'finish_reason');
  if (typeof refusal === 'string' && refusal !== '')
    return { kind: 'failed', error: 'judge_refused: the model declined to answer', ...charged };
  const stop = typeof finish === 'string' ? stops[finish.toLowerCase()] : undefined;
  if (stop !== undefined) return { kind: 'failed', error: stop, ...charged };
  const texts = others.map((one) => answerOf(field(one, 'message')));
  if (texts.some((one) => one.kind !== content.kind || one.text !== content.text))
    return { kind: 'failed', error: 'judge_answer_invalid: the endpoint sent several answers that differ', ...charged };
  return content.kind === 'none'
    ? { kind: 'failed', error: `judge_answer_invalid: ${content.text}`, ...charged }
    : { kind: 'text', text: content.text, tokens: counted, ...(content.kind === 'called' ? { called: true } : {}) };
}

/** `text`: the answer, or, for `none`, why there is none. */
interface MessageAnswer {
  readonly kind: 'called' | 'text' | 'none';
  readonly text: string;
}

/**
 * Reads the arguments of the required call. The reader recognises the call only by its name, because a line of a batch does not name its format. It
 * ignores text beside a call, which is reasoning. An endpoint without tools answers in text.
 */
function answerOf(message: unknown): MessageAnswer {
  const sent = field(message, 'tool_calls');
  const calls: readonly unknown[] = Array.isArray(sent) ? sent : [];
  if (calls.length > 0) return calledWith(calls.map((call) => field(call, 'function')));
  const text = textOf(field(message, 'content'));
  return text === undefined ? { kind: 'none', text: 'the endpoint sent no message text' } : { kind: 'text', text };
}

function calledWith(calls: readonly unknown[]): MessageAnswer {
  if (calls.some((call) => field(call, 'name') !== answerFunction.name))
    return { kind: 'none', text: 'the model called a tool, and none was offered' };
  const [text, ...others] = calls.map((call) => field(call, 'arguments'));
  if (typeof text !== 'string') return { kind: 'none', text: 'the model called its tool without arguments' };
  return others.some((one) => one !== text)
    ? { kind: 'none', text: 'the model gave several answers that differ' }
    : { kind: 'called', text };
}

/** Why an answer is incomplete, by finish reason of OpenAI and of other endpoints. */
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

/** The text of a message, or the text parts of a list without reasoning parts. */
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
  return present({ id, model, finishReason });
}

/** The tokens that the endpoint reports; `believed` checks them. */
function tokensOf(usage: unknown): Tokens | undefined {
  const input = field(usage, 'prompt_tokens');
  const output = field(usage, 'completion_tokens');
  return typeof input === 'number' && typeof output === 'number' ? { input, output } : undefined;
}
