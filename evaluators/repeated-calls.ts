/** Calls that come again: single repeats, and loops. a-b-a-b is a loop, though no call repeats the one before it. */
import { jsonEqual, canonicalText } from './matching/equality.ts';
import { isJsonObject, member, type JsonObject } from '../src/model/json.ts';
import { callEnd } from '../src/model/error-signs.ts';
import { errorMember } from '../src/model/error-objects.ts';
import type { Outcome } from '../src/model/verdict.ts';
import {
  argumentsUnknown,
  callDetails,
  executedCalls,
  noToolCalls,
  notCarried,
  namedIn,
  partOf,
  shareOfCalls,
  skipped,
  type PlacedCall,
  onEmpty,
  resultsUnknown,
} from './evidence/calls.ts';
import type { EvaluationContext, Signature, Subject } from './evaluator.ts';
import { argumentsOf } from './matching/expected-calls.ts';
import { isBlank } from './tool-failures.ts';
import {
  argumentRule,
  argumentsAgree,
  argumentsMatch,
  preparedArguments,
  selectedArguments,
  type ArgumentOptions,
  type ArgumentRule,
  type PreparedArguments,
  argumentOptions,
} from './matching/arguments.ts';
import { underNormalizedNames, normalizeToolNames } from './matching/names.ts';
import { callName, count, listed, toolName, someOf, listedOf } from './explain/explanation.ts';
import { nameOfTool, namesIn, rowsIn } from './explain/signature.ts';
import { rule, flag, type OptionsOf, option } from './configuration/define.ts';

/** Calls of a loop. Two equal calls are a repeat. */
const loopFrom = 3;

interface Cycle {
  readonly start: number;
  readonly period: number;
  /** Number of calls in the loop, at least two periods. */
  readonly length: number;
}

/** Limit of a loop's period. */
const periodMax = 10;

/** The longest periodic stretch; of equal ones the shortest period, then the earliest. */
function longestCycle(classes: readonly number[]): Cycle | undefined {
  let longest: Cycle | undefined;
  for (let period = 1; period <= Math.min(periodMax, classes.length / 2); period++) {
    let run = 0;
    for (let at = period; at < classes.length; at++) {
      run = classes[at] === classes[at - period] ? run + 1 : 0;
      const length = run + period;
      if (run >= period && length > (longest?.length ?? 0)) longest = { start: at - length + 1, period, length };
    }
  }
  return longest;
}

/** Stretches with at least `minRepeats` periods, without those inside another one. */
export function repeatedCycles(
  classes: readonly number[],
  limits: { readonly periodMax: number; readonly minRepeats: number },
): readonly Cycle[] {
  const found: Cycle[] = [];
  for (let period = 1; period <= Math.min(limits.periodMax, classes.length / limits.minRepeats); period++)
    found.push(...ofPeriod(classes, period, limits.minRepeats));
  // Enclosing stretches come first; of equal ones the shortest period.
  found.sort((one, other) => one.start - other.start || other.length - one.length || one.period - other.period);
  let reach = 0;
  return found.filter(({ start, length }) => {
    if (start + length <= reach) return false;
    reach = start + length;
    return true;
  });
}

function* ofPeriod(classes: readonly number[], period: number, minRepeats: number): Generator<Cycle> {
  let start = 0;
  for (let at = period; at <= classes.length; at++) {
    if (at < classes.length && classes[at] === classes[at - period]) continue;
    const length = at - start;
    if (length >= period * minRepeats) yield { start, period, length };
    start = at - period + 1;
  }
}

const toolEfficiencyOptions = {
  arguments: argumentOptions(),
  allow_retries: flag('A repeat of a call that failed does not count as redundant.'),
  allow_polls: flag('A repeat that brings another result does not count as redundant.'),
  normalize_tool_names: normalizeToolNames,
  on_empty: onEmpty,
};

type ToolEfficiencyOptions = OptionsOf<typeof toolEfficiencyOptions>;

/**
 * No tool call repeats an earlier one. Calls that never ran are left out. Results do not affect the score, but details distinguish retries
 * (the earlier call failed) and polls (the results differ) from true repeats.
 */
export const toolEfficiency = rule({
  id: 'tool_efficiency',
  version: 3,
  summary: 'No tool call repeats an earlier one.',
  needs: ['tool_calls'],
  onByDefault: true,
  defaultThreshold: 1,
  options: toolEfficiencyOptions,
  signatures({ details, parts }) {
    const cycle = member(details, 'cycle');
    const isLoop = isJsonObject(cycle) && Number(member(cycle, 'length')) >= loopFrom;
    const tools = [...new Set(parts.filter(({ passed }) => !passed).map(({ tool }) => tool))];
    return isLoop ? [loopSignature(namesIn(cycle, 'tools'))] : tools.map((tool) => ({ tool, text: 'the same call again' }));
  },
  source: 'Dokimos ToolEfficiencyEvaluator, that distinguishes retries, polls and loops',
  evaluate: underNormalizedNames(evaluate),
});

interface Prepared extends PlacedCall {
  readonly rule: ArgumentRule;
  /** False when the spans do not carry the arguments. */
  readonly isCarried: boolean;
  /** Equal keys mean equal calls; `undefined` when the calls must be compared. */
  readonly key: string | undefined;
  /** For the comparison; `undefined` when keys are compared, or not carried. */
  readonly sent: PreparedArguments | undefined;
}

interface Repeat extends PlacedCall {
  /** The last equal call before it. */
  readonly of: PlacedCall;
  readonly kind: 'repeat' | 'retry' | 'poll';
}

/** A group of equal calls. */
interface Known {
  readonly first: number;
  readonly call: Prepared;
  last: Prepared;
}

interface Walked {
  readonly repeats: readonly Repeat[];
  /** For each call, the index of the first equal call. */
  readonly classes: readonly number[];
  readonly consecutive: readonly PlacedCall[];
}

function evaluate({ trace }: Subject, options: ToolEfficiencyOptions, context: EvaluationContext): Outcome {
  const calls = executedCalls(trace);
  const stop = notCarried(trace);
  if (stop !== undefined) return stop;
  if (calls.length === 0 && options.onEmpty === 'skip') return noToolCalls(trace);
  const prepared = calls.map((placed) => preparedCall(placed, options.arguments));
  if (lacksArguments(prepared))
    return argumentsUnknown(
      trace,
      'The spans carry no arguments for repeated tool calls, so repeats cannot be distinguished from new calls; switch on the capture of tool inputs.',
    );
  const stopped = tooManyComparisons(prepared, context);
  return stopped ?? verdict(calls, walked(prepared), options);
}

/**
 * One pass suffices for exact equality. With `subset`, `superset` or a matcher, each call is compared with all earlier ones of its tool.
 */
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
  const given = argumentsOf(placed.call);
  const sent = given === null ? { unreadable: placed.call.argumentsText ?? '' } : given;
  const key = keyOf(sent, rule);
  const compared = key === undefined && sent !== undefined ? preparedArguments(sent, rule) : undefined;
  return { index: placed.index, call: placed.call, rule, isCarried: sent !== undefined, key, sent: compared };
}

function keyOf(sent: JsonObject | undefined, rule: ArgumentRule): string | undefined {
  if (rule.matcher !== undefined) return undefined;
  if (rule.mode === 'ignore' && rule.fields === undefined) return '';
  if (rule.fields === undefined && rule.mode !== 'exact') return undefined;
  // Missing arguments occur here only for the single call of a tool.
  return sent === undefined ? '' : canonicalText(selectedArguments(sent, rule), rule);
}

/** Arguments are required only if a tool was called twice. */
function lacksArguments(calls: readonly Prepared[]): boolean {
  const times = new Map<string, number>();
  for (const { call } of calls) times.set(call.name, (times.get(call.name) ?? 0) + 1);
  return calls.some(
    ({ call, rule, isCarried }) => !isCarried && (times.get(call.name) ?? 0) > 1 && (rule.mode !== 'ignore' || rule.matcher !== undefined),
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

/** The earlier call takes the place of the expectation: with `subset`, a call with more arguments repeats it. */
function repeatsCall(earlier: Prepared, later: Prepared): boolean {
  if (earlier.call.name !== later.call.name) return false;
  if (earlier.rule.matcher !== undefined)
    return argumentsAgree(argumentsOf(earlier.call) ?? null, argumentsOf(later.call) ?? null, earlier.rule);
  if (earlier.rule.mode === 'ignore' && earlier.rule.fields === undefined) return true;
  if (earlier.key !== undefined) return earlier.isCarried && later.isCarried && earlier.key === later.key;
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

function verdict(calls: readonly PlacedCall[], { repeats, classes, consecutive }: Walked, options: ToolEfficiencyOptions): Outcome {
  const redundant = repeats.filter(({ kind }) => !(kind === 'retry' && options.allowRetries) && !(kind === 'poll' && options.allowPolls));
  const byIndex = new Map(redundant.map((repeat) => [repeat.index, repeat]));
  const cycle = longestCycle(classes);
  return shareOfCalls(calls, {
    failed: redundant,
    hasPassed: ({ index }) => !byIndex.has(index),
    part: (placed) => {
      const repeat = byIndex.get(placed.index);
      return partOf(placed, repeat === undefined, repeat === undefined ? 'The call is new.' : `${callName(placed)} ${inWords(repeat)}.`);
    },
    explanation: explained(calls, redundant, cycle),
    details: {
      total_calls: calls.length,
      distinct_calls: calls.length - redundant.length,
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
    },
  });
}

function explained(calls: readonly PlacedCall[], redundant: readonly Repeat[], cycle: Cycle | undefined): string {
  if (redundant.length === 0)
    return calls.length === 0 ? 'No tool ran.' : `No tool call repeats an earlier one (${count(calls.length, 'call')}).`;
  const loop =
    cycle === undefined || cycle.length < loopFrom
      ? ''
      : `; ${cycle.period === 1 ? 'one call repeats' : `${cycle.period} calls repeat`} in a loop from call ${(calls[cycle.start]?.index ?? 0) + 1} on, ${cycle.length} calls long`;
  const repeated = (repeat: Repeat): string => `${callName(repeat)} ${inWords(repeat)}`;
  return `${someOf(redundant, count(calls.length, 'tool call'), ['repeats earlier ones', 'repeat earlier ones'], repeated, ', ')}${loop}.`;
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

const loopDetectionOptions = {
  min_repeats: option(
    { type: 'integer', minimum: 2, maximum: 1000, description: 'Least number of times in a row that makes the same calls a loop.' },
    3,
  ),
  period_max: option({ type: 'integer', minimum: 1, maximum: 50, description: 'Calls in one round of a loop, at most.' }, 10),
  compare_arguments: flag('Calls are the same only with the same arguments.', true),
  compare_results: flag('Calls are the same only with the same result, so that polling until something changes is not a loop.'),
  normalize_tool_names: normalizeToolNames,
};

type LoopDetectionOptions = OptionsOf<typeof loopDetectionOptions>;

/**
 * The agent did not loop. A loop is a stretch in which the same calls occur at least `min_repeats` times in a row. The score is the share
 * of calls outside loops. Calls that never ran are left out.
 */
export const loopDetection = rule({
  id: 'loop_detection',
  version: 2,
  summary: 'The agent did not run in circles.',
  needs: ['tool_calls'],
  defaultThreshold: 1,
  options: loopDetectionOptions,
  signatures: ({ details }) => rowsIn(details, 'loops').map((loop) => loopSignature(rowsIn(loop, 'calls').map(nameOfTool))),
  source: 'DeepEval AgentLoopDetectionMetric, with loops of any period and one share instead of weights',
  evaluate: underNormalizedNames(loopDetectionEvaluate),
});

/** The same for every call with which the loop may begin. */
function loopSignature(tools: readonly string[]): Signature {
  const distinct = [...new Set(tools)].toSorted();
  return distinct.length === 1 ? { tool: distinct[0] ?? '', text: 'a loop' } : { tool: '', text: `a loop of ${distinct.join(', ')}` };
}

/** Limit of loops in the details, which count all. */
const loopsListed = 100;

function loopDetectionEvaluate({ trace }: Subject, options: LoopDetectionOptions): Outcome {
  const stop = notCarried(trace);
  if (stop !== undefined) return stop;
  const calls = executedCalls(trace);
  if (calls.length === 0) return noToolCalls(trace);
  const times = new Map<string, number>();
  for (const { call } of calls) times.set(call.name, (times.get(call.name) ?? 0) + 1);
  const again = calls.filter(({ call }) => (times.get(call.name) ?? 0) >= options.minRepeats);
  if (options.compareArguments && again.some(({ call }) => argumentsOf(call) === undefined))
    return argumentsUnknown(
      trace,
      'The spans carry no arguments for repeated tool calls, so loops cannot be distinguished from new calls; switch on the capture of tool inputs, or set compare_arguments to false.',
    );
  if (options.compareResults && again.some(({ call }) => call.result === undefined && call.error === undefined))
    return resultsUnknown(
      again,
      'The spans carry no results for repeated tool calls; switch on the capture of tool outputs, or set compare_results to false.',
    );
  return loopDetectionVerdict(calls, repeatedCycles(classesOf(calls, options), options));
}

/** For each call, the index of the first equal call. */
function classesOf(calls: readonly PlacedCall[], options: LoopDetectionOptions): readonly number[] {
  const first = new Map<string, number>();
  return calls.map(({ call }, at) => {
    const sent = options.compareArguments ? [call.arguments ?? null, call.argumentsText ?? null] : [];
    const got = options.compareResults ? [call.result ?? null, call.error?.message ?? null] : [];
    const key = canonicalText([call.name, ...sent, ...got]);
    const known = first.get(key) ?? at;
    first.set(key, known);
    return known;
  });
}

function loopDetectionVerdict(calls: readonly PlacedCall[], cycles: readonly Cycle[]): Outcome {
  const loopOf = new Map<number, Cycle>();
  for (const cycle of cycles) for (let at = cycle.start; at < cycle.start + cycle.length; at++) if (!loopOf.has(at)) loopOf.set(at, cycle);
  const looped = calls.filter((_, at) => loopOf.has(at));
  const places = calls.map((placed, at) => ({ ...placed, loop: loopOf.get(at) }));
  return shareOfCalls(places, {
    failed: looped,
    hasPassed: ({ loop }) => loop === undefined,
    part: (one) =>
      partOf(
        one,
        one.loop === undefined,
        one.loop === undefined ? 'The call is in no loop.' : `${callName(one)} is part of a loop of ${count(one.loop.period, 'call')}.`,
      ),
    explanation:
      cycles.length === 0
        ? `No loop in ${count(calls.length, 'tool call')}.`
        : `${looped.length} of ${count(calls.length, 'tool call')} ${looped.length === 1 ? 'is' : 'are'} in loops: ${listedOf(cycles, (cycle) => loopDetectionInWords(cycle, calls))}.`,
    details: {
      total: calls.length,
      looped: looped.length,
      loops: cycles.slice(0, loopsListed).map((cycle) => loopDetails(cycle, calls)),
      ...(cycles.length > loopsListed ? { loops_left_out: cycles.length - loopsListed } : {}),
    },
  });
}

function loopDetails({ start, period, length }: Cycle, calls: readonly PlacedCall[]): JsonObject {
  const round = calls.slice(start, start + period);
  return { first_index: round[0]?.index ?? 0, period, length, repeats: Math.floor(length / period), calls: round.map(callDetails) };
}

function loopDetectionInWords({ start, period, length }: Cycle, calls: readonly PlacedCall[]): string {
  const round = calls.slice(start, start + period).map(({ call }) => toolName(call));
  const from = (calls[start]?.index ?? 0) + 1;
  return `${listed(round, ' – ')} ${count(Math.floor(length / period), 'time')} in a row from call ${from} on`;
}
