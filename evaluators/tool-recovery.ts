/**
 * What failed was put right: a later call of the same tool succeeded, with the same arguments or with others. One success puts right all
 * failures of its tool before it. Calls that never ran, and calls without a known outcome, are left out.
 */
import type { JsonObject } from '../src/model/json.ts';
import type { Outcome } from '../src/model/verdict.ts';
import {
  argumentsUnknown,
  callDetails,
  evidenceOf,
  executedCalls,
  named,
  notCarried,
  noToolCalls,
  partOf,
  partsOf,
  resultsUnknown,
  skipped,
} from './evidence/calls.ts';
import type { EvaluationContext, Subject } from './evaluator.ts';
import { argumentsOf } from './matching/expected-calls.ts';
import { judgedCalls, notSearched, type Failure, type Judged, failureOptions } from './evidence/failed-calls.ts';
import { canonicalText } from './matching/equality.ts';
import { underNormalizedNames, normalizeToolNames } from './matching/normalized-names.ts';
import { callName, count, listed } from './explain/explanation.ts';
import { rule } from './configuration/define.ts';
import { flag, type OptionsOf } from './configuration/option-table.ts';

const options = {
  same_arguments: flag('Only a later success with the same arguments puts a failure right.'),
  ...failureOptions,
  normalize_tool_names: normalizeToolNames,
};

type Options = OptionsOf<typeof options>;

export const toolRecovery = rule({
  id: 'tool_recovery',
  version: 3,
  summary: 'Tool calls that failed were put right by later calls of the same tool.',
  needs: ['tool_calls', 'tool_results'],
  defaultThreshold: 1,
  options,
  source: 'the question that a tool error leaves open; failures as tool_error finds them',
  evaluate: underNormalizedNames(evaluate),
});

/** Culprits whose sentence is made; no more are named. */
const culpritsMade = 3;

interface Failed extends Judged {
  readonly failure: Failure;
  readonly repair: Judged | undefined;
  /** Undefined: no repair, or arguments are not carried. */
  readonly changed: boolean | undefined;
  /** Calls of the tool from the failure to its repair, or to the end. */
  readonly attempts: number;
}

function evaluate({ trace }: Subject, options: Options, context: EvaluationContext): Outcome {
  const stop = notCarried(trace);
  if (stop !== undefined) return stop;
  const calls = executedCalls(trace);
  if (calls.length === 0) return noToolCalls(trace);
  const { judged, unknown } = judgedCalls(calls, options, context);
  if (judged.length === 0)
    return resultsUnknown(calls, 'The spans tell neither results nor errors of tool calls; switch on the capture of tool outputs.', {
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
        : `${open.length} of ${count(failed.length, 'failure')} ${open.length === 1 ? 'was' : 'were'} not put right: ${listed(open.slice(0, culpritsMade).map(inWords), '; ', open.length)}.`,
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

/** From the end: the nearest later success of each tool, and with the same arguments where these have to be the same. */
function failedCalls(judged: readonly Judged[], sameArguments: boolean): readonly Failed[] {
  const sent = judged.map(({ call }) => argumentsText(argumentsOf(call), call.argumentsText));
  const keys = judged.map(({ call }, at) => (sameArguments ? `${call.name}\n${sent[at] ?? ''}` : call.name));
  const success = new Map<string, number>();
  const after = new Map<string, number>();
  const failed: Failed[] = [];
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

function failureDetails({ repair, changed, attempts, failure, ...placed }: Failed): JsonObject {
  return {
    ...callDetails(placed),
    ...failure,
    attempts,
    ...(repair === undefined ? {} : { repaired_by: callDetails(repair) }),
    ...(changed === undefined ? {} : { arguments_changed: changed }),
  };
}

function inWords({ failure, attempts, ...placed }: Failed): string {
  return `${callName(placed)} failed (${failure.message}) and ${attempts === 1 ? 'was not tried again' : `did not succeed in ${count(attempts, 'attempt')}`}`;
}
