/** Which calls failed, by the signs that spans and results carry; what is told of a call neither way is left out and counted. */
import type { ToolCall } from '../src/model/agent-trace.ts';
import { plainText } from '../src/model/json.ts';
import type { JsonObject, JsonValue } from '../src/model/json.ts';
import type { PlacedCall } from './calls.ts';
import type { EvaluationContext, Pattern } from './evaluator.ts';
import { errorField, isBlank } from './failures.ts';
import { quoted } from './wording.ts';

export interface FailureOptions {
  readonly blankIsError: boolean;
  readonly detectErrorField: boolean;
  readonly useSpanStatus: boolean;
  readonly useIsError: boolean;
  readonly errorPatterns: readonly string[];
}

export const failureDefaults: FailureOptions = { blankIsError: true, detectErrorField: true, useSpanStatus: true, useIsError: true, errorPatterns: [] };

export const failureProperties: JsonObject = {
  blank_is_error: { type: 'boolean', description: 'A result without a visible character is a failure.' },
  detect_error_field: { type: 'boolean', description: 'A result that is an object with an error member is a failure; false, 0, an empty text and an empty list there mean no error.' },
  use_span_status: { type: 'boolean', description: 'A tool span with status ERROR, an exception event or error.type is a failure.' },
  use_is_error: { type: 'boolean', description: 'A result marked as an error by the protocol (isError of MCP, an error status of the message) is a failure.' },
  error_patterns: { type: 'array', maxItems: 100, items: { type: 'string', format: 're2' }, description: 'A result in which one of these regular expressions is found is a failure.' },
};

type Kind = 'span_status' | 'is_error' | 'blank' | 'pattern' | 'error_field';

export interface Failure {
  readonly kind: Kind;
  readonly message: string;
}

export interface Judged extends PlacedCall {
  readonly failure: Failure | undefined;
}

export interface JudgedCalls {
  readonly judged: readonly Judged[];
  /** Calls of which the spans tell neither a result nor an error. */
  readonly unknown: number;
}

/** When some call shows an error, the dialect marks errors, so a call that ended without a mark succeeded. */
export function judgedCalls(calls: readonly PlacedCall[], options: FailureOptions, context: EvaluationContext): JudgedCalls {
  const patterns = options.errorPatterns.map((source) => context.pattern(source));
  const errorsShow = calls.some(({ call }) => signOf(call, options) !== undefined);
  const known = calls.filter(({ call }) => call.result !== undefined || signOf(call, options) !== undefined || (errorsShow && call.endUnixNano !== undefined));
  return { judged: known.map(({ index, call }) => ({ index, call, failure: signOf(call, options) ?? failureOf(call.result, options, patterns) })), unknown: calls.length - known.length };
}

/** Writing a result down costs more than most of what is asked about it. */
function firstFound(patterns: readonly Pattern[], result: JsonValue): Pattern | undefined {
  if (patterns.length === 0) return undefined;
  const text = plainText(result);
  return patterns.find((pattern) => pattern.test(text));
}

/** The failure that the span or the protocol tells, whatever the result says. */
function signOf({ error }: ToolCall, options: FailureOptions): Failure | undefined {
  if (error === undefined) return undefined;
  const kind = error.sign === 'is_error' || error.sign === 'result_status' ? 'is_error' : 'span_status';
  if (kind === 'is_error' ? !options.useIsError : !options.useSpanStatus) return undefined;
  const said = error.message.trim() === '' ? (error.type ?? '') : error.message;
  const told = said === '' ? '' : `: ${quoted(said)}`;
  return { kind, message: kind === 'is_error' ? `its result is marked as an error${told}` : `its span failed${told}` };
}

function failureOf(result: JsonValue | undefined, options: FailureOptions, patterns: readonly Pattern[]): Failure | undefined {
  if (result === undefined) return undefined;
  if (isBlank(result)) return options.blankIsError ? { kind: 'blank', message: 'it returned nothing' } : undefined;
  const found = firstFound(patterns, result);
  if (found !== undefined) return { kind: 'pattern', message: `its result matches ${quoted(found.source)}` };
  if (!options.detectErrorField) return undefined;
  const error = errorField(result);
  return error === undefined ? undefined : { kind: 'error_field', message: `its result has the error ${quoted(plainText(error))}` };
}
