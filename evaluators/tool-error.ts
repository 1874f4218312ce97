/**
 * The tools that ran succeeded. Calls that never ran are left out, and so are calls of which the spans tell neither a result nor an
 * error; when other calls of the run show errors, a call that ended without one succeeded.
 */
import type { Outcome, PartVerdict } from '../src/model/verdict.ts';
import { callDetails, evidenceOf, executedCalls, notCarried, noToolCalls, onEmptySchema, partOf, resultsUnknown, tooLarge } from './calls.ts';
import type { OnEmpty } from './calls.ts';
import type { EvaluationContext, RuleEvaluator, Subject } from './evaluator.ts';
import { failureDefaults, failureProperties, judgedCalls } from './judged-calls.ts';
import type { Failure, FailureOptions, Judged } from './judged-calls.ts';
import { callName, count, listed } from './wording.ts';

export interface ToolErrorOptions extends FailureOptions {
  readonly onEmpty: OnEmpty;
}

export const toolError = {
  kind: 'rule',
  id: 'tool_error',
  version: 2,
  summary: 'The tool calls succeeded.',
  needs: ['tool_calls', 'tool_results'],
  onByDefault: true,
  defaultThreshold: 1,
  defaults: { ...failureDefaults, onEmpty: 'skip' },
  optionsSchema: {
    type: 'object',
    additionalProperties: false,
    properties: {
      ...failureProperties,
      on_empty: onEmptySchema,
    },
  },
  source: 'Dokimos ToolErrorEvaluator, with the signs that spans carry',
  evaluate,
} as const satisfies RuleEvaluator<ToolErrorOptions>;

function evaluate({ trace }: Subject, options: ToolErrorOptions, context: EvaluationContext): Outcome {
  const calls = executedCalls(trace);
  const stop = notCarried(trace) ?? tooLarge(trace, context);
  if (stop !== undefined) return stop;
  if (calls.length === 0 && options.onEmpty === 'skip') return noToolCalls(trace);
  const { judged, unknown } = judgedCalls(calls, options, context);
  if (calls.length > 0 && judged.length === 0) return resultsUnknown(calls, 'The spans tell neither results nor errors of tool calls; switch on the capture of tool outputs.', { unknown_outcome: unknown });
  return verdict(judged, unknown);
}

function verdict(judged: readonly Judged[], unknown: number): Outcome {
  const failed = judged.filter(hasFailed);
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

interface Failed extends Judged {
  readonly failure: Failure;
}

function hasFailed(judged: Judged): judged is Failed {
  return judged.failure !== undefined;
}

function succeededInWords(succeeded: number): string {
  return succeeded === 1 ? 'The tool call succeeded.' : `All ${succeeded} tool calls succeeded.`;
}

function part(judged: Judged): PartVerdict {
  const { failure } = judged;
  return partOf(judged, failure === undefined, failure === undefined ? 'The call succeeded.' : `${callName(judged)} failed: ${failure.message}.`);
}
