/** Shapes of JSON results that mean a failed tool call. Records that only mention errors, such as a list of jobs, have further members. */
import { balancedEnd } from './brackets.ts';
import { isJsonArray, isJsonObject, member, parseJson } from './json.ts';
import type { JsonObject, JsonValue } from './json.ts';

export interface ErrorShape {
  readonly form: string;
  readonly text: string;
}

/** Longer texts are not parsed, as an error envelope is short. */
const parsedMax = 65_536;

/** Nested objects of one message that are opened. */
const layersMax = 4;

/** A text without a match has none of the shapes, so it is not parsed. */
const HINT =
  /"(?:error|exception|traceback|errors|__type|error_?[mM]essage|error_?[tT]ype|detail)"\s*:|"is_?[eE]rror"\s*:\s*true|"(?:success|ok)"\s*:\s*false|"status"\s*:\s*(?:"(?:error|fail)|[45]\d\d)|"(?:status_?[cC]ode|httpStatus|http_status|code)"\s*:\s*[45]\d\d|"type"\s*:\s*"error(?:-text|-json)?"|"(?:exit_?code|exit_status|return_?code)"\s*:\s*-?[1-9]|"fault"\s*:\s*\{|"code"\s*:\s*"ERR|"message"\s*:\s*"(?:Not Found|Unauthorized|Forbidden|Internal|Bad |Service |Gateway|Too Many|Missing Auth)|\\u00/i;

/** Members of an error envelope. Any other member makes the object a record, whose subject may have failed long ago. */
const envelope: ReadonlySet<string> = new Set(
  (
    'status success ok error errors message msg error_message errorMessage error_code errorCode error_type errorType code reason detail details description data result results output content type title instance ' +
    'hint suggestion retryable retry_after retryAfter timestamp time path request_id requestId trace_id traceId tool tool_name toolName function name_of_tool is_error isError exception exception_type traceback stack trace stack_trace stackTrace ' +
    'statusCode status_code statusText status_text httpStatus http_status headers body url text response args arguments input cause documentation_url help'
  ).split(' '),
);
const messageMembers = [
  'message',
  'msg',
  'error_message',
  'errorMessage',
  'reason',
  'detail',
  'details',
  'description',
  'exception',
  'traceback',
  'error',
] as const;
const responseMembers = [
  'headers',
  'body',
  'statusText',
  'status_text',
  'message',
  'detail',
  'details',
  'error',
  'reason',
  'text',
] as const;
const REASONS =
  /^(?:Not Found|Unauthorized|Missing Authentication Token|Forbidden|Not authenticated|Could not validate credentials|Method Not Allowed|Internal Server Error|Bad Request|Bad Gateway|Service Unavailable|Gateway Timeout|Too Many Requests)\.?$/;
const NO_ERROR =
  /^(?:none|no|nil|null|n\/?a|false|0|ok|okay|success|successful|undefined|-+|no errors?(?: found| detected| reported| occurred)?)[.!]?$/i;

const MAY_HOLD_ERROR = /"error"|\\u/;

/** The value of `error` in an object, or in a text that begins with one; `undefined` when it means no error. */
export function errorMember(result: JsonValue): JsonValue | undefined {
  // Only a text that may contain the key, also in an escaped spelling, is read in full.
  const object = typeof result !== 'string' ? result : MAY_HOLD_ERROR.test(result) ? leadingObject(result) : undefined;
  if (!isJsonObject(object)) return undefined;
  const error = member(object, 'error');
  return error === undefined || meansNoError(error) ? undefined : error;
}

/** The shape of an object that means a failed call. `errorMember` handles a failure under `error`. */
export function errorShape(object: JsonValue): ErrorShape | undefined {
  if (!isJsonObject(object)) return undefined;
  // Most results have no key of a shape.
  let candidates = 0;
  for (const key of Object.keys(object)) candidates |= shapesWith.get(key) ?? 0;
  for (let at = 0; candidates >> at > 0; at++) {
    const shape = (candidates >> at) & 1 ? shapes[at] : undefined;
    const text = shape?.find(object);
    if (shape !== undefined && text !== undefined) return { form: shape.form, text };
  }
  return undefined;
}

/** The object at the beginning of a text; `undefined` for a text without a sign of an error. */
export function hintedObject(text: string): JsonObject | undefined {
  return isHinted(text) ? leadingObject(text) : undefined;
}

function isHinted(text: string): boolean {
  return text.length <= parsedMax && /^\s*\{/.test(text) && HINT.test(text);
}

/** The message of the error that a text of JSON describes; the text itself when it describes none. */
export function innerMessage(text: string): string {
  let inner = text;
  for (let layer = 0; layer < layersMax; layer++) {
    const object = inner.length <= parsedMax ? leadingObject(inner) : undefined;
    const found = object === undefined ? '' : messageOf(object);
    if (found === '') return inner;
    inner = found;
  }
  return inner;
}

/** The object at the beginning of a text; the rest, such as a stack trace, is ignored. */
function leadingObject(text: string): JsonObject | undefined {
  if (!/^\s*\{/.test(text)) return undefined;
  const start = text.trimStart();
  const end = balancedEnd(start, 0);
  const value = end === undefined ? undefined : parseJson(start.slice(0, end));
  return isJsonObject(value) ? value : undefined;
}

/** A fraction is a measurement, not an error number. */
function meansNoError(error: JsonValue): boolean {
  if (error === null || error === false || error === 0 || error === '') return true;
  if (typeof error === 'number') return !Number.isInteger(error);
  if (typeof error === 'string') return NO_ERROR.test(error);
  if (isJsonArray(error)) return error.length === 0;
  return isJsonObject(error) && Object.values(error).every((value) => isEmpty(value) || meansNoError(value));
}

type Find = (object: JsonObject) => string | undefined;

/** Members that hold HTTP status codes. */
const statusKeys = ['status', 'statusCode', 'status_code', 'httpStatus', 'http_status', 'code'] as const;

/** Each form with one of its keys and its test. `error-signs.ts` lists the sources. */
const shapes: readonly { readonly form: string; readonly keys: readonly string[]; readonly find: Find }[] = [
  {
    form: 'is_error',
    keys: ['isError', 'is_error'],
    find: (object) =>
      member(object, 'isError') === true || member(object, 'is_error') === true
        ? Object.hasOwn(object, 'content') || isEnvelope(object)
          ? messageOf(object, ['content'])
          : undefined
        : undefined,
  },
  { form: 'status_error', keys: ['status'], find: statusError },
  {
    form: 'success_false',
    keys: ['success', 'ok'],
    find: (object) => (isFalse(object, 'success') || isFalse(object, 'ok') ? failedEnvelope(object, /^(?:success|ok)$/) : undefined),
  },
  {
    form: 'type_error',
    keys: ['type'],
    find: (object) => (member(object, 'type') === 'error' && isEnvelope(object) && hasMessage(object) ? messageOf(object) : undefined),
  },
  {
    form: 'type_error_output',
    keys: ['type'],
    find: (object) => {
      // Vercel AI SDK: ToolResultOutput.
      const isOutput = /^error-(?:text|json)$/.test(textOf(object, 'type') ?? '') && Object.hasOwn(object, 'value');
      return isOutput ? (textOf(object, 'value') ?? messageOf(object)) : undefined;
    },
  },
  {
    form: 'exit_code',
    keys: ['exit_code', 'exitCode', 'exitcode', 'exit_Code', 'exit_status', 'return_code', 'returnCode', 'returncode', 'return_Code'],
    find: exitFailure,
  },
  { form: 'http_status', keys: statusKeys, find: httpFailure },
  { form: 'graphql_errors', keys: ['errors'], find: graphqlErrors },
  {
    form: 'exception_type',
    keys: ['__type', 'errorMessage'],
    find: (object) =>
      /(?:Exception|Error)$/.test(textOf(object, '__type') ?? '') ||
      (isEnvelope(object) && textOf(object, 'errorMessage') !== undefined && textOf(object, 'errorType') !== undefined)
        ? messageOf(object)
        : undefined,
  },
  {
    form: 'exception',
    keys: ['exception', 'traceback', 'error_message', 'errorMessage'],
    find: (object) =>
      isEnvelope(object) &&
      (textOf(object, 'exception') ?? textOf(object, 'traceback') ?? textOf(object, 'error_message') ?? textOf(object, 'errorMessage')) !==
        undefined &&
      !isGood(object)
        ? messageOf(object)
        : undefined,
  },
  {
    form: 'fault',
    keys: ['fault'],
    find: (object) => (isEnvelopeOf(object, 'fault') ? textOf(member(object, 'fault') as JsonObject, 'faultstring') : undefined),
  },
  {
    form: 'error_code',
    keys: ['code'],
    find: (object) =>
      /^(?:ERR_|ERROR_|E_)/.test(textOf(object, 'code') ?? '') && isEnvelope(object) && hasMessage(object) && !isGood(object)
        ? messageOf(object)
        : undefined,
  },
  {
    form: 'detail',
    keys: ['detail', 'message'],
    find: (object) =>
      Object.keys(object).length === 1 && REASONS.test(textOf(object, 'detail') ?? textOf(object, 'message') ?? '')
        ? messageOf(object)
        : undefined,
  },
];

/** Shapes by key, one bit per shape. */
const shapesWith: ReadonlyMap<string, number> = new Map(
  [...new Set(shapes.flatMap(({ keys }) => keys))].map((key) => [
    key,
    shapes.reduce((bits, { keys }, at) => (keys.includes(key) ? bits | (1 << at) : bits), 0),
  ]),
);

/** Requires that the status is the first member or that the object is an envelope. */
function statusError(object: JsonObject): string | undefined {
  const status = member(object, 'status');
  if (typeof status !== 'string' || !/^(?:error|errored|fail|failed|failure)$/i.test(status)) return undefined;
  // The failure may be that of the job or order that the tool looked up.
  return /^error/i.test(status) ? failedEnvelope(object, /^status$/) : isEnvelope(object) ? messageOf(object) : undefined;
}

function failedEnvelope(object: JsonObject, first: RegExp): string | undefined {
  const keys = Object.keys(object);
  const isFirst = first.test(keys[0] ?? '') && hasMessage(object);
  return isEnvelope(object) || isFirst ? messageOf(object) : undefined;
}

function isFailureStatus(value: JsonValue | undefined): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= 400 && value <= 599;
}

function httpFailure(object: JsonObject): string | undefined {
  const key = statusKeys.find((one) => isFailureStatus(member(object, one)));
  const status = key === undefined ? undefined : member(object, key);
  // Only a status, under a name that means nothing else.
  if (Object.keys(object).length === 1 && key !== 'status' && key !== 'code' && Number(status) >= 500) return `status ${String(status)}`;
  if (
    status === undefined ||
    !isEnvelope(object) ||
    (!responseMembers.some((key) => Object.hasOwn(object, key)) && !REASONS.test(textOf(object, 'title') ?? ''))
  )
    return undefined;
  return isGood(object) ? undefined : `status ${String(status)}`;
}

/** Members of the results of command wrappers: streams, exit code and command. */
const commandMembers =
  /^(?:std(?:out|err)|output|exit_?[cC]ode|exit_status|return_?[cC]ode|command|cmd|args|cwd|timed_?[oO]ut|duration(?:_?[mM]s)?|signal)$/;

function exitFailure(object: JsonObject): string | undefined {
  const keys = Object.keys(object);
  const codeKey = keys.find((key) => /^(?:exit_?[cC]ode|exit_status|return_?[cC]ode)$/.test(key));
  const code = codeKey === undefined ? undefined : member(object, codeKey);
  const isRun = keys.every((key) => commandMembers.test(key)) && keys.some((key) => /^(?:std(?:out|err)|output)$/.test(key));
  if (!isRun || typeof code !== 'number' || !Number.isInteger(code) || code === 0) return undefined;
  return textOf(object, 'stderr') ?? `exit code ${code}`;
}

/** GraphQL specification: a failed request has `errors` with messages, and `data` is absent or null. */
function graphqlErrors(object: JsonObject): string | undefined {
  const errors = member(object, 'errors');
  const data = member(object, 'data');
  if (
    !isJsonArray(errors) ||
    errors.length === 0 ||
    (data !== undefined && data !== null) ||
    !Object.keys(object).every((key) => key === 'errors' || key === 'data' || key === 'extensions')
  )
    return undefined;
  const [first] = errors;
  return isJsonObject(first) ? textOf(first, 'message') : undefined;
}

function isEnvelope(object: JsonObject): boolean {
  return Object.keys(object).every((key) => envelope.has(key));
}

function isEnvelopeOf(object: JsonObject, key: string): boolean {
  return Object.keys(object).length === 1 && isJsonObject(member(object, key));
}

function isGood(object: JsonObject): boolean {
  return (
    member(object, 'success') === true ||
    member(object, 'ok') === true ||
    /^(?:ok|success|succeeded|completed|done)$/i.test(textOf(object, 'status') ?? '')
  );
}

function isFalse(object: JsonObject, key: string): boolean {
  return member(object, key) === false;
}

function hasMessage(object: JsonObject): boolean {
  return messageMembers.some((key) => !isEmpty(member(object, key)));
}

/** The message of the failure; empty when the object has none. */
function messageOf(object: JsonObject, more: readonly string[] = []): string {
  for (const key of [...messageMembers, ...more]) {
    const value = member(object, key);
    if (typeof value === 'string' && value !== '') return value;
    const text =
      isJsonArray(value) && isJsonObject(value[0]) ? textOf(value[0], 'text') : isJsonObject(value) ? textOf(value, 'message') : undefined;
    if (text !== undefined) return text;
  }
  return '';
}

function isEmpty(value: JsonValue | undefined): boolean {
  return value === undefined || value === null || value === '' || value === false || (isJsonArray(value) && value.length === 0);
}

function textOf(object: JsonObject, key: string): string | undefined {
  const value = member(object, key);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
