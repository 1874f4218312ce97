/**
 * The tools that ran succeeded: no span states a failure, and where none states success, no result reads as an error. Calls that never ran
 * are left out, and so are calls of which the spans carry neither a result nor an error.
 */
import type { Outcome, PartVerdict } from '../src/model/verdict.ts';
import {
  callDetails,
  evidenceOf,
  executedCalls,
  notCarried,
  named,
  noToolCalls,
  partOf,
  partsOf,
  resultsUnknown,
  onEmpty,
} from './evidence/calls.ts';
import { searchedTextMax } from './configuration/context.ts';
import { judgedCalls, notSearched, type Failure, type Judged, failureOptions } from './evidence/failed-calls.ts';
import { callName, count, listed } from './explain/explanation.ts';
import { rule } from './configuration/define.ts';

/** Culprits whose sentence is made; no more are named. */
const culpritsMade = 3;

export const toolError = rule({
  id: 'tool_error',
  version: 3,
  summary: 'The tool calls succeeded.',
  needs: ['tool_calls', 'tool_results'],
  onByDefault: true,
  defaultThreshold: 1,
  options: {
    ...failureOptions,
    on_empty: onEmpty,
  },
  source: 'Dokimos ToolErrorEvaluator, with the signs that spans and results carry',
  evaluate({ trace }, options, context) {
    const calls = executedCalls(trace);
    const stop = notCarried(trace);
    if (stop !== undefined) return stop;
    if (calls.length === 0 && options.onEmpty === 'skip') return noToolCalls(trace);
    const { judged, unknown } = judgedCalls(calls, options, context);
    if (calls.length > 0 && judged.length === 0)
      return resultsUnknown(calls, 'The spans tell neither results nor errors of tool calls; switch on the capture of tool outputs.', {
        unknown_outcome: unknown,
      });
    const cut = judged.filter(({ isCut }) => isCut);
    if (cut.length > 0 && !judged.some(hasFailed)) return notSearched(cut);
    return verdict(judged, unknown);
  },
});

function verdict(judged: readonly Judged[], unknown: number): Outcome {
  const failed = judged.filter(hasFailed);
  const succeeded = judged.length - failed.length;
  const stated = judged.filter(({ isStated }) => isStated).length;
  const contradicted = judged.filter(({ isContradicted }) => isContradicted);
  const { parts, leftOut } = partsOf(judged, (call) => call.failure === undefined, part);
  return {
    kind: 'scored',
    score: judged.length === 0 ? 1 : succeeded / judged.length,
    explanation: [
      failed.length === 0 ? withoutFailure(stated, succeeded - stated) : failuresInWords(failed, judged.length),
      contradictedInWords(contradicted),
      unknownInWords(unknown),
    ]
      .filter((sentence) => sentence !== '')
      .join(' '),
    evidence: evidenceOf(failed),
    parts,
    details: {
      succeeded,
      stated,
      total: judged.length,
      failed: named(failed).map((call) => ({ ...callDetails(call), ...call.failure })),
      ...(contradicted.length === 0 ? {} : { contradicted: named(contradicted).map(callDetails) }),
      ...(unknown === 0 ? {} : { unknown_outcome: unknown }),
      ...leftOut,
    },
  };
}

interface Failed extends Judged {
  readonly failure: Failure;
}

function hasFailed(judged: Judged): judged is Failed {
  return judged.failure !== undefined;
}

/** A result without a sign of an error is no proof of success, so the sentence claims none. */
function withoutFailure(stated: number, silent: number): string {
  if (stated + silent === 0) return 'No tool ran.';
  if (stated === 0) return `No sign of an error in ${count(silent, 'result')}.`;
  if (silent === 0) return stated === 1 ? 'The tool call succeeded by its span.' : `All ${stated} tool calls succeeded by their spans.`;
  return `${stated} of ${stated + silent} tool calls succeeded by ${stated === 1 ? 'its span' : 'their spans'}, no sign of an error in the other ${count(silent, 'result')}.`;
}

function failuresInWords(failed: readonly Failed[], total: number): string {
  const culprits = failed.slice(0, culpritsMade).map((call) => `${callName(call)}: ${call.failure.message}`);
  return `${failed.length} of ${count(total, 'tool call')} failed: ${listed(culprits, '; ', failed.length)}.`;
}

function contradictedInWords(calls: readonly Judged[]): string {
  if (calls.length === 0) return '';
  return `The ${calls.length === 1 ? 'result' : 'results'} of ${listed(calls.slice(0, culpritsMade).map(callName), ', ', calls.length)} ${calls.length === 1 ? 'reads as an error, though its span states' : 'read as errors, though their spans state'} success.`;
}

function unknownInWords(unknown: number): string {
  return unknown === 0 ? '' : `The spans carry neither a result nor an error of ${count(unknown, 'further call')}.`;
}

function part(judged: Judged): PartVerdict {
  const { failure, isStated, isCut } = judged;
  return partOf(
    judged,
    failure === undefined,
    failure !== undefined
      ? `${callName(judged)} failed: ${failure.message}.`
      : isStated
        ? 'The call succeeded by its span.'
        : isCut
          ? `No sign of an error in the first ${searchedTextMax} characters of the result.`
          : 'No sign of an error in the result.',
  );
}
