/** Which calls failed, by what spans state and by signs in results. A call of which the spans carry neither is left out and counted. */
import type { ToolCall } from '../../src/model/agent-trace.ts';
import { failureSign, signInResult } from '../../src/model/error-signs.ts';
import { errorMember } from '../../src/model/error-objects.ts';
import { plainText, type JsonValue } from '../../src/model/json.ts';
import type { Outcome } from '../../src/model/verdict.ts';
import { skipped, type PlacedCall } from './calls.ts';
import { searchedTextMax } from '../configuration/context.ts';
import { flag, option, programOption, type OptionsOf } from '../configuration/option-table.ts';
import type { EvaluationContext, Pattern } from '../evaluator.ts';
import { callName, listed, quoted } from '../explain/explanation.ts';

/** A program's own sign of an error: true, or what went wrong. It is called for each result that is not blank. */
export type ErrorPredicate = (result: JsonValue, call: ToolCall) => boolean | string;

export const failureOptions = {
  blank_is_error: flag('A result without a visible character is a failure.', true),
  detect_error_field: flag(
    'A result that is an object with an error member is a failure. The values false, 0, an empty text and an empty list mean no error.',
    true,
  ),
  use_span_status: flag('A tool span with status ERROR, an exception event or error.type is a failure.', true),
  use_is_error: flag('A result marked as an error by the protocol (isError of MCP, an error status of the message) is a failure.', true),
  use_error_signs: flag(
    'A result that reads as an error is a failure, where no span states the outcome. Signs are tracebacks, `Error:` at the beginning, `{"status":"error"}`, HTTP status objects, and texts that SDKs write in place of a result.',
    true,
  ),
  error_patterns: option<readonly string[]>(
    {
      type: 'array',
      maxItems: 100,
      items: { type: 'string', format: 're2' },
      description: 'A result in which one of these regular expressions is found is a failure.',
    },
    [],
  ),
  isError: programOption<ErrorPredicate>(),
};

export type FailureOptions = OptionsOf<typeof failureOptions>;

type Kind = 'span_status' | 'is_error' | 'blank' | 'predicate' | 'pattern' | 'error_field' | 'error_sign';

export interface Failure {
  readonly kind: Kind;
  readonly message: string;
}

export interface Judged extends PlacedCall {
  readonly failure: Failure | undefined;
  /** Without a failure: a span states that the call succeeded. Else nothing shows more than that its result gives no sign. */
  readonly isStated: boolean;
  /** A span states success, and the result reads as an error. */
  readonly isContradicted: boolean;
  /** Without a failure: the patterns were searched in a part of its result only. */
  readonly isCut: boolean;
}

export interface JudgedCalls {
  readonly judged: readonly Judged[];
  /** Calls whose spans carry neither a result nor an error. */
  readonly unknown: number;
}

/** When a span of the run shows an error, the dialect marks errors, so a call whose span ended without a mark succeeded. */
export function judgedCalls(calls: readonly PlacedCall[], options: FailureOptions, context: EvaluationContext): JudgedCalls {
  const patterns = options.errorPatterns.map((source) => context.pattern(source));
  const errorsShow = calls.some(({ call }) => signOf(call, options) !== undefined);
  const judged: Judged[] = [];
  for (const { index, call } of calls) {
    const failure = signOf(call, options) ?? failureOf(call, options, patterns);
    const isEnded = errorsShow && call.result === undefined && call.endUnixNano !== undefined;
    if (failure === undefined && call.result === undefined && !isEnded) continue;
    const isStated = failure === undefined && (call.statedOk === true || isEnded);
    judged.push({
      index,
      call,
      failure,
      isStated,
      isContradicted: isStated && options.useErrorSigns && signInResult(call) !== undefined,
      isCut: failure === undefined && patterns.length > 0 && isTooLong(call),
    });
  }
  return { judged, unknown: calls.length - judged.length };
}

function isTooLong({ result }: ToolCall): boolean {
  return result !== undefined && plainText(result).length > searchedTextMax;
}

/** For calls that no pattern was found in, though not all of their results was searched. */
export function notSearched(cut: readonly PlacedCall[]): Outcome {
  return skipped(
    'too_large',
    `The ${cut.length === 1 ? 'result' : 'results'} of ${listed(cut.slice(0, namedInReasonMax).map(callName), ', ', cut.length)} ${cut.length === 1 ? 'is' : 'are'} longer than the ${searchedTextMax} characters in which error_patterns are searched.`,
  );
}

/** Calls that the reason for a skip names. */
const namedInReasonMax = 3;

/** Writing a result down costs more than most of what is asked about it. */
function firstFound(patterns: readonly Pattern[], result: JsonValue): Pattern | undefined {
  if (patterns.length === 0) return undefined;
  const text = plainText(result);
  return patterns.find((pattern) => pattern.test(text));
}

/** The failure that the span or the protocol states, whatever the result holds. */
function signOf({ error }: ToolCall, options: FailureOptions): Failure | undefined {
  if (error === undefined) return undefined;
  const kind = error.sign === 'is_error' || error.sign === 'result_status' ? 'is_error' : 'span_status';
  if (kind === 'is_error' ? !options.useIsError : !options.useSpanStatus) return undefined;
  const text = error.message.trim() === '' ? (error.type ?? '') : error.message;
  const reason = text === '' ? '' : `: ${quoted(text)}`;
  return { kind, message: kind === 'is_error' ? `its result is marked as an error${reason}` : `its span failed${reason}` };
}

function failureOf(call: ToolCall, options: FailureOptions, patterns: readonly Pattern[]): Failure | undefined {
  const { result } = call;
  if (result === undefined) return errorSignOf(call, options);
  if (isBlank(result)) return options.blankIsError ? { kind: 'blank', message: 'it returned nothing' } : undefined;
  const predicate = options.isError === undefined ? false : predicateMessage(options.isError, result, call);
  if (predicate !== false) return { kind: 'predicate', message: predicate };
  const found = firstFound(patterns, result);
  if (found !== undefined) return { kind: 'pattern', message: `its result matches ${quoted(found.source)}` };
  const error = options.detectErrorField ? errorMember(result) : undefined;
  return error === undefined
    ? errorSignOf(call, options)
    : { kind: 'error_field', message: `its result has the error ${quoted(plainText(error))}` };
}

function errorSignOf(call: ToolCall, options: FailureOptions): Failure | undefined {
  const sign = options.useErrorSigns ? failureSign(call) : undefined;
  // Whether that member counts is an option of its own.
  if (sign === undefined || sign.form === 'error_member') return undefined;
  return { kind: 'error_sign', message: `its result reads as an error${sign.text === '' ? '' : `: ${quoted(sign.text)}`}` };
}

/** What goes wrong in it, a promise too, is a fault of the evaluator. */
function predicateMessage(isError: ErrorPredicate, result: JsonValue, call: ToolCall): string | false {
  const returned: unknown = isError(result, call);
  if (typeof returned !== 'boolean' && typeof returned !== 'string') throw new TypeError('isError must give true, false or a text');
  if (returned === false || returned === '') return false;
  return returned === true ? 'the program takes its result for an error' : `the program finds ${quoted(returned)}`;
}

/** No visible character: no-break and ideographic spaces are blank, a zero-width space is not. */
export function isBlank(result: JsonValue): boolean {
  return result === null || (typeof result === 'string' && result.trim() === '');
}
