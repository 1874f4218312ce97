/** One tool was called, at least once or as often as asked. Every call that the model asked for counts, whether it ran or not. */
import type { JsonObject, JsonValue } from '../src/model/json.ts';
import type { Outcome } from '../src/model/verdict.ts';
import { argumentsUnknown, callDetails, evidenceOf, notCarried, namedIn, placedCalls, type PlacedCall } from './evidence/calls.ts';
import type { Subject } from './evaluator.ts';
import { callMatching, countedCalls, equalNames, onlySuccessful } from './matching/expected-calls.ts';
import { isWithin, rangeText, readCount, timesSchema } from './expectation/expectation.ts';
import { argumentOptions } from './matching/arguments.ts';
import { underNormalizedNames, normalizeToolNames } from './matching/normalized-names.ts';
import { callName, count, listed, listedMax } from './explain/explanation.ts';
import { rule } from './configuration/define.ts';
import { option, required, type OptionsOf } from './configuration/option-table.ts';

const options = {
  name: required({ type: 'string', minLength: 1, description: 'The name of the tool. Required.' }, ''),
  times: option<JsonValue>(
    { ...timesSchema, description: 'How often: `2`, `">=2"`, `{min: 1, max: 3}`; `0` = it must not be called.' },
    '>=1',
  ),
  arguments: option<JsonObject | null>(
    { type: ['object', 'null'], description: 'Only calls with these arguments count; null counts all.' },
    null,
  ),
  arguments_match: argumentOptions(),
  only_successful: onlySuccessful,
  normalize_tool_names: normalizeToolNames,
};

type Options = OptionsOf<typeof options>;

export const toolCalled = rule({
  id: 'tool_called',
  version: 3,
  summary: 'One tool was called, as often as asked.',
  needs: ['tool_calls'],
  defaultThreshold: 1,
  options,
  source: 'Sentinel AI ToolCalled, at least once unless a number is asked',
  evaluate: underNormalizedNames(evaluate, (options) => [options.name]),
});

function evaluate({ trace }: Subject, options: Options): Outcome {
  const stop = notCarried(trace);
  if (stop !== undefined) return stop;
  const wanted = readCount(options.times);
  if (typeof wanted === 'string') return { kind: 'failed', error: 'invalid_options', explanation: `times ${wanted}.` };
  const calls = countedCalls(placedCalls(trace), options.onlySuccessful);
  const matching = callMatching(
    [{ name: options.name, ...(options.arguments === null ? {} : { arguments: options.arguments }) }],
    calls,
    options.argumentsMatch,
    equalNames,
  );
  if (matching.lacksArguments)
    return argumentsUnknown(trace, `The spans carry no arguments for calls of ${options.name}; switch on the capture of tool inputs.`);
  const counted = calls.filter((_, at) => matching.matches(0, at));
  const others = calls.flatMap((placed, at) => (matching.same(0, at) && !matching.matches(0, at) ? [{ placed, at }] : []));
  const met = isWithin(counted.length, wanted);
  const nearest = others
    .slice(0, listedMax)
    .map(({ placed, at }) => `${callName(placed)}: ${matching.difference(0, at) ?? 'its arguments differ'}`);
  const what = `${options.name} was called ${count(counted.length, 'time')}${options.arguments === null ? '' : ' with these arguments'}`;
  return {
    kind: 'scored',
    score: met ? 1 : 0,
    explanation: met
      ? `${what}, as asked (${rangeText(wanted)}).`
      : `${what} instead of ${rangeText(wanted)}${nearest.length === 0 ? '' : `; nearest: ${listed(nearest, '; ', others.length)}`}.`,
    evidence: evidenceOf(
      culprits(
        met,
        counted,
        others.map(({ placed }) => placed),
      ),
    ),
    details: {
      tool: options.name,
      count: counted.length,
      expected: rangeText(wanted),
      ...namedIn('calls', counted, callDetails),
      ...namedIn('calls_with_other_arguments', others, ({ placed }) => callDetails(placed)),
    },
  };
}

/** When it holds, the calls prove it; else those that were too many, or that came near. */
function culprits(met: boolean, counted: readonly PlacedCall[], others: readonly PlacedCall[]): readonly PlacedCall[] {
  return met ? counted : [...counted, ...others];
}
