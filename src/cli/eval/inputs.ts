/** Reads the runs of input files: from spans by the gathering of the service, from agent traces, or from messages. */
import { createHash } from 'node:crypto';
import { readDefinitions } from '../../../collectors/parsing/definitions.ts';
import { type Locate, locatorOf } from './dataset.ts';
import type { EvalItem } from './scoring.ts';
import { type Reading, replayed } from '../inspect/inspection.ts';
import { type Body, readRecorded, type Recorded, unreadable } from '../inspect/recording.ts';
import { type Path, pathText } from '../../config/diagnostic.ts';
import { agentTrace, toolCall } from '../../library/agent-trace.ts';
import { fromMessages } from '../../library/openai-messages.ts';
import type { AgentTrace, ModelCall, Run, ToolCall, TruncatedPart } from '../../model/agent-trace.ts';
import { wire } from '../../model/attributes.ts';
import { JuryError } from '../../model/errors.ts';
import { noTenant, parseSpanId, parseTraceId, type SpanId, type TraceId } from '../../model/ids.ts';
import { isJsonArray, isJsonObject, type JsonObject, jsonText, type JsonValue, member, parseJson, plainText } from '../../model/json.ts';
import { type Span, textAttribute } from '../../model/span.ts';
import { tokensOf } from '../../pipeline/assembly/model-calls.ts';
import { defaultTaskKey, type TaskKeyOptions, taskKeys, type TaskKeys, type TaskPath } from '../../pipeline/reporting/task-keys.ts';

interface ReadInputs {
  readonly items: readonly EvalItem[];
  /** Rejected spans. */
  readonly rejections: Recorded['rejections'];
}

/** Gives runs from spans by start time, then runs from agent traces and messages in their order. Throws INPUT_UNREADABLE. */
export function readInputs(
  bodies: readonly Body[],
  reading: Reading,
  taskKey: TaskPath = defaultTaskKey,
  keyOptions: TaskKeyOptions = {},
): ReadInputs {
  const recordedBodies: Body[] = [];
  const given: (GivenTrace & { readonly document: Document })[] = [];
  for (const body of bodies) {
    const documents = givenDocuments(body);
    if (documents === undefined) recordedBodies.push(body);
    else for (const document of documents) given.push(...givenTraces(document.where, document.value).map((one) => ({ ...one, document })));
  }
  const recorded = readRecorded(recordedBodies);
  const named = exampleIds(recorded.spans);
  const { runs } = replayed(recorded, reading);
  const tasks = taskKeys(taskKey, keyOptions);
  tasks.spans(noTenant, recorded.spans);
  return {
    items: [
      ...runs.map((run) => withTask(recordedItem(run, named), tasks)),
      ...given.map((one, at) => withTask(givenItem(one, at), tasks)),
    ],
    rejections: recorded.rejections,
  };
}

function withTask(item: Omit<EvalItem, 'task'>, tasks: TaskKeys): EvalItem {
  return { ...item, task: tasks.of(item.run) };
}

/** A JSON document of a body. */
interface Document {
  readonly where: string;
  readonly value: JsonValue;
  readonly file: string;
  readonly locate: Locate;
  /** Number of its first line, from 1. */
  readonly line: number;
}

/** The JSON documents of a body: one, or one a line. `undefined` when the body holds spans or is not JSON. */
function givenDocuments({ name, bytes }: Body): readonly Document[] | undefined {
  const text = givenText(bytes);
  if (text === undefined) return undefined;
  const whole = parseJson(text);
  if (whole !== undefined) return isOtlp(whole) ? undefined : [{ where: name, value: whole, file: name, locate: locatorOf(text), line: 1 }];
  const lines = givenLines(name, text);
  const first = parseJson(lines[0]?.text ?? '');
  if (first === undefined || isOtlp(first)) return undefined;
  return lines.map(({ where, text: own, line }) => {
    const value = parseJson(own);
    if (value === undefined) throw unreadable(where, 'it is not JSON.');
    return { where, value, file: name, locate: locatorOf(own), line };
  });
}

interface NamedExamples {
  readonly bySpan: ReadonlyMap<string, string>;
  /** `undefined` when spans of the trace name different examples. */
  readonly byTrace: ReadonlyMap<string, string | undefined>;
}

function exampleIds(spans: readonly Span[]): NamedExamples {
  const bySpan = new Map<string, string>();
  const byTrace = new Map<string, string | undefined>();
  for (const span of spans) {
    const id = textAttribute(span, wire.exampleId) ?? textAttribute(span.resource, wire.exampleId);
    if (id === undefined) continue;
    bySpan.set(`${span.traceId}/${span.spanId}`, id);
    byTrace.set(span.traceId, byTrace.has(span.traceId) && byTrace.get(span.traceId) !== id ? undefined : id);
  }
  return { bySpan, byTrace };
}

function recordedItem(run: Run, { bySpan, byTrace }: NamedExamples): Omit<EvalItem, 'task'> {
  const place = `${run.traceId}/${run.spanId}`;
  return {
    run,
    label: `${run.trace.agent ?? 'run'} ${place}`,
    exampleId: bySpan.get(place) ?? (run.parent === undefined ? byTrace.get(run.traceId) : undefined),
    ordered: false,
  };
}

function givenItem(
  { trace, exampleId, expected, expectedPath, document }: GivenTrace & { readonly document: Document },
  at: number,
): Omit<EvalItem, 'task'> {
  const { where, file, locate, line } = document;
  return {
    run: runOfTrace(trace, expected),
    label: exampleId ?? `${where}${at === 0 ? '' : ` #${at + 1}`}`,
    exampleId,
    ordered: true,
    origin(path, which) {
      const place = locate([...expectedPath, ...path], which);
      return { ...place, file, line: place.line + line - 1, key: pathText([...expectedPath, ...path]) };
    },
  };
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

/** A key of an OTLP request near the beginning of a body. */
const OTLP_KEY = /"resource_?(?:spans|logs|metrics)"/i;
const otlpKeyBytes = 1_000;

/** The text of a body with runs or labels in JSON; `undefined` when it holds spans or is not JSON. */
export function givenText(bytes: Buffer): string | undefined {
  if (OTLP_KEY.test(bytes.toString('utf8', 0, otlpKeyBytes))) return undefined;
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '');
  return /^\s*[[{]/.test(text) ? text : undefined;
}

function isOtlp(value: JsonValue): boolean {
  return isJsonObject(value) && Object.keys(value).some((key) => OTLP_KEY.test(JSON.stringify(key)));
}

interface GivenLine {
  readonly where: string;
  readonly text: string;
  /** Number of the line, from 1. */
  readonly line: number;
}

/** The lines without blank ones, each with its place for messages. */
export function givenLines(name: string, text: string): readonly GivenLine[] {
  return text
    .split('\n')
    .flatMap((line, at) => (line.trim() === '' ? [] : [{ where: `${name}: line ${at + 1}`, text: line, line: at + 1 }]));
}

interface GivenTrace {
  readonly trace: AgentTrace;
  readonly exampleId: string | undefined;
  /** The expectation in the object itself. */
  readonly expected: JsonValue | undefined;
  /** The place of `expected` in the document. */
  readonly expectedPath: Path;
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

function givenTrace(where: string, value: JsonValue, path: Path): GivenTrace {
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
  const error = either(value, 'error_message');
  return {
    ...text('agent', value),
    ...text('input', value),
    ...text('model', value),
    ...text('constraints', value),
    ...text('systemPrompt', value),
    ...text('sessionId', value),
    ...givenTokens(value),
    ...(tasks === undefined ? {} : { tasks }),
    ...(typeof error === 'string' ? { status: 'error' as const, errorMessage: error } : {}),
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
