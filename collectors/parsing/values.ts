/** Arguments and results as SDKs write them: JSON text, Python notation, texts in texts, and the frameworks' wrappers around them. */
import type { Mutable } from '../../src/model/mutable.ts';
import { isJsonArray, isJsonObject, jsonText, member, type JsonObject, type JsonValue } from '../../src/model/json.ts';
import type { AttributeValue } from '../../src/model/span.ts';
import type { RepeatedTexts, ToolFacts } from '../collector.ts';
import { jsonOf, mayBeUnreadObject, parseText, textOfParts, isPlaceholder } from './parsing.ts';
import { parsePythonDump, parsePythonObject } from './python-literal.ts';
import { isCutShort } from './truncation.ts';

/** Frameworks wrap at most a few times; more levels are the application's data. */
const wrappersMax = 6;

export interface ReadArguments {
  /** `null` when the arguments are not an object; `argumentsText` holds them. */
  readonly arguments?: JsonObject | null;
  readonly argumentsText?: string;
  /** The remainder of arguments that were truncated, or the text of ones too large to be read; they are then unknown. */
  readonly argumentsPart?: string;
}

/** A result without its wrapper, and what the wrapper said. */
export interface ReadResult {
  /** Absent when it was left out, or truncated. */
  readonly result?: JsonValue;
  readonly resultPart?: string;
  readonly callId?: string;
  readonly toolName?: string;
  readonly failed?: boolean;
}

/** Reads texts that are not repeated. */
export const eachText: RepeatedTexts = { text: (text, read) => read(text) };

/** As `readArguments`, for arguments that may stand elsewhere in the same words. */
export function repeatedArguments(raw: AttributeValue | undefined, texts: RepeatedTexts): ReadArguments {
  return typeof raw === 'string' ? texts.text(raw, readArguments) : readArguments(raw);
}

/** As `readResult`, likewise. */
export function repeatedResult(raw: AttributeValue, texts: RepeatedTexts): ReadResult {
  return typeof raw === 'string' ? texts.text(raw, readResult) : readResult(raw);
}

/** A call's arguments as an object, without `{"args":[],"kwargs":{}}` and the like around them. `name`: of the tool, where it is known. */
export function readArguments(raw: AttributeValue | undefined, name?: string): ReadArguments {
  if (raw === undefined || isPlaceholder(raw)) return {};
  let value = jsonOf(raw);
  for (let level = 0; level < wrappersMax; level++) {
    if (typeof value === 'string') {
      const parsed = value.trim() === '' ? {} : parseText(value);
      if (parsed === value) break;
      value = parsed;
    } else {
      const inner = ofCall(value, name) ?? (isJsonObject(value) ? argumentsInside(value) : undefined);
      if (inner === 'nameless') return {};
      if (inner === undefined) break;
      value = inner.value;
    }
  }
  if (isJsonObject(value)) return { arguments: value };
  if (typeof value === 'string' && (isCutShort(value) || mayBeUnreadObject(value) || (typeof raw === 'string' && isCutShort(raw))))
    return { argumentsPart: value };
  return { arguments: null, argumentsText: typeof raw === 'string' ? raw : jsonText(value) };
}

/** The call's id beside the arguments of a traced `execute` of the AI SDK, or in the call that a tool was given. */
export function callIdBeside(raw: AttributeValue | undefined): string | undefined {
  if (typeof raw !== 'string' || !/"toolCallId"|"tool_call"/.test(raw)) return undefined;
  const value = parseText(raw);
  const args = isJsonObject(value) && hasOnly(value, ['args']) ? member(value, 'args') : undefined;
  const options = isJsonArray(args) ? args[1] : undefined;
  const callId = isJsonObject(options) ? member(options, 'toolCallId') : callIn(value)?.['id'];
  return typeof callId === 'string' ? callId : undefined;
}

/** Sets what was read of the arguments of a call. */
export function addArguments(read: ReadArguments, call: Mutable<ReadArguments>): void {
  if (read.arguments !== undefined) call.arguments = read.arguments;
  if (read.argumentsText !== undefined) call.argumentsText = read.argumentsText;
  if (read.argumentsPart !== undefined) call.argumentsPart = read.argumentsPart;
}

/** A call of the tool with its arguments, bare or as the only one of a list: `{"name": …, "arguments": {…}}`, `[{"name": …, "args": {…}, "type": "tool_call"}]`. */
function ofCall(value: JsonValue, name: string | undefined): { readonly value: JsonValue } | undefined {
  const call = isJsonObject(value) && hasOnly(value, ['name', 'arguments', 'id', 'type']) ? value : callIn(value);
  if (call === undefined || name === undefined || member(call, 'name') !== name) return undefined;
  const given = member(call, 'arguments') ?? member(call, 'args');
  return isJsonObject(given) || typeof given === 'string' ? { value: given } : undefined;
}

/** The call that a node of LangGraph is given. */
function callIn(value: JsonValue): JsonObject | undefined {
  const call = isJsonArray(value) && value.length === 1 ? value[0] : value;
  return isJsonObject(call) && member(call, 'type') === 'tool_call' ? call : undefined;
}

const SMOLAGENTS_FLAG = 'sanitize_inputs_outputs';

function isEmpty(value: JsonValue): boolean {
  return isJsonArray(value) ? value.length === 0 : isJsonObject(value) && hasOnly(value, none);
}

const none: readonly string[] = [];

/** The arguments in a frame; `nameless` when they were given by position, and the span does not name them. */
function argumentsInside(object: JsonObject): { readonly value: JsonValue } | 'nameless' | undefined {
  const kwargs = member(object, 'kwargs');
  // The arguments of the method that runs a tool of smolagents, flat: arguments by position have no names.
  if (Object.hasOwn(object, SMOLAGENTS_FLAG) && kwargs === undefined) {
    const { [SMOLAGENTS_FLAG]: _flag, args, ...named } = object;
    return args === undefined || isEmpty(args) ? { value: named } : 'nameless';
  }
  if (isJsonObject(kwargs) && hasOnly(object, ['args', 'kwargs', SMOLAGENTS_FLAG])) {
    const args = member(object, 'args');
    if (!isJsonArray(args) || args.length === 0) return { value: kwargs };
    const [only, ...others] = args;
    return only !== undefined && others.length === 0 && Object.keys(kwargs).length === 0 && mayHoldObject(only)
      ? { value: only }
      : 'nameless';
  }
  const written = hasOnly(object, ['args']) ? member(object, 'args') : undefined;
  const [only, options, ...rest] = isJsonArray(written) ? written : [];
  if (typeof only === 'string' && options === undefined && isJsonObject(parseText(only))) return { value: only };
  // A traced `execute` of the AI SDK: the arguments, and then what is known of the call.
  if (isJsonObject(only) && isJsonObject(options) && Object.hasOwn(options, 'toolCallId') && rest.length === 0) return { value: only };
  // A traced call of a tool that takes its input and the options of the run.
  const given = hasOnly(object, ['input', 'options']) && Object.hasOwn(object, 'options') ? member(object, 'input') : undefined;
  if (isJsonObject(given)) return { value: given };
  const inputText = member(object, 'input_str');
  return typeof inputText === 'string' ? { value: inputText } : undefined;
}

function mayHoldObject(value: JsonValue): boolean {
  return typeof value === 'string' ? /^\s*(?:[{"]|$)/.test(value) : isJsonObject(value);
}

/** A tool's result without the message objects that frameworks put around it. */
export function readResult(raw: AttributeValue): ReadResult {
  let result = jsonOf(raw);
  let about: Omit<ReadResult, 'result'> | undefined;
  for (let level = 0; level < wrappersMax; level++) {
    const value: JsonValue = result;
    if (typeof value === 'string') {
      result = parseText(value);
      const inner = result === value ? writtenResult(value) : undefined;
      if (inner !== undefined) {
        const { result: unwrapped, ...more } = inner;
        about = { ...about, ...more };
        result = unwrapped;
      }
    } else {
      const inner: Inside = isJsonArray(value) ? insideList(value) : isJsonObject(value) ? resultInside(value) : undefined;
      if (inner === undefined || inner.result === value) break;
      const { result: unwrapped, ...more } = inner;
      about = { ...about, ...more };
      result = unwrapped;
    }
    if (result === value) break;
  }
  if (isPlaceholder(result)) return { ...about };
  return typeof result === 'string' && isCutShort(result)
    ? { ...about, resultPart: result }
    : about === undefined
      ? { result }
      : { ...about, result };
}

/** Classes whose objects frameworks put around a result. */
const RESULT_CLASS = /^(?:\w*Tool\w*|Function\w*)(?:Result|Response|Message|Output|Return|ReturnPart)$/;

/** A result in the text form of a Python object: `ToolMessage(content=…)`, or bare with the call's id. */
function writtenResult(text: string): Framed | undefined {
  if (!/^(?:[A-Z]\w*\(|content=|status='|\{'messages': \[\w*ToolMessage\()/.test(text)) return undefined;
  if (text.startsWith('{')) {
    const state = parsePythonDump(text);
    return isJsonObject(state) ? { result: state } : undefined;
  }
  const object = parsePythonObject(text);
  if (object === undefined) return undefined;
  if (text.startsWith('status=')) return executionResult(object);
  const kind = member(object, 'type');
  const isFrame = typeof kind === 'string' ? RESULT_CLASS.test(kind) : text.startsWith('content=') || Object.hasOwn(object, 'error');
  const key = ['content', 'output', 'result', 'return_value'].find((name) => Object.hasOwn(object, name));
  if (!isFrame || key === undefined) return undefined;
  return { ...toolMessage(object), result: member(object, key) ?? null };
}

/** The outcome of an execution with its status, as pydantic's `str` writes it: `status='failure' result=None error='…'`. */
function executionResult(object: JsonObject): Framed | undefined {
  if (!Object.hasOwn(object, 'result') || !Object.hasOwn(object, 'error')) return undefined;
  const failed = saysFailed(object);
  return { result: member(object, failed ? 'error' : 'result') ?? null, ...(failed ? { failed: true } : {}) };
}

/** The outcome in a tool's span: the result, and whether the wrapper around it reports a failure. */
export function readOutcome(raw: AttributeValue | undefined): Outcome {
  return raw === undefined ? {} : outcomeOf(readResult(raw));
}

type Outcome = Pick<ToolFacts, 'result' | 'resultPart' | 'failed'>;

export function outcomeOf(read: ReadResult): Outcome {
  const outcome: Mutable<Outcome> = {};
  addOutcome(read, outcome);
  return outcome;
}

/** Sets what was read of a call's outcome. */
export function addOutcome({ result, resultPart, failed }: ReadResult, outcome: Mutable<Outcome>): void {
  if (result !== undefined) outcome.result = result;
  if (resultPart !== undefined) outcome.resultPart = resultPart;
  if (failed === true) outcome.failed = { message: typeof result === 'string' ? result : (resultPart ?? '') };
}

/** Text parts put together, or the one part of a Bedrock tool result: `[{"json": …}]`. */
function insideList(list: readonly JsonValue[]): Inside {
  const [only] = list;
  const inner = list.length === 1 && isJsonObject(only) && hasOnly(only, ['json']) ? member(only, 'json') : undefined;
  return inner === undefined ? textOfParts(list) : { result: inner };
}

interface Framed extends ReadResult {
  readonly result: JsonValue;
}

type Inside = Framed | undefined;

/** Each frame is recognised by members that no plain result has by chance. */
const frames: readonly ((object: JsonObject) => Inside)[] = [
  // LangChain's serialised message, bare: {"lc":1,"kwargs":{"content":…,"status":…}}
  (object) =>
    member(object, 'lc') !== undefined && isJsonObject(member(object, 'kwargs'))
      ? toolMessage(member(object, 'kwargs') as JsonObject)
      : undefined,
  // LangChain's message dictionary: {"type":"tool","data":{"content":…}}
  (object) =>
    member(object, 'type') === 'tool' && isJsonObject(member(object, 'data'))
      ? toolMessage(member(object, 'data') as JsonObject)
      : undefined,
  // A tool message of any framework.
  (object) => (isToolMessage(object) ? toolMessage(object) : undefined),
  // One of the above under a single member.
  (object) => {
    const output = hasOnly(object, ['output', 'kwargs', 'tags', 'metadata']) ? member(object, 'output') : undefined;
    const isFramed = isJsonObject(output) ? resultInside(output) : typeof output === 'string' ? writtenResult(output) : undefined;
    return isFramed === undefined ? undefined : { result: output ?? null };
  },
  // LangWatch's frame around a message.
  (object) => {
    const value = hasOnly(object, ['type', 'value']) ? member(object, 'value') : undefined;
    return isJsonObject(value) && resultInside(value) !== undefined ? { result: value } : undefined;
  },
  // The messages that the node that runs a tool adds to a graph.
  (object) => {
    const messages = hasOnly(object, ['messages']) ? member(object, 'messages') : undefined;
    const only = isJsonArray(messages) && messages.length === 1 ? messages[0] : undefined;
    return isJsonObject(only) && isToolMessage(only) ? toolMessage(only) : undefined;
  },
  // LangGraph's command, with which a tool answers and changes the graph: its message is the result.
  (object) => {
    const update = member(object, 'lg_name') === 'Command' || hasOnly(object, COMMAND) ? member(object, 'update') : undefined;
    const messages = isJsonObject(update) ? member(update, 'messages') : undefined;
    const last = isJsonArray(messages) ? messages.at(-1) : undefined;
    return isJsonObject(last) && resultInside(last) !== undefined ? { result: last } : undefined;
  },
  // Only a report of a failure.
  (object) => {
    const text = reportIn(object);
    return text === undefined ? undefined : { result: text, failed: true };
  },
  // A tool message that is only its constructor's arguments.
  (object) => {
    const kwargs = hasOnly(object, ['kwargs', 'args', 'id', 'type', 'name', 'graph']) ? member(object, 'kwargs') : undefined;
    return isJsonObject(kwargs) && isToolMessage(kwargs) ? toolMessage(kwargs) : undefined;
  },
  // Gemini's function response.
  (object) =>
    hasOnly(object, ['id', 'name', 'response']) && Object.hasOwn(object, 'response') && Object.hasOwn(object, 'name')
      ? named(object, 'response')
      : undefined,
  // LlamaIndex: the event of a call that returned.
  (object) =>
    Object.hasOwn(object, 'tool_output') && typeof member(object, 'tool_id') === 'string'
      ? {
          result: member(object, 'tool_output') ?? null,
          callId: String(member(object, 'tool_id')),
          ...(typeof member(object, 'tool_name') === 'string' ? { toolName: String(member(object, 'tool_name')) } : {}),
        }
      : undefined,
  // LlamaIndex: blocks of text beside the tool's name.
  (object) => (isJsonArray(member(object, 'blocks')) && Object.hasOwn(object, 'tool_name') ? blocks(object) : undefined),
  // One text part.
  (object) =>
    member(object, 'type') === 'text' &&
    typeof member(object, 'text') === 'string' &&
    hasOnly(object, ['type', 'text', 'annotations', 'meta', '_meta'])
      ? { result: member(object, 'text') ?? '' }
      : undefined,
  // MCP's tool result, and a bare content member.
  (object) =>
    Object.hasOwn(object, 'content') && hasOnly(object, ['content', 'isError', 'is_error', 'structuredContent', 'meta', '_meta'])
      ? mcpResult(object)
      : undefined,
];

/** Members of LangGraph's command. */
const COMMAND = ['graph', 'update', 'resume', 'goto', 'lg_name', 'lc_direct_tool_output'];

/** `{"status": "error", "message": …}`, with which frameworks answer for a tool that threw. */
function reportIn(object: JsonObject): string | undefined {
  if (member(object, 'status') !== 'error' || !hasOnly(object, REPORT)) return undefined;
  const text = member(object, 'message') ?? member(object, 'error') ?? member(object, 'error_message');
  return typeof text === 'string' ? text : undefined;
}

const REPORT = ['status', 'message', 'error', 'error_message'];

/** Each frame has one of these members. */
const signs = [
  'messages',
  'tool_output',
  'lc',
  'kwargs',
  'data',
  'content',
  'output',
  'response',
  'blocks',
  'text',
  'update',
  'status',
  'value',
  'result',
] as const;

function resultInside(object: JsonObject): Inside {
  if (!hasAny(object, signs)) return undefined;
  for (const frame of frames) {
    const inside = frame(object);
    if (inside !== undefined) return inside;
  }
  return undefined;
}

function hasAny(object: JsonObject, names: readonly string[]): boolean {
  for (const name of names) if (Object.hasOwn(object, name)) return true;
  return false;
}

function isToolMessage(object: JsonObject): boolean {
  if (!Object.hasOwn(object, 'content')) return Object.hasOwn(object, 'result') && callIdOf(object) !== undefined;
  const kind = member(object, 'type') ?? member(object, 'role');
  return kind === 'tool' || kind === 'ToolMessage' || kind === 'tool_result' || callIdOf(object) !== undefined;
}

/** The id of the call that a message answers, as LangChain, Anthropic, Bedrock and the AI SDK name it. */
const callIds = ['tool_call_id', 'tool_use_id', 'toolUseId', 'toolCallId'] as const;

function callIdOf(message: JsonObject): string | undefined {
  const key = callIds.find((name) => typeof member(message, name) === 'string');
  return key === undefined ? undefined : String(member(message, key));
}

function toolMessage(message: JsonObject): Framed {
  const callId = callIdOf(message);
  const toolName = member(message, 'name');
  return {
    result: member(message, 'content') ?? member(message, 'result') ?? null,
    ...(callId === undefined ? {} : { callId }),
    ...(typeof toolName === 'string' ? { toolName } : {}),
    ...(saysFailed(message) ? { failed: true } : {}),
  };
}

function saysFailed(message: JsonObject): boolean {
  return (
    failedStates.has(member(message, 'status') ?? member(message, 'state') ?? member(message, 'outcome')) ||
    member(message, 'is_error') === true ||
    member(message, 'isError') === true
  );
}

const failedStates: ReadonlySet<unknown> = new Set(['error', 'failed', 'failure', 'ERROR', 'FAILED']);

function named(object: JsonObject, key: string): Framed {
  const id = member(object, 'id');
  return { result: member(object, key) ?? null, ...(typeof id === 'string' ? { callId: id } : {}) };
}

function blocks(object: JsonObject): Framed {
  const list = (member(object, 'blocks') as readonly JsonValue[]).map((block) => (isJsonObject(block) ? member(block, 'text') : undefined));
  return {
    result: list.filter((text) => typeof text === 'string').join(''),
    ...(member(object, 'is_error') === true ? { failed: true } : {}),
  };
}

function mcpResult(object: JsonObject): Framed {
  return { result: member(object, 'content') ?? null, ...(saysFailed(object) ? { failed: true } : {}) };
}

/** Asked of every result and of all arguments, so no list of the names is made. */
function hasOnly(object: JsonObject, allowed: readonly string[]): boolean {
  for (const name in object) if (!allowed.includes(name)) return false;
  return true;
}
