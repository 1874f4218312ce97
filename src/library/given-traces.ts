/** Reads agent traces and conversations that are written in JSON, and makes runs of them. */
import { createHash } from 'node:crypto';
import { readDefinitions } from '../../collectors/parsing/definitions.ts';
import { agentTrace, toolCall } from './agent-trace.ts';
import { fromMessages } from './openai-messages.ts';
import { runStatuses, type AgentTrace, type ModelCall, type Run, type ToolCall, type TruncatedPart } from '../model/agent-trace.ts';
import { JuryError, unreadable } from '../model/errors.ts';
import { noTenant, parseSpanId, parseTraceId, type SpanId, type TraceId } from '../model/ids.ts';
import { isJsonArray, isJsonObject, type JsonObject, jsonText, type JsonValue, member, plainText } from '../model/json.ts';
import { tokensOf } from '../pipeline/assembly/model-calls.ts';

export interface GivenTrace {
  readonly trace: AgentTrace;
  readonly exampleId: string | undefined;
  /** The expectation in the object itself. */
  readonly expected: JsonValue | undefined;
  /** The place of `expected` in the document. */
  readonly expectedPath: readonly (string | number)[];
}

/** A hash of the content gives an agent trace its ids, so that sampling chooses the same ones each time. */
export function runOfTrace(trace: AgentTrace, expected: JsonValue | undefined): Run {
  const hash = createHash('sha256')
    .update(jsonText(trace as unknown as JsonValue, { sortKeys: true }))
    .digest('hex');
  return {
    tenant: noTenant,
    ...idsIn(hash),
    trace,
    dialects: [],
    resourceAttributes: {},
    traceState: '',
    startUnixNano: trace.startUnixNano ?? 0n,
    endUnixNano: trace.endUnixNano ?? 0n,
    completeness: 'complete',
    revision: 1,
    contentHash: hash,
    ...(expected === undefined ? {} : { expected }),
  };
}

function idsIn(hash: string): { readonly traceId: TraceId; readonly spanId: SpanId } {
  const [traceId, spanId] = [parseTraceId(hash.slice(0, 32)), parseSpanId(hash.slice(32, 48))];
  if (traceId === undefined || spanId === undefined) throw new Error('a hash of nothing but zeros');
  return { traceId, spanId };
}

/** Runs of one file. */
const tracesMax = 100_000;

/** Reads a list of messages, an agent trace, or a list of either, with members in snake_case or camelCase. Throws INPUT_UNREADABLE with the place. */
export function givenTraces(where: string, value: JsonValue): readonly GivenTrace[] {
  if (!isJsonArray(value) || isConversation(value)) return [givenTrace(where, value, [])];
  if (value.length > tracesMax) throw unreadable(where, `more than ${tracesMax} runs.`);
  return value.map((item, at) => givenTrace(`${where}[${at}]`, item, [at]));
}

function isConversation(list: readonly JsonValue[]): boolean {
  return list.some((item) => isJsonObject(item) && typeof member(item, 'role') === 'string');
}

function givenTrace(where: string, value: JsonValue, path: readonly (string | number)[]): GivenTrace {
  if (isJsonArray(value)) return { trace: conversation(where, value, {}), exampleId: undefined, expected: undefined, expectedPath: path };
  if (!isJsonObject(value)) throw unreadable(where, 'it is neither a list of messages nor an agent trace.');
  const messages = either(value, 'messages');
  const calls = either(value, 'tool_calls');
  const known = ['input', 'final_response', 'output'].some((name) => either(value, name) !== undefined);
  if (messages === undefined && calls === undefined && !known)
    throw unreadable(where, `it has neither messages nor tool_calls${namesText(value)}.`);
  const id = either(value, 'example_id') ?? either(value, 'id');
  return {
    trace: isJsonArray(messages) && calls === undefined ? conversation(where, messages, value) : handmade(where, value),
    exampleId: typeof id === 'string' || typeof id === 'number' ? String(id) : undefined,
    expected: either(value, 'expect') ?? either(value, 'expected'),
    expectedPath: [...path, either(value, 'expect') === undefined ? 'expected' : 'expect'],
  };
}

function namesText(value: JsonObject): string {
  const names = Object.keys(value)
    .slice(0, 3)
    .map((key) => JSON.stringify(key.slice(0, 40)));
  return names.length === 0 ? '' : `, but ${names.join(', ')}`;
}

function conversation(where: string, messages: JsonValue, around: JsonObject): AgentTrace {
  try {
    const { trace } = fromMessages(messages);
    return { ...trace, ...besides(around), toolDefinitions: readDefinitions(either(around, 'tools')) };
  } catch (error) {
    throw error instanceof JuryError ? unreadable(where, error.why) : error;
  }
}

function handmade(where: string, value: JsonObject): AgentTrace {
  const calls = either(value, 'tool_calls') ?? [];
  if (!isJsonArray(calls)) throw unreadable(where, 'its tool_calls are not a list.');
  const response = either(value, 'final_response') ?? either(value, 'output');
  const steps = either(value, 'reasoning_steps');
  return {
    ...agentTrace({
      toolCalls: calls.map((call, at) => givenCall(`${where}: tool_calls[${at}]`, call)),
      reasoningSteps: texts(steps) ?? [],
    }),
    ...(response === undefined || response === null ? {} : { finalResponse: response }),
    ...besides(value),
    toolDefinitions: readDefinitions(either(value, 'tools') ?? either(value, 'tool_definitions')),
    ...(either(value, 'tool_calls_carried') === false ? { toolCallsCarried: false } : {}),
    ...truncatedParts(either(value, 'truncated')),
  };
}

const truncatable: readonly TruncatedPart[] = ['input', 'final_response', 'system_prompt', 'spans'];

function truncatedParts(named: JsonValue | undefined): Pick<AgentTrace, 'truncated'> {
  const parts = isJsonArray(named) ? truncatable.filter((part) => named.includes(part)) : [];
  return parts.length === 0 ? {} : { truncated: parts };
}

/** The members beside calls or messages. */
function besides(value: JsonObject): Partial<AgentTrace> {
  const tasks = texts(either(value, 'tasks'));
  const [error, type, word] = [either(value, 'error_message'), either(value, 'error_type'), either(value, 'status')];
  const isError = typeof error === 'string' || typeof type === 'string';
  const status = runStatuses.find((one) => one === word) ?? (isError ? 'error' : undefined);
  return {
    ...text('agent', value),
    ...text('input', value),
    ...text('model', value),
    ...text('constraints', value),
    ...text('systemPrompt', value),
    ...text('sessionId', value),
    ...givenTokens(value),
    ...(tasks === undefined ? {} : { tasks }),
    ...(status === undefined ? {} : { status }),
    ...text('errorMessage', value),
    ...text('errorType', value),
  };
}

function text<Name extends string>(name: Name, value: JsonObject): { readonly [Key in Name]?: string } {
  const given = either(value, snake(name));
  return typeof given === 'string' ? ({ [name]: given } as { readonly [Key in Name]: string }) : {};
}

function givenCall(where: string, value: JsonValue): ToolCall {
  const inner = isJsonObject(value) ? member(value, 'function') : undefined;
  const named = isJsonObject(inner) ? inner : value;
  const name = isJsonObject(named) ? member(named, 'name') : undefined;
  if (!isJsonObject(value) || !isJsonObject(named) || typeof name !== 'string') throw unreadable(where, 'it has no name.');
  const sent = either(named, 'arguments') ?? either(value, 'args') ?? either(value, 'arguments_text');
  const [id, toolId, error, result, metadata] = ['id', 'tool_id', 'error', 'result', 'metadata'].map((key) => either(value, key));
  const unknown = result === undefined || (result === null && either(value, 'result_carried') === false);
  const call = toolCall(name, typeof sent === 'object' || typeof sent === 'string' ? sent : sent === undefined ? {} : plainText(sent), {
    ...(unknown ? {} : { result }),
    ...(error === undefined || error === null ? {} : { error: errorOf(error) }),
    ...(typeof id === 'string' ? { id } : {}),
    ...(typeof toolId === 'string' ? { toolId } : {}),
    ...(either(value, 'executed') === false ? { executed: false } : {}),
    ...(isJsonObject(metadata) ? { metadata } : {}),
  });
  const stated = either(value, 'stated_outcome') === 'ok' ? { ...call, statedOk: true as const } : call;
  return withCutValues(stated, either(value, 'truncated'));
}

/** Reads truncated values as `inspect` writes them; the whole values are unknown. */
function withCutValues(call: ToolCall, truncated: JsonValue | undefined): ToolCall {
  const [sent, result] = ['arguments', 'result']
    .map((key) => (isJsonObject(truncated) ? member(truncated, key) : undefined))
    .map((part) => (typeof part === 'string' ? part : undefined));
  if (sent === undefined && result === undefined) return call;
  const { arguments: _sent, argumentsText: _text, ...rest } = call;
  return {
    ...(sent === undefined ? call : rest),
    truncated: { ...(sent === undefined ? {} : { arguments: sent }), ...(result === undefined ? {} : { result }) },
  };
}

function errorOf(error: JsonValue): { readonly message: string; readonly type?: string } {
  const message = isJsonObject(error) ? member(error, 'message') : undefined;
  const type = isJsonObject(error) ? member(error, 'type') : undefined;
  return { message: message === undefined ? plainText(error) : plainText(message), ...(typeof type === 'string' ? { type } : {}) };
}

function texts(value: JsonValue | undefined): readonly string[] | undefined {
  return isJsonArray(value) ? value.filter((item) => typeof item === 'string') : undefined;
}

/** Reads a member by its snake_case name, or by the same in camelCase. */
function either(value: JsonObject, name: string): JsonValue | undefined {
  return (
    member(value, name) ??
    member(
      value,
      name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    )
  );
}

function snake(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/**
 * Reads tokens from `model_calls`, or from `tokens` of the run. A model call has `model`, `input_tokens`, `output_tokens` and
 * `cached_input_tokens`; `tokens` has `input` and `output`.
 */
function givenTokens(value: JsonObject): Pick<AgentTrace, 'modelCalls' | 'tokens'> {
  const calls = either(value, 'model_calls');
  const modelCalls = isJsonArray(calls) ? calls.filter(isJsonObject).map(modelCall) : [];
  const whole = member(value, 'tokens');
  const tokens = tokensOf(
    modelCalls.length > 0 || !isJsonObject(whole)
      ? modelCalls
      : [{ ...count('inputTokens', member(whole, 'input')), ...count('outputTokens', member(whole, 'output')) }],
  );
  return { modelCalls, ...(tokens === undefined ? {} : { tokens }) };
}

function modelCall(given: JsonObject): ModelCall {
  const model = member(given, 'model');
  return {
    ...(typeof model === 'string' ? { model } : {}),
    ...count('inputTokens', either(given, 'input_tokens')),
    ...count('outputTokens', either(given, 'output_tokens')),
    ...count('cachedInputTokens', either(given, 'cached_input_tokens')),
  };
}

function count<Name extends 'inputTokens' | 'outputTokens' | 'cachedInputTokens'>(
  name: Name,
  value: JsonValue | undefined,
): { readonly [Key in Name]?: number } {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
    ? ({ [name]: value } as { readonly [Key in Name]: number })
    : {};
}
