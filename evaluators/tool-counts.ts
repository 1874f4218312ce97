/** Checks how often tools were called. Every call that the model asked for counts, executed or not; other tools are free. */
import type { JsonObject, JsonValue } from '../src/model/json.ts';
import type { Outcome } from '../src/model/verdict.ts';
import {
  argumentsUnknown,
  callDetails,
  evidenceOf,
  notCarried,
  namedIn,
  placedCalls,
  type PlacedCall,
  noExpectation,
} from './evidence/calls.ts';
import type { Subject } from './evaluator.ts';
import { callMatching, countedCalls, equalNames, onlySuccessful } from './matching/expected-calls.ts';
import { isWithin, rangeText, readCount, timesSchema, countSchema } from './expectation/expectation.ts';
import { argumentOptions } from './matching/arguments.ts';
import { underNormalizedNames, normalizeToolNames, byToolName } from './matching/names.ts';
import { callName, count, someOf, listedOf } from './explain/explanation.ts';
import { rule, option, required, type OptionsOf, flag, expecting } from './configuration/define.ts';
import type { ExpectedCount } from '../src/model/expectation.ts';

const toolCalledOptions = {
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

type ToolCalledOptions = OptionsOf<typeof toolCalledOptions>;

/** One tool was called, at least once or as often as asked. Every call that the model asked for counts, whether it ran or not. */
export const toolCalled = rule({
  id: 'tool_called',
  version: 3,
  summary: 'One tool was called, as often as asked.',
  needs: ['tool_calls'],
  defaultThreshold: 1,
  options: toolCalledOptions,
  source: 'Sentinel AI ToolCalled, at least once unless a number is asked',
  evaluate: underNormalizedNames(evaluate, (options) => [options.name]),
});

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
  const nearest = listedOf(others, ({ placed, at }) => `${callName(placed)}: ${matching.difference(0, at) ?? 'its arguments differ'}`);
  const what = `${options.name} was called ${count(counted.length, 'time')}${options.arguments === null ? '' : ' with these arguments'}`;
  return {
    kind: 'scored',
    score: met ? 1 : 0,
    explanation: met
      ? `${what}, as asked (${rangeText(wanted)}).`
      : `${what} instead of ${rangeText(wanted)}${others.length === 0 ? '' : `; nearest: ${nearest}`}.`,
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

/** The evidence: matching calls on success; otherwise calls beyond the count, or similar ones. */
function culprits(met: boolean, counted: readonly PlacedCall[], others: readonly PlacedCall[]): readonly PlacedCall[] {
  return met ? counted : [...counted, ...others];
}

const toolCallCountOptions = {
  strict: flag('All or nothing: one wrong count gives 0.'),
  only_successful: onlySuccessful,
  normalize_tool_names: normalizeToolNames,
};

type ToolCallCountOptions = OptionsOf<typeof toolCallCountOptions>;

/** Tools were called as often as expected. Every call that the model asked for counts, whether it ran or not; other tools are free. */
export const toolCallCount = rule({
  id: 'tool_call_count',
  version: 3,
  summary: 'Tools were called as often as expected.',
  needs: ['tool_calls', 'expected_tool_counts'],
  defaultThreshold: null,
  options: toolCallCountOptions,
  expectationSchema: expecting(
    {
      tool_calls_count: {
        type: 'object',
        maxProperties: 1000,
        description:
          'By the name of the tool, its id or the id of a call: `3`, `">=2"` (one of = == != > >= < <=), `[">=", 2]`, or `{min: 1, max: 3}`. An empty object expects no call at all.',
        additionalProperties: countSchema,
      },
    },
    'tool_calls_count',
  ),
  switchedOnBy: { tool_calls_count: {} },
  source: 'UiPath ToolCallCountEvaluator; expecting zero calls holds when nothing was called',
  evaluate: underNormalizedNames(toolCallCountEvaluate),
});

interface Counted {
  readonly expected: ExpectedCount;
  readonly calls: readonly PlacedCall[];
  readonly met: boolean;
}

function toolCallCountEvaluate({ trace, expected: { toolCallsCount: expected } }: Subject, options: ToolCallCountOptions): Outcome {
  if (expected === undefined) return noExpectation('numbers of tool calls');
  const stop = notCarried(trace);
  if (stop !== undefined) return stop;
  const calls = countedCalls(placedCalls(trace), options.onlySuccessful);
  const callsOf = callsByTool(calls);
  const counted = expected.map((one): Counted => {
    const own = callsOf(one.name);
    return { expected: one, calls: own, met: isWithin(own.length, one) };
  });
  const wrong = counted.filter(({ met }) => !met);
  const share = expected.length === 0 ? (calls.length === 0 ? 1 : 0) : (counted.length - wrong.length) / counted.length;
  return {
    kind: 'scored',
    score: options.strict && share < 1 ? 0 : share,
    explanation: expected.length === 0 ? noneExpected(calls) : explained(counted, wrong),
    evidence: evidenceOf(expected.length === 0 ? calls : callsOfAll(wrong)),
    details: {
      per_tool: Object.fromEntries(counted.map(({ expected: { name }, met }) => [name, met ? 1 : 0])),
      counts: counted.map(({ expected: one, calls: own, met }): JsonObject => ({
        tool: one.name,
        count: own.length,
        expected: rangeText(one),
        met,
      })),
    },
  };
}

function* callsOfAll(counted: readonly Counted[]): Generator<PlacedCall> {
  for (const { calls } of counted) yield* calls;
}

/** Calls by name, tool id or call id, from one pass. */
function callsByTool(calls: readonly PlacedCall[]): (tool: string) => readonly PlacedCall[] {
  const callsNamed = byToolName(calls, ({ call }) => call.name);
  const byId = new Map<string, PlacedCall[]>();
  const remember = (id: string | undefined, placed: PlacedCall): void => {
    const own = id === undefined ? undefined : byId.get(id);
    if (own !== undefined) own.push(placed);
    else if (id !== undefined) byId.set(id, [placed]);
  };
  for (const placed of calls) {
    const { toolId, id } = placed.call;
    remember(toolId, placed);
    if (id !== toolId) remember(id, placed);
  }
  return (tool) => {
    const named = callsNamed(tool);
    const known = byId.get(tool) ?? [];
    return known.length === 0 ? named : [...new Set([...named, ...known])].sort((one, other) => one.index - other.index);
  };
}

function noneExpected(calls: readonly PlacedCall[]): string {
  return calls.length === 0
    ? 'No tool call was expected and none was made.'
    : `No tool call was expected, yet ${count(calls.length, 'call')} ${calls.length === 1 ? 'was' : 'were'} made.`;
}

function explained(counted: readonly Counted[], wrong: readonly Counted[]): string {
  if (wrong.length === 0)
    return counted.length === 1
      ? 'The tool was called as often as expected.'
      : `All ${counted.length} tools were called as often as expected.`;
  const culprit = ({ expected, calls }: Counted): string =>
    `${expected.name} was called ${count(calls.length, 'time')} instead of ${rangeText(expected)}`;
  return `${someOf(wrong, count(counted.length, 'tool'), ['was not called as often as expected', 'were not called as often as expected'], culprit, ', ')}.`;
}
