/** One tool was called, at least once or as often as asked. Every call that the model asked for counts, whether it ran or not. */
import type { JsonObject, JsonValue } from '../src/model/json.ts';
import type { Outcome } from '../src/model/verdict.ts';
import { argumentsUnknown, callDetails, evidenceOf, notCarried, namedIn, placedCalls } from './evidence/calls.ts';
import type { PlacedCall } from './evidence/calls.ts';
import type { RuleEvaluator, Subject } from './evaluator.ts';
import { callMatching, countedCalls, equalNames } from './matching/expected-calls.ts';
import { isWithin, rangeText, readCount, timesSchema } from './expectation/expectation.ts';
import { argumentDefaults, argumentOptionsSchema, matcherPaths } from './matching/arguments.ts';
import type { ArgumentOptions } from './matching/arguments.ts';
import { normalizeToolNamesSchema, underNormalizedNames } from './matching/normalized-names.ts';
import { callName, count, listed, listedMax } from './explain/explanation.ts';

export interface ToolCalledOptions {
  readonly name: string;
  readonly times: JsonValue;
  /** Null: any. */
  readonly arguments: JsonObject | null;
  readonly argumentsMatch: ArgumentOptions;
  readonly onlySuccessful: boolean;
  readonly normalizeToolNames: boolean;
}

export const toolCalled = {
  kind: 'rule',
  id: 'tool_called',
  version: 3,
  summary: 'One tool was called, as often as asked.',
  needs: ['tool_calls'],
  onByDefault: false,
  defaultThreshold: 1,
  defaults: { name: '', times: '>=1', arguments: null, argumentsMatch: argumentDefaults, onlySuccessful: false, normalizeToolNames: false },
  optionsSchema: {
    type: 'object',
    additionalProperties: false,
    required: ['name'],
    properties: {
      name: { type: 'string', minLength: 1, description: 'The name of the tool. Required.' },
      times: { ...timesSchema, description: 'How often: `2`, `">=2"`, `{min: 1, max: 3}`; `0` = it must not be called.' },
      arguments: { type: ['object', 'null'], description: 'Only calls with these arguments count; null counts all.' },
      arguments_match: argumentOptionsSchema,
      only_successful: { type: 'boolean', description: 'Count only calls that ran without an error.' },
      normalize_tool_names: normalizeToolNamesSchema,
    },
  },
  functions: matcherPaths('argumentsMatch'),
  source: 'Sentinel AI ToolCalled, at least once unless a number is asked',
  evaluate: (subject, options) =>
    underNormalizedNames(subject, options.normalizeToolNames, (named) => evaluate(named, options), [options.name]),
} as const satisfies RuleEvaluator<ToolCalledOptions>;

function evaluate({ trace }: Subject, options: ToolCalledOptions): Outcome {
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
