/** `tracejury/agent-trace`: makes agent traces by hand, from messages and from spans, and reads values from them. */
import { collectors } from '../../collectors/index.ts';
import { evaluationContext } from '../../evaluators/configuration/context.ts';
import type { EvaluationContext } from '../../evaluators/evaluator.ts';
import { fromOpenAiTools, jsonOf, type OpenAiTool } from './openai-messages.ts';
import { type SdkSpan, spanOf } from './readable-span.ts';
import type {
  AgentTrace,
  ModelCall,
  RetrievedDocument,
  RunStatus,
  ToolCall,
  ToolDefinition,
  ToolError,
  TraceMessage,
} from '../model/agent-trace.ts';
import { noTenant } from '../model/ids.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../model/json.ts';
import type { Span } from '../model/span.ts';
import { assemble } from '../pipeline/assembly/assemble.ts';
import { tokensOf } from '../pipeline/assembly/model-calls.ts';

/** The parts of a run that evaluators read. Absent means unknown; structured values are JSON values. */
interface AgentTraceInput {
  readonly agent?: string;
  readonly input?: string;
  readonly finalResponse?: unknown;
  readonly systemPrompt?: string;
  readonly model?: string;
  readonly sessionId?: string;
  /** In the order in which they were made. */
  readonly toolCalls?: readonly ToolCall[];
  /** The tools of the model: tool definitions, or tools in the form of the OpenAI API. */
  readonly tools?: readonly (ToolDefinition | OpenAiTool)[];
  readonly tasks?: readonly string[];
  readonly constraints?: string;
  readonly documents?: readonly RetrievedDocument[];
  readonly reasoningSteps?: readonly string[];
  readonly modelCalls?: readonly ModelCall[];
  readonly messages?: readonly TraceMessage[];
  /** Default: the sum over the model calls. */
  readonly tokens?: NonNullable<AgentTrace['tokens']>;
  readonly startUnixNano?: bigint;
  readonly endUnixNano?: bigint;
  /** The run ended with this error. */
  readonly errorMessage?: string;
  readonly errorType?: string;
  /** Default: `error` with an error message or type, else `ok`. */
  readonly status?: RunStatus;
}

export function agentTrace(given: AgentTraceInput): AgentTrace {
  const { finalResponse, toolCalls = [], tools = [], documents = [], reasoningSteps = [], modelCalls = [], ...rest } = given;
  const response = jsonOf(finalResponse);
  const tokens = given.tokens ?? tokensOf(modelCalls);
  return {
    ...present(rest),
    ...(tokens === undefined ? {} : { tokens }),
    ...(response === undefined ? {} : { finalResponse: response }),
    status: given.status ?? ((given.errorMessage ?? given.errorType) === undefined ? 'ok' : 'error'),
    toolCalls,
    toolDefinitions: fromOpenAiTools(tools),
    modelCalls,
    documents,
    reasoningSteps,
    subAgents: [],
    toolCallsCarried: true,
  };
}

interface ToolCallInput {
  /** The result; null when the tool returned nothing. Omitted when unknown. */
  readonly result?: unknown;
  /** The error, as a text or with its type. */
  readonly error?: string | Pick<ToolError, 'message' | 'type'>;
  /** The model's id of this call. */
  readonly id?: string;
  /** A stable id of the tool itself. */
  readonly toolId?: string;
  /** False for a requested call that never ran. */
  readonly executed?: boolean;
  /** Calls with the same number were requested in one model turn. */
  readonly turn?: number;
  readonly startUnixNano?: bigint;
  readonly endUnixNano?: bigint;
  /** Own notes on the call as JSON: latency, tokens and so on. */
  readonly metadata?: object;
}

/** Arguments are an object, or the text of the model; a text without an object stays a text. */
export function toolCall(name: string, args: object | string | null = {}, given: ToolCallInput = {}): ToolCall {
  const { result, error, executed = true, metadata, ...rest } = given;
  const returned = jsonOf(result);
  const noted = jsonOf(metadata);
  if (noted !== undefined && !isJsonObject(noted)) throw new TypeError(`${name}: metadata must be an object.`);
  return {
    name,
    ...argumentsOf(args),
    ...(returned === undefined ? {} : { result: returned }),
    ...(error === undefined ? {} : { error: { ...(typeof error === 'string' ? { message: error } : error), sign: 'is_error' as const } }),
    executed,
    ...present(rest),
    ...(noted === undefined ? {} : { metadata: noted }),
  };
}

function argumentsOf(args: object | string | null): Pick<ToolCall, 'arguments' | 'argumentsText'> {
  const value = typeof args === 'string' ? parsed(args) : jsonOf(args);
  if (isJsonObject(value)) return { arguments: value };
  if (value === null || value === undefined) return { arguments: {} };
  return { arguments: null, argumentsText: typeof args === 'string' ? args : JSON.stringify(args) };
}

/** A blank text counts as no arguments; a text that is not JSON stays a text. */
function parsed(text: string): JsonValue {
  return text.trim() === '' ? null : (parseJson(text) ?? text);
}

/** Removes members that are `undefined`. */
function present<Members extends object>(members: Members): Members {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Members;
}

/** Writes a run as one JSON object. */
export function toOutput({ finalResponse, toolCalls, reasoningSteps }: AgentTrace): JsonObject {
  return {
    output: finalResponse ?? null,
    toolCalls: toolCalls.map(({ name, id, arguments: args, argumentsText, result, error, metadata }) => ({
      name,
      ...(id === undefined ? {} : { id }),
      arguments: args ?? argumentsText ?? null,
      ...(result === undefined ? {} : { result }),
      ...(error === undefined ? {} : { error: error.message }),
      ...(metadata === undefined ? {} : { metadata }),
    })),
    reasoningSteps,
  };
}

/** A run with everything that evaluators may read beside the trace. */
interface TestCase {
  readonly input: string | undefined;
  readonly output: JsonObject;
  readonly tools: readonly ToolDefinition[];
  readonly tasks: readonly string[] | undefined;
  readonly constraints: string | undefined;
  /** The complete trace for `evaluate`. */
  readonly trace: AgentTrace;
}

export function toTestCase(trace: AgentTrace, given: Pick<AgentTraceInput, 'input' | 'tools' | 'tasks' | 'constraints'> = {}): TestCase {
  const { tools, ...rest } = given;
  const completed: AgentTrace = { ...trace, ...present(rest), ...(tools === undefined ? {} : { toolDefinitions: fromOpenAiTools(tools) }) };
  return {
    input: completed.input,
    output: toOutput(completed),
    tools: completed.toolDefinitions,
    tasks: completed.tasks,
    constraints: completed.constraints,
    trace: completed,
  };
}

export { fromMessages, fromOpenAiTools, toOpenAiTools, type FromMessages, type OpenAiTool } from './openai-messages.ts';
export type { AgentTrace, ModelCall, RetrievedDocument, ToolCall, ToolDefinition, ToolError } from '../model/agent-trace.ts';
export type { JsonObject, JsonValue } from '../model/json.ts';

/** Splits a trace into one trace for each turn, in order. Messages before the first question belong to the first turn. */
export function turns(trace: AgentTrace): readonly AgentTrace[] {
  const messages = trace.messages ?? [];
  const starts = messages.flatMap(({ role }, at) => (role === 'user' && messages[at - 1]?.role !== 'user' ? [at] : []));
  if (starts.length === 0) return [trace];
  return starts.map((start, nth) => turnOf(trace, nth === 0 ? 0 : start, starts[nth + 1] ?? messages.length));
}

function turnOf(trace: AgentTrace, from: number, to: number): AgentTrace {
  const { input: _input, finalResponse: _response, messages = [], ...rest } = trace;
  const own = messages.slice(from, to);
  const indexes = own.flatMap(({ calls }) => calls);
  const input = own.findLast(({ role, text }) => role === 'user' && text !== undefined)?.text;
  const response = own.findLast(({ role, calls, text }) => role === 'assistant' && calls.length === 0 && text !== undefined)?.text;
  return {
    ...rest,
    ...(input === undefined ? {} : { input }),
    ...(response === undefined ? {} : { finalResponse: response }),
    toolCalls: indexes.flatMap((index) => trace.toolCalls[index] ?? []),
    messages: own.map((message) => ({ ...message, calls: message.calls.map((index) => indexes.indexOf(index)) })),
    reasoningSteps: own.flatMap(({ role, calls, text }) =>
      role === 'assistant' && calls.length > 0 && text !== undefined && text.trim() !== '' ? [text] : [],
    ),
  };
}

/** The type of the values that a JSON Schema accepts, or `JsonValue` when its keywords do not determine it. */
export type FromSchema<Schema> = Schema extends { readonly const: infer Value }
  ? Value
  : Schema extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : Schema extends { readonly type: infer Type }
      ? OfType<Type, Schema>
      : JsonValue;

type OfType<Type, Schema> = Type extends readonly (infer One)[]
  ? OfType<One, Schema>
  : Type extends 'string'
    ? string
    : Type extends 'number' | 'integer'
      ? number
      : Type extends 'boolean'
        ? boolean
        : Type extends 'null'
          ? null
          : Type extends 'array'
            ? ListOf<Schema>
            : Type extends 'object'
              ? ObjectOf<Schema>
              : JsonValue;

type ListOf<Schema> = Schema extends { readonly items: infer Items } ? readonly FromSchema<Items>[] : readonly JsonValue[];

type ObjectOf<Schema> = Schema extends { readonly properties: infer Properties }
  ? { readonly [Key in keyof Properties as Key extends RequiredOf<Schema> ? Key : never]: FromSchema<Properties[Key]> } & {
      readonly [Key in keyof Properties as Key extends RequiredOf<Schema> ? never : Key]?: FromSchema<Properties[Key]>;
    }
  : JsonObject;

type RequiredOf<Schema> = Schema extends { readonly required: readonly (infer Name)[] } ? Name : never;

/**
 * Reads the result of a call by a schema; null for null, a blank text or the text `null`, unless the schema accepts such a text. Also parses a
 * text as JSON. Throws a TypeError when the result is unknown, and one with the place when it does not fit the schema.
 */
export function readResult<const Schema extends object>(
  call: ToolCall,
  schema: Schema,
  context: EvaluationContext = evaluationContext(),
): FromSchema<Schema> | null {
  const { name, result } = call;
  if (result === undefined) throw new TypeError(`${name}: the result is not known.`);
  if (result === null) return null;
  const inside = typeof result === 'string' ? parseJson(result) : undefined;
  const asIs = misfit(result, schema, context);
  if (asIs === undefined) return result as FromSchema<Schema>;
  if (inside === null || (typeof result === 'string' && result.trim() === '')) return null;
  if (inside !== undefined && misfit(inside, schema, context) === undefined) return inside as FromSchema<Schema>;
  throw new TypeError(
    `${name}: the result does not fit the schema${inside === undefined ? asIs : (misfit(inside, schema, context) ?? asIs)}.`,
  );
}

/** Reads the arguments of a call by a schema. Throws a TypeError with the place when they do not fit. */
export function readArguments<const Schema extends object>(
  call: ToolCall,
  schema: Schema,
  context: EvaluationContext = evaluationContext(),
): FromSchema<Schema> {
  const { name, arguments: sent } = call;
  if (sent === undefined || sent === null)
    throw new TypeError(`${name}: the arguments ${sent === null ? 'are not an object' : 'are not known'}.`);
  const fault = misfit(sent, schema, context);
  if (fault !== undefined) throw new TypeError(`${name}: the arguments do not fit the schema${fault}.`);
  return sent as FromSchema<Schema>;
}

/** The place and the fault, for a message that ends with `does not fit the schema`; `undefined` when the value fits. */
function misfit(value: JsonValue, schema: object, context: EvaluationContext): string | undefined {
  const compiled = context.schema(schema as JsonObject);
  if (compiled === undefined || compiled.faults.length > 0)
    throw new TypeError(`The schema cannot be used${compiled === undefined ? '' : `: ${compiled.faults.join('; ')}`}.`);
  const problems = compiled.problems(value);
  if (problems === undefined) return ': the schema asks for too much work to be checked to the end';
  const [first] = problems;
  if (first === undefined) return undefined;
  return `${first.path.length === 0 ? '' : ` at ${first.path.join('.')}`}: ${first.message}`;
}

/** Reads the runs in spans of this process, by start, an agent before its sub-agents. Empty without agent, model and tool spans. */
export function fromSpans(spans: readonly SdkSpan[]): readonly AgentTrace[] {
  const read = spans.map(spanOf).filter((span) => span !== undefined);
  return [...Map.groupBy(read, ({ traceId }) => traceId).values()]
    .flatMap((own) =>
      assemble({ collectors, tenant: noTenant, held: onceEach(own).map((span) => ({ span, arrivedMs: 0 })), records: new Map() }),
    )
    .toSorted((a, b) => (a.startUnixNano < b.startUnixNano ? -1 : a.startUnixNano > b.startUnixNano ? 1 : 0))
    .map(({ trace }) => trace);
}

function onceEach(spans: readonly Span[]): readonly Span[] {
  return [...new Map(spans.map((span) => [span.spanId, span])).values()];
}
