/** Failed tool calls, by span status and signs in results. Calls without either are left out and counted. */
import type { AgentTrace, ToolCall } from '../src/model/agent-trace.ts';
import { failureSign, signInResult, statusUses } from '../src/model/error-signs.ts';
import { errorMember } from '../src/model/error-objects.ts';
import { member, plainText, type JsonValue, type JsonObject } from '../src/model/json.ts';
import { messageTemplate } from '../src/model/message-template.ts';
import type { Outcome } from '../src/model/verdict.ts';
import {
  skipped,
  type PlacedCall,
  callDetails,
  evidenceOf,
  executedCalls,
  notCarried,
  named,
  noToolCalls,
  partOf,
  partsOf,
  shareOfCalls,
  resultsUnknown,
  onEmpty,
  argumentsUnknown,
} from './evidence/calls.ts';
import { searchedTextMax } from './configuration/context.ts';
import { choice, flag, option, programOption, type OptionsOf, rule } from './configuration/define.ts';
import type { EvaluationContext, Pattern, Signature, Subject } from './evaluator.ts';
import { callName, quoted, count, someOf, listedCalls } from './explain/explanation.ts';
import { nameOfTool, rowsIn, textIn } from './explain/signature.ts';
import { argumentsOf } from './matching/expected-calls.ts';
import { canonicalText } from './matching/equality.ts';
import { underNormalizedNames, normalizeToolNames } from './matching/names.ts';

/** A program's test for errors: true, or a message. Called for each non-blank result. */
export type ErrorPredicate = (result: JsonValue, call: ToolCall) => boolean | string;

const failureOptions = {
  blank_is_error: flag('A result without a visible character is a failure.', true),
  detect_error_field: flag(
    'A result that is an object with an error member is a failure. The values false, 0, an empty text and an empty list mean no error.',
    true,
  ),
  use_span_status: choice(
    statusUses,
    'Weight of the status of a tool span. weigh: ERROR is a failure, and OK outweighs only signs that a working tool may return too, such as an exit code. trust: OK outweighs every sign that the SDK itself does not write. ignore: neither counts.',
  ),
  use_is_error: flag('A result marked as an error by the protocol (isError of MCP, an error status of the message) is a failure.', true),
  use_error_signs: flag(
    'A result that reads as an error is a failure, as far as `use_span_status` lets it. Signs are tracebacks, `Error:` at the beginning, `{"status":"error"}`, HTTP status objects, and texts that SDKs write in place of a result.',
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

type FailureOptions = OptionsOf<typeof failureOptions>;

type Kind = 'span_status' | 'is_error' | 'blank' | 'predicate' | 'pattern' | 'error_field' | 'error_sign';

interface Failure {
  readonly kind: Kind;
  readonly message: string;
}

interface Judged extends PlacedCall {
  readonly failure: Failure | undefined;
  /** For a success: true when a span states it, false when the result merely has no sign of an error. */
  readonly isStated: boolean;
  /** True when a span states success, but the result reads as an error. */
  readonly isContradicted: boolean;
  /** For a success: true when only a part of the result was searched. */
  readonly isCut: boolean;
}

interface JudgedCalls {
  readonly judged: readonly Judged[];
  /** Number of calls without a result or an error. */
  readonly unknown: number;
}

/** If any span marks an error, the dialect marks errors; so an ended span without a mark is a success. */
function judgedCalls(calls: readonly PlacedCall[], options: FailureOptions, context: EvaluationContext): JudgedCalls {
  const patterns = options.errorPatterns.map((source) => context.pattern(source));
  const errorsShow = calls.some(({ call }) => signOf(call, options) !== undefined);
  const judged: Judged[] = [];
  for (const { index, call } of calls) {
    const failure = signOf(call, options) ?? failureOf(call, options, patterns);
    const isEnded = errorsShow && call.result === undefined && call.endUnixNano !== undefined;
    if (failure === undefined && call.result === undefined && !isEnded) continue;
    const isStated = failure === undefined && ((call.statedOk === true && options.useSpanStatus !== 'ignore') || isEnded);
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

/** The outcome for calls without a match in a partly searched result. */
function notSearched(cut: readonly PlacedCall[]): Outcome {
  return skipped(
    'too_large',
    `The ${cut.length === 1 ? 'result' : 'results'} of ${listedCalls(cut)} ${cut.length === 1 ? 'is' : 'are'} longer than the ${searchedTextMax} characters in which error_patterns are searched.`,
  );
}

/** Serialises the result lazily, which costs more than most tests. */
function firstFound(patterns: readonly Pattern[], result: JsonValue): Pattern | undefined {
  if (patterns.length === 0) return undefined;
  const text = plainText(result);
  return patterns.find((pattern) => pattern.test(text));
}

/** The failure that the span or protocol states, with any result. */
function signOf({ error }: ToolCall, options: FailureOptions): Failure | undefined {
  // The rows of texts that read as errors decide about a text.
  if (error === undefined || error.sign === 'result_text') return undefined;
  const kind = error.sign === 'is_error' || error.sign === 'result_status' ? 'is_error' : 'span_status';
  if (kind === 'is_error' ? !options.useIsError : options.useSpanStatus === 'ignore') return undefined;
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
  const sign = options.useErrorSigns ? failureSign(call, options.useSpanStatus) : undefined;
  // A separate option decides about that member.
  if (sign === undefined || sign.form === 'error_member') return undefined;
  return { kind: 'error_sign', message: `its result reads as an error${sign.text === '' ? '' : `: ${quoted(sign.text)}`}` };
}

/** A fault of the predicate, also a returned promise, is a fault of the evaluator. */
function predicateMessage(isError: ErrorPredicate, result: JsonValue, call: ToolCall): string | false {
  const returned: unknown = isError(result, call);
  if (typeof returned !== 'boolean' && typeof returned !== 'string') throw new TypeError('isError must give true, false or a text');
  if (returned === false || returned === '') return false;
  return returned === true ? 'the program takes its result for an error' : `the program finds ${quoted(returned)}`;
}

/** Without a visible character: no-break and ideographic spaces are blank, a zero-width space is not. */
export function isBlank(result: JsonValue): boolean {
  return result === null || (typeof result === 'string' && result.trim() === '');
}

/**
 * The tools that ran succeeded: no span states a failure, and where none states success, no result reads as an error. Calls that never ran are left
 * out, and so are calls whose spans carry neither a result nor an error.
 */
export const toolError = rule({
  id: 'tool_error',
  version: 5,
  summary: 'The tool calls succeeded.',
  needs: ['tool_calls', 'tool_results'],
  onByDefault: true,
  defaultThreshold: 1,
  options: {
    ...failureOptions,
    on_empty: onEmpty,
  },
  signatures: ({ details }, trace) => rowsIn(details, 'failed').map((row) => failureSignature(row, trace)),
  source: 'Dokimos ToolErrorEvaluator, with the signs that spans and results carry',
  evaluate({ trace }, options, context) {
    const calls = executedCalls(trace);
    const stop = notCarried(trace);
    if (stop !== undefined) return stop;
    if (calls.length === 0 && options.onEmpty === 'skip') return noToolCalls(trace);
    const { judged, unknown } = judgedCalls(calls, options, context);
    if (calls.length > 0 && judged.length === 0)
      return resultsUnknown(calls, 'The spans carry neither results nor errors of tool calls; switch on the capture of tool outputs.', {
        unknown_outcome: unknown,
      });
    const cut = judged.filter(({ isCut }) => isCut);
    if (cut.length > 0 && !judged.some(hasFailed)) return notSearched(cut);
    return verdict(judged, unknown);
  },
});

/** The template of the error. Without an error, the message of the verdict. */
function failureSignature(row: JsonObject, { toolCalls }: AgentTrace): Signature {
  const call = toolCalls[Number(member(row, 'index'))];
  const isOfCall = textIn(row, 'kind') !== 'pattern' && textIn(row, 'kind') !== 'predicate' && call?.name === nameOfTool(row);
  const { error } = isOfCall ? call : {};
  const said =
    error === undefined || error.message.trim() === '' ? (isOfCall ? (failureSign(call, 'ignore')?.text ?? '') : '') : error.message;
  const template = messageTemplate(said);
  const type = error?.type ?? '';
  const isNamed = /.(?:Error|Exception)$/.test(type) && !template.startsWith(type);
  const text = isNamed ? `${type}: ${template}` : template;
  return { tool: nameOfTool(row), text: text === '' ? messageTemplate(textIn(row, 'message')) : text };
}

function verdict(judged: readonly Judged[], unknown: number): Outcome {
  const failed = judged.filter(hasFailed);
  const succeeded = judged.length - failed.length;
  const stated = judged.filter(({ isStated }) => isStated).length;
  const contradicted = judged.filter(({ isContradicted }) => isContradicted);
  return shareOfCalls(judged, {
    failed,
    hasPassed: ({ failure }) => failure === undefined,
    part: (call) => partOf(call, call.failure === undefined, partInWords(call)),
    explanation: [
      failed.length === 0 ? withoutFailure(stated, succeeded - stated) : failuresInWords(failed, judged.length),
      contradictedInWords(contradicted),
      unknownInWords(unknown),
    ]
      .filter((sentence) => sentence !== '')
      .join(' '),
    details: {
      succeeded,
      stated,
      total: judged.length,
      failed: named(failed).map((call) => ({ ...callDetails(call), ...call.failure })),
      ...(contradicted.length === 0 ? {} : { contradicted: named(contradicted).map(callDetails) }),
      ...(unknown === 0 ? {} : { unknown_outcome: unknown }),
    },
  });
}

interface Failed extends Judged {
  readonly failure: Failure;
}

function hasFailed(judged: Judged): judged is Failed {
  return judged.failure !== undefined;
}

/** The absence of an error sign proves no success, so the sentence claims none. */
function withoutFailure(stated: number, silent: number): string {
  if (stated + silent === 0) return 'No tool ran.';
  if (stated === 0) return `No sign of an error in ${count(silent, 'result')}.`;
  if (silent === 0) return stated === 1 ? 'The tool call succeeded by its span.' : `All ${stated} tool calls succeeded by their spans.`;
  return `${stated} of ${stated + silent} tool calls succeeded by ${stated === 1 ? 'its span' : 'their spans'}, no sign of an error in the other ${count(silent, 'result')}.`;
}

function failuresInWords(failed: readonly Failed[], total: number): string {
  const culprit = (call: Failed): string => `${callName(call)}: ${call.failure.message}`;
  return `${someOf(failed, count(total, 'tool call'), ['failed', 'failed'], culprit)}.`;
}

function contradictedInWords(calls: readonly Judged[]): string {
  if (calls.length === 0) return '';
  return `The ${calls.length === 1 ? 'result' : 'results'} of ${listedCalls(calls)} ${calls.length === 1 ? 'reads as an error, though its span states' : 'read as errors, though their spans state'} success.`;
}

function unknownInWords(unknown: number): string {
  return unknown === 0 ? '' : `The spans carry neither a result nor an error of ${count(unknown, 'further call')}.`;
}

function partInWords(judged: Judged): string {
  const { failure, isStated, isCut } = judged;
  if (failure !== undefined) return `${callName(judged)} failed: ${failure.message}.`;
  if (isStated) return 'The call succeeded by its span.';
  return isCut ? `No sign of an error in the first ${searchedTextMax} characters of the result.` : 'No sign of an error in the result.';
}

const toolRecoveryOptions = {
  same_arguments: flag('Only a later success with the same arguments puts a failure right.'),
  ...failureOptions,
  normalize_tool_names: normalizeToolNames,
};

type ToolRecoveryOptions = OptionsOf<typeof toolRecoveryOptions>;

/**
 * A later call of the same tool put each failure right, with the same arguments or with others. One success puts right all failures of its tool
 * before it. Calls that never ran, and calls without a known outcome, are left out.
 */
export const toolRecovery = rule({
  id: 'tool_recovery',
  version: 5,
  summary: 'Tool calls that failed were put right by later calls of the same tool.',
  needs: ['tool_calls', 'tool_results'],
  defaultThreshold: 1,
  options: toolRecoveryOptions,
  source: 'the question that a tool error leaves open; failures as tool_error finds them',
  evaluate: underNormalizedNames(evaluate),
});

interface FailedCall extends Judged {
  readonly failure: Failure;
  readonly repair: Judged | undefined;
  /** `undefined` without a recovery, or when arguments are not carried. */
  readonly changed: boolean | undefined;
  /** Calls of the tool from the failure to its recovery, or to the end. */
  readonly attempts: number;
}

function evaluate({ trace }: Subject, options: ToolRecoveryOptions, context: EvaluationContext): Outcome {
  const stop = notCarried(trace);
  if (stop !== undefined) return stop;
  const calls = executedCalls(trace);
  if (calls.length === 0) return noToolCalls(trace);
  const { judged, unknown } = judgedCalls(calls, options, context);
  if (judged.length === 0)
    return resultsUnknown(calls, 'The spans carry neither results nor errors of tool calls; switch on the capture of tool outputs.', {
      unknown_outcome: unknown,
    });
  const failed = failedCalls(judged, options.sameArguments);
  const cut =
    failed.length === 0 ? judged.filter(({ isCut }) => isCut) : failed.flatMap(({ repair }) => (repair?.isCut === true ? [repair] : []));
  if (cut.length > 0) return notSearched([...new Set(cut)]);
  if (failed.length === 0)
    return skipped('no_errors', `No sign of an error in ${count(judged.length, 'tool call')}, so there was nothing to put right.`);
  if (failed.some(({ changed, repair }) => options.sameArguments && repair !== undefined && changed === undefined))
    return argumentsUnknown(
      trace,
      'The spans carry no arguments for calls that are compared by arguments; switch on the capture of tool inputs.',
    );
  const open = failed.filter(({ repair }) => repair === undefined);
  const { parts, leftOut } = partsOf(
    failed,
    ({ repair }) => repair !== undefined,
    (one) =>
      partOf(
        one,
        one.repair !== undefined,
        one.repair === undefined ? `${inWords(one)}.` : `${callName(one)} failed and ${callName(one.repair)} succeeded.`,
      ),
  );
  return {
    kind: 'scored',
    score: (failed.length - open.length) / failed.length,
    explanation:
      open.length === 0
        ? `${failed.length === 1 ? 'The call that failed was' : `All ${failed.length} calls that failed were`} put right later.`
        : `${someOf(open, count(failed.length, 'failure'), ['was not put right', 'were not put right'], inWords)}.`,
    evidence: evidenceOf(open),
    parts,
    details: {
      repaired: failed.length - open.length,
      failed: failed.length,
      failures: named(failed).map(failureDetails),
      ...leftOut,
      ...(unknown === 0 ? {} : { unknown_outcome: unknown }),
    },
  };
}

/** Scans from the end: the next success of each tool, optionally with the same arguments. */
function failedCalls(judged: readonly Judged[], sameArguments: boolean): readonly FailedCall[] {
  const sent = judged.map(({ call }) => argumentsText(argumentsOf(call), call.argumentsText));
  const keys = judged.map(({ call }, at) => (sameArguments ? `${call.name}\n${sent[at] ?? ''}` : call.name));
  const success = new Map<string, number>();
  const after = new Map<string, number>();
  const failed: FailedCall[] = [];
  for (const [at, one] of [...judged.entries()].reverse()) {
    const key = keys[at] ?? '';
    const repairAt = success.get(key);
    const attempts = (after.get(key) ?? 0) + 1;
    after.set(key, one.failure === undefined ? 1 : attempts);
    if (one.failure === undefined) success.set(key, at);
    else {
      const changed =
        repairAt === undefined || sent[at] === undefined || sent[repairAt] === undefined ? undefined : sent[at] !== sent[repairAt];
      failed.push({ ...one, failure: one.failure, repair: repairAt === undefined ? undefined : judged[repairAt], changed, attempts });
    }
  }
  return failed.reverse();
}

function argumentsText(sent: JsonObject | null | undefined, text: string | undefined): string | undefined {
  return sent === undefined ? undefined : sent === null ? `text ${text ?? ''}` : canonicalText(sent);
}

function failureDetails({ repair, changed, attempts, failure, ...placed }: FailedCall): JsonObject {
  return {
    ...callDetails(placed),
    ...failure,
    attempts,
    ...(repair === undefined ? {} : { repaired_by: callDetails(repair) }),
    ...(changed === undefined ? {} : { arguments_changed: changed }),
  };
}

function inWords({ failure, attempts, ...placed }: FailedCall): string {
  return `${callName(placed)} failed (${failure.message}) and ${attempts === 1 ? 'was not tried again' : `did not succeed in ${count(attempts, 'attempt')}`}`;
}
