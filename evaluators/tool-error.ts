/**
 * The tools that ran succeeded. Calls that never ran are left out, and so are calls of which the spans tell neither a result nor an
 * error; when other calls of the run show errors, a call that ended without one succeeded.
 */
import type { ToolCall } from '../src/model/agent-trace.ts';
import { plainText } from '../src/model/json.ts';
import type { JsonValue } from '../src/model/json.ts';
import type { Outcome, PartVerdict } from '../src/model/verdict.ts';
import { callDetails, evidenceOf, executedCalls, noToolCalls, notCarried, onEmptySchema, partOf, skipped, tooLarge } from './calls.ts';
import type { OnEmpty, PlacedCall } from './calls.ts';
import type { EvaluationContext, Pattern, RuleEvaluator, Subject } from './evaluator.ts';
import { errorField, isBlank } from './failures.ts';
import { callName, count, listed, quoted } from './wording.ts';

export interface ToolErrorOptions {
  readonly blankIsError: boolean;
  readonly detectErrorField: boolean;
  readonly useSpanStatus: boolean;
  readonly useIsError: boolean;
  readonly errorPatterns: readonly string[];
  readonly onEmpty: OnEmpty;
}

export const toolError = {
  kind: 'rule',
  id: 'tool_error',
  version: 1,
  summary: 'The tool calls succeeded.',
  needs: ['tool_calls', 'tool_results'],
  onByDefault: true,
  defaultThreshold: 1,
  defaults: { blankIsError: true, detectErrorField: true, useSpanStatus: true, useIsError: true, errorPatterns: [], onEmpty: 'skip' },
  optionsSchema: {
    type: 'object',
    additionalProperties: false,
    properties: {
      blank_is_error: { type: 'boolean', description: 'A result without a visible character is a failure.' },
      detect_error_field: { type: 'boolean', description: 'A result that is an object with an error member is a failure; false, 0, an empty text and an empty list there mean no error.' },
      use_span_status: { type: 'boolean', description: 'A tool span with status ERROR, an exception event or error.type is a failure.' },
      use_is_error: { type: 'boolean', description: 'A result marked as an error by the protocol (isError of MCP, an error status of the message) is a failure.' },
      error_patterns: { type: 'array', maxItems: 100, items: { type: 'string', format: 're2' }, description: 'A result in which one of these regular expressions is found is a failure.' },
      on_empty: onEmptySchema,
    },
  },
  source: 'Dokimos ToolErrorEvaluator, with the signs that spans carry',
  evaluate,
} as const satisfies RuleEvaluator<ToolErrorOptions>;

type Kind = 'span_status' | 'is_error' | 'blank' | 'pattern' | 'error_field';

interface Failure {
  readonly kind: Kind;
  readonly message: string;
}

interface Judged extends PlacedCall {
  readonly failure: Failure | undefined;
}

function evaluate({ trace }: Subject, options: ToolErrorOptions, context: EvaluationContext): Outcome {
  const calls = executedCalls(trace);
  const stop = notCarried(trace) ?? tooLarge(trace, context);
  if (stop !== undefined) return stop;
  if (calls.length === 0 && options.onEmpty === 'skip') return noToolCalls(trace);
  const patterns = options.errorPatterns.map((source) => context.pattern(source));
  const errorsShow = calls.some(({ call }) => signOf(call, options) !== undefined);
  const known = calls.filter(({ call }) => call.result !== undefined || signOf(call, options) !== undefined || (errorsShow && call.endUnixNano !== undefined));
  if (calls.length > 0 && known.length === 0) return skipped('results_not_carried', 'The spans tell neither results nor errors of tool calls; switch on the capture of tool outputs.', { unknown_outcome: calls.length });
  const judged = known.map((placed) => ({ ...placed, failure: signOf(placed.call, options) ?? failureOf(placed.call.result, options, patterns) }));
  return verdict(judged, calls.length - known.length);
}

/** The failure that the span or the protocol tells, whatever the result says. */
function signOf({ error }: ToolCall, options: ToolErrorOptions): Failure | undefined {
  if (error === undefined) return undefined;
  const kind = error.sign === 'is_error' || error.sign === 'result_status' ? 'is_error' : 'span_status';
  if (kind === 'is_error' ? !options.useIsError : !options.useSpanStatus) return undefined;
  const said = error.message.trim() === '' ? (error.type ?? '') : error.message;
  const told = said === '' ? '' : `: ${quoted(said)}`;
  return { kind, message: kind === 'is_error' ? `its result is marked as an error${told}` : `its span failed${told}` };
}

function failureOf(result: JsonValue | undefined, options: ToolErrorOptions, patterns: readonly Pattern[]): Failure | undefined {
  if (result === undefined) return undefined;
  if (isBlank(result)) return options.blankIsError ? { kind: 'blank', message: 'it returned nothing' } : undefined;
  const text = plainText(result);
  const found = patterns.find((pattern) => pattern.test(text));
  if (found !== undefined) return { kind: 'pattern', message: `its result matches ${quoted(found.source)}` };
  if (!options.detectErrorField) return undefined;
  const error = errorField(result);
  return error === undefined ? undefined : { kind: 'error_field', message: `its result has the error ${quoted(plainText(error))}` };
}

function verdict(judged: readonly Judged[], unknown: number): Outcome {
  const failed = judged.flatMap(({ failure, ...placed }) => (failure === undefined ? [] : [{ ...placed, failure }]));
  const succeeded = judged.length - failed.length;
  const culprits = failed.map((call) => `${callName(call)}: ${call.failure.message}`);
  return {
    kind: 'scored',
    score: judged.length === 0 ? 1 : succeeded / judged.length,
    explanation: judged.length === 0 ? 'No tool ran.' : failed.length === 0 ? succeededInWords(succeeded) : `${failed.length} of ${count(judged.length, 'tool call')} failed: ${listed(culprits, '; ')}.`,
    evidence: evidenceOf(failed),
    parts: judged.map(part),
    details: {
      succeeded,
      total: judged.length,
      failed: failed.map((call) => ({ ...callDetails(call), ...call.failure })),
      ...(unknown === 0 ? {} : { unknown_outcome: unknown }),
    },
  };
}

function succeededInWords(succeeded: number): string {
  return succeeded === 1 ? 'The tool call succeeded.' : `All ${succeeded} tool calls succeeded.`;
}

function part(judged: Judged): PartVerdict {
  const { failure } = judged;
  return partOf(judged, failure === undefined, failure === undefined ? 'The call succeeded.' : `${callName(judged)} failed: ${failure.message}.`);
}
