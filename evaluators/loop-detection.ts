/**
 * The agent did not run in circles. A loop is a stretch in which the same one or more calls come again and again, at least so many times
 * in a row; the score is the share of calls outside of loops, so a run that is one loop from beginning to end scores 0. Calls that never
 * ran are left out.
 */
import type { JsonObject } from '../src/model/json.ts';
import type { Outcome } from '../src/model/verdict.ts';
import {
  argumentsUnknown,
  callDetails,
  evidenceOf,
  executedCalls,
  notCarried,
  noToolCalls,
  partOf,
  partsOf,
  resultsUnknown,
  type PlacedCall,
} from './evidence/calls.ts';
import { repeatedCycles, type Cycle } from './evidence/cycles.ts';
import type { Subject } from './evaluator.ts';
import { argumentsOf } from './matching/expected-calls.ts';
import { canonicalText } from './matching/equality.ts';
import { underNormalizedNames, normalizeToolNames } from './matching/normalized-names.ts';
import { callName, count, listed, toolName } from './explain/explanation.ts';
import { rule } from './configuration/define.ts';
import { flag, option, type OptionsOf } from './configuration/option-table.ts';

const options = {
  min_repeats: option(
    { type: 'integer', minimum: 2, maximum: 1000, description: 'How many times in a row the same calls make a loop.' },
    3,
  ),
  period_max: option({ type: 'integer', minimum: 1, maximum: 50, description: 'Calls in one round of a loop, at most.' }, 10),
  compare_arguments: flag('Calls are the same only with the same arguments.', true),
  compare_results: flag('Calls are the same only with the same result, so that polling until something changes is no loop.'),
  normalize_tool_names: normalizeToolNames,
};

type Options = OptionsOf<typeof options>;

export const loopDetection = rule({
  id: 'loop_detection',
  version: 2,
  summary: 'The agent did not run in circles.',
  needs: ['tool_calls'],
  defaultThreshold: 1,
  options,
  source: 'DeepEval AgentLoopDetectionMetric, with loops of any period and one share instead of weights',
  evaluate: underNormalizedNames(evaluate),
});

/** Loops that the details list; the details count all. */
const loopsListed = 100;
const culpritsMade = 3;

function evaluate({ trace }: Subject, options: Options): Outcome {
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
      'The spans carry no arguments for repeated tool calls, so loops cannot be told from new calls; switch on the capture of tool inputs, or set compare_arguments to false.',
    );
  if (options.compareResults && again.some(({ call }) => call.result === undefined && call.error === undefined))
    return resultsUnknown(
      again,
      'The spans carry no results for repeated tool calls; switch on the capture of tool outputs, or set compare_results to false.',
    );
  return verdict(calls, repeatedCycles(classesOf(calls, options), options));
}

/** For every call the number of the first call that is the same. */
function classesOf(calls: readonly PlacedCall[], options: Options): readonly number[] {
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

function verdict(calls: readonly PlacedCall[], cycles: readonly Cycle[]): Outcome {
  const loopOf = new Map<number, Cycle>();
  for (const cycle of cycles) for (let at = cycle.start; at < cycle.start + cycle.length; at++) if (!loopOf.has(at)) loopOf.set(at, cycle);
  const looped = calls.filter((_, at) => loopOf.has(at));
  const places = calls.map((placed, at) => ({ ...placed, loop: loopOf.get(at) }));
  const { parts, leftOut } = partsOf(
    places,
    ({ loop }) => loop === undefined,
    (one) =>
      partOf(
        one,
        one.loop === undefined,
        one.loop === undefined ? 'The call is in no loop.' : `${callName(one)} is part of a loop of ${count(one.loop.period, 'call')}.`,
      ),
  );
  return {
    kind: 'scored',
    score: (calls.length - looped.length) / calls.length,
    explanation:
      cycles.length === 0
        ? `No loop in ${count(calls.length, 'tool call')}.`
        : `${looped.length} of ${count(calls.length, 'tool call')} ${looped.length === 1 ? 'is' : 'are'} in loops: ${listed(
            cycles.slice(0, culpritsMade).map((cycle) => inWords(cycle, calls)),
            '; ',
            cycles.length,
          )}.`,
    evidence: evidenceOf(looped),
    parts,
    details: {
      total: calls.length,
      looped: looped.length,
      loops: cycles.slice(0, loopsListed).map((cycle) => loopDetails(cycle, calls)),
      ...(cycles.length > loopsListed ? { loops_left_out: cycles.length - loopsListed } : {}),
      ...leftOut,
    },
  };
}

function loopDetails({ start, period, length }: Cycle, calls: readonly PlacedCall[]): JsonObject {
  const round = calls.slice(start, start + period);
  return { first_index: round[0]?.index ?? 0, period, length, repeats: Math.floor(length / period), calls: round.map(callDetails) };
}

function inWords({ start, period, length }: Cycle, calls: readonly PlacedCall[]): string {
  const round = calls.slice(start, start + period).map(({ call }) => toolName(call));
  const from = (calls[start]?.index ?? 0) + 1;
  return `${listed(round, ' – ')} ${count(Math.floor(length / period), 'time')} in a row from call ${from} on`;
}
