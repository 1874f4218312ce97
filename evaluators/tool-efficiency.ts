/**
 * No tool call repeats an earlier one. Calls that never ran cost nothing and are left out. Results play no part in the score, but
 * the details distinguish retries (the earlier call failed) and polls (the results differ) from true repeats.
 */
import { jsonEqual } from './matching/equality.ts';
import type { JsonObject } from '../src/model/json.ts';
import { callEnd } from '../src/model/error-signs.ts';
import { errorMember } from '../src/model/error-objects.ts';
import type { Outcome } from '../src/model/verdict.ts';
import {
  argumentsUnknown,
  callDetails,
  evidenceOf,
  executedCalls,
  noToolCalls,
  notCarried,
  namedIn,
  partOf,
  partsOf,
  skipped,
  type PlacedCall,
  onEmpty,
} from './evidence/calls.ts';
import { longestCycle, type Cycle } from './evidence/cycles.ts';
import type { EvaluationContext, Subject } from './evaluator.ts';
import { argumentsOf } from './matching/expected-calls.ts';
import { isBlank } from './evidence/failed-calls.ts';
import {
  argumentRule,
  argumentsAgree,
  argumentsMatch,
  preparedArguments,
  type ArgumentOptions,
  type ArgumentRule,
  type PreparedArguments,
  argumentOptions,
} from './matching/arguments.ts';
import { underNormalizedNames, normalizeToolNames } from './matching/normalized-names.ts';
import { callName, count, listed, listedMax } from './explain/explanation.ts';
import { rule } from './configuration/define.ts';
import { flag, type OptionsOf } from './configuration/option-table.ts';

const options = {
  arguments: argumentOptions(),
  allow_retries: flag('A repeat of a call that failed does not count as redundant.'),
  allow_polls: flag('A repeat that brings another result does not count as redundant.'),
  normalize_tool_names: normalizeToolNames,
  on_empty: onEmpty,
};

type Options = OptionsOf<typeof options>;

export const toolEfficiency = rule({
  id: 'tool_efficiency',
  version: 3,
  summary: 'No tool call repeats an earlier one.',
  needs: ['tool_calls'],
  onByDefault: true,
  defaultThreshold: 1,
  options,
  source: 'Dokimos ToolEfficiencyEvaluator, with retries, polls and loops told apart',
  evaluate: underNormalizedNames(evaluate),
});

interface Prepared extends PlacedCall {
  readonly rule: ArgumentRule;
  /** Undefined: not carried. */
  readonly sent: PreparedArguments | undefined;
  /** Two calls of one tool are equal where their keys are; undefined: they have to be compared. */
  readonly key: string | undefined;
}

interface Repeat extends PlacedCall {
  /** The equal call that came last before it. */
  readonly of: PlacedCall;
  readonly kind: 'repeat' | 'retry' | 'poll';
}

/** Calls that equal one another. */
interface Known {
  readonly first: number;
  readonly call: Prepared;
  last: Prepared;
}

interface Walked {
  readonly repeats: readonly Repeat[];
  /** For every call the number of the first call equal to it. */
  readonly classes: readonly number[];
  readonly consecutive: readonly PlacedCall[];
}

function evaluate({ trace }: Subject, options: Options, context: EvaluationContext): Outcome {
  const calls = executedCalls(trace);
  const stop = notCarried(trace);
  if (stop !== undefined) return stop;
  if (calls.length === 0 && options.onEmpty === 'skip') return noToolCalls(trace);
  const prepared = calls.map((placed) => preparedCall(placed, options.arguments));
  if (lacksArguments(prepared))
    return argumentsUnknown(
      trace,
      'The spans carry no arguments for repeated tool calls, so repeats cannot be told from new calls; switch on the capture of tool inputs.',
    );
  const stopped = tooManyComparisons(prepared, context);
  return stopped ?? verdict(calls, walked(prepared), options);
}

/** Equal arguments have equal keys, and one pass finds them. With `subset`, `superset` or a matcher each call of a tool is compared with those before it. */
function tooManyComparisons(calls: readonly Prepared[], { toolCallsMax }: EvaluationContext): Outcome | undefined {
  const times = new Map<string, number>();
  for (const { call, key } of calls) if (key === undefined) times.set(call.name, (times.get(call.name) ?? 0) + 1);
  const comparisons = [...times.values()].reduce((total, some) => total + some * some, 0);
  if (comparisons <= toolCallsMax * toolCallsMax) return undefined;
  const compared = [...times.values()].reduce((total, some) => total + some, 0);
  return skipped(
    'too_large',
    `${count(compared, 'tool call')} are too many to compare the arguments of each with those of every other, as arguments.mode or the matcher asks; none was looked at. With the mode exact any number is scored.`,
    { tool_calls: calls.length, to_compare: compared },
  );
}

function preparedCall(placed: PlacedCall, options: ArgumentOptions): Prepared {
  const rule = argumentRule(options, placed.call.name);
  const sent = argumentsOf(placed.call);
  const prepared = sent === undefined ? undefined : preparedArguments(sent ?? { unreadable: placed.call.argumentsText ?? '' }, rule);
  return { index: placed.index, call: placed.call, rule, sent: prepared, key: keyOf(prepared, rule) };
}

function keyOf(sent: PreparedArguments | undefined, rule: ArgumentRule): string | undefined {
  if (rule.matcher !== undefined) return undefined;
  if (rule.mode === 'ignore' && rule.fields === undefined) return '';
  if (rule.fields === undefined && rule.mode !== 'exact') return undefined;
  // What was not carried equals nothing; such a call is the only one of its tool.
  return sent?.members === undefined ? '' : JSON.stringify([...sent.members].sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** Arguments are needed only where one tool was called twice. */
function lacksArguments(calls: readonly Prepared[]): boolean {
  const times = new Map<string, number>();
  for (const { call } of calls) times.set(call.name, (times.get(call.name) ?? 0) + 1);
  return calls.some(
    ({ call, rule, sent }) =>
      sent === undefined && (times.get(call.name) ?? 0) > 1 && (rule.mode !== 'ignore' || rule.matcher !== undefined),
  );
}

function walked(calls: readonly Prepared[]): Walked {
  const distinct = new Map<string, Known[]>();
  const byKey = new Map<string, Map<string, Known>>();
  const repeats: Repeat[] = [];
  const consecutive: PlacedCall[] = [];
  const classes: number[] = [];
  const remember = (fresh: Known): void => {
    const {
      key,
      call: { name },
    } = fresh.call;
    if (key === undefined)
      distinct
        .set(name, distinct.get(name) ?? [])
        .get(name)
        ?.push(fresh);
    else
      byKey
        .set(name, byKey.get(name) ?? new Map<string, Known>())
        .get(name)
        ?.set(key, fresh);
  };
  calls.forEach((call, at) => {
    const { name } = call.call;
    const equal =
      call.key === undefined ? distinct.get(name)?.find((earlier) => repeatsCall(earlier.call, call)) : byKey.get(name)?.get(call.key);
    const before = calls[at - 1];
    if (before !== undefined && repeatsCall(before, call)) consecutive.push(call);
    if (equal !== undefined) {
      repeats.push({ index: call.index, call: call.call, of: equal.last, kind: repeatKind(equal.last, call) });
      equal.last = call;
    } else remember({ first: at, call, last: call });
    classes.push(equal?.first ?? at);
  });
  return { repeats, classes, consecutive };
}

/** The earlier call stands where an expectation would: with `subset` a richer repeat is redundant, a poorer one is not. */
function repeatsCall(earlier: Prepared, later: Prepared): boolean {
  if (earlier.call.name !== later.call.name) return false;
  if (earlier.rule.matcher !== undefined)
    return argumentsAgree(argumentsOf(earlier.call) ?? null, argumentsOf(later.call) ?? null, earlier.rule);
  if (earlier.rule.mode === 'ignore' && earlier.rule.fields === undefined) return true;
  return earlier.sent !== undefined && later.sent !== undefined && argumentsMatch(earlier.sent, later.sent, earlier.rule);
}

function repeatKind({ call: earlier }: PlacedCall, { call: later }: PlacedCall): Repeat['kind'] {
  if (
    callEnd(earlier) === 'failed' ||
    (earlier.result !== undefined && (isBlank(earlier.result) || errorMember(earlier.result) !== undefined))
  )
    return 'retry';
  return earlier.result !== undefined && later.result !== undefined && !jsonEqual(earlier.result, later.result) ? 'poll' : 'repeat';
}

function verdict(calls: readonly PlacedCall[], { repeats, classes, consecutive }: Walked, options: Options): Outcome {
  const redundant = repeats.filter(({ kind }) => !(kind === 'retry' && options.allowRetries) && !(kind === 'poll' && options.allowPolls));
  const byIndex = new Map(redundant.map((repeat) => [repeat.index, repeat]));
  const distinct = calls.length - redundant.length;
  const cycle = longestCycle(classes);
  const { parts, leftOut } = partsOf(
    calls,
    ({ index }) => !byIndex.has(index),
    (placed) => part(placed, byIndex.get(placed.index)),
  );
  return {
    kind: 'scored',
    score: calls.length === 0 ? 1 : distinct / calls.length,
    explanation: explained(calls, redundant, cycle),
    evidence: evidenceOf(redundant),
    parts,
    details: {
      total_calls: calls.length,
      distinct_calls: distinct,
      ...namedIn('redundant_calls', redundant, ({ call }) => call.name),
      ...namedIn('consecutive_duplicates', consecutive, ({ call }) => call.name),
      ...namedIn('repeats', repeats, (repeat): JsonObject => ({
        ...callDetails(repeat),
        repeats_index: repeat.of.index,
        kind: repeat.kind,
      })),
      ...(cycle === undefined
        ? {}
        : {
            cycle: {
              period: cycle.period,
              length: cycle.length,
              first_index: calls[cycle.start]?.index ?? 0,
              tools: calls.slice(cycle.start, cycle.start + cycle.period).map(({ call }) => call.name),
            },
          }),
      ...leftOut,
    },
  };
}

function explained(calls: readonly PlacedCall[], redundant: readonly Repeat[], cycle: Cycle | undefined): string {
  if (redundant.length === 0)
    return calls.length === 0 ? 'No tool ran.' : `No tool call repeats an earlier one (${count(calls.length, 'call')}).`;
  const culprits = redundant.slice(0, listedMax).map((repeat) => `${callName(repeat)} ${inWords(repeat)}`);
  const loop =
    cycle === undefined || cycle.length < 3
      ? ''
      : `; ${cycle.period === 1 ? 'one call repeats' : `${cycle.period} calls repeat`} in a loop from call ${(calls[cycle.start]?.index ?? 0) + 1} on, ${cycle.length} calls long`;
  return `${redundant.length} of ${count(calls.length, 'tool call')} ${redundant.length === 1 ? 'repeats' : 'repeat'} earlier ones: ${listed(culprits, ', ', redundant.length)}${loop}.`;
}

function inWords({ kind, of }: Repeat): string {
  switch (kind) {
    case 'repeat':
      return `repeats call ${of.index + 1}`;
    case 'retry':
      return `retries call ${of.index + 1}, which failed`;
    case 'poll':
      return `repeats call ${of.index + 1} with another result`;
  }
}

function part(placed: PlacedCall, repeat: Repeat | undefined) {
  return partOf(placed, repeat === undefined, repeat === undefined ? 'The call is new.' : `${callName(placed)} ${inWords(repeat)}.`);
}
