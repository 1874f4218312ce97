/**
 * Every expected call was made with the expected arguments, in any order; further calls are free. By default an expectation names the
 * arguments that matter, and further arguments are free too. Every call that the model asked for counts, whether it ran or not.
 */
import type { ExpectedToolCall } from '../src/model/expectation.ts';
import type { JsonObject } from '../src/model/json.ts';
import type { Outcome } from '../src/model/verdict.ts';
import {
  argumentsUnknown,
  comparedArgumentsMissing,
  callDetails,
  evidenceOf,
  noExpectation,
  notCarried,
  partOf,
  placedCalls,
  tooManyPairs,
  type PlacedCall,
} from './evidence/calls.ts';
import type { EvaluationContext, Subject } from './evaluator.ts';
import {
  argumentsOf,
  callMatching,
  countedCalls,
  equalTools,
  expectedToolCallsSchema,
  missingCalls,
  missingDetails,
  partneredOf,
  type CallMatching,
  onlySuccessful,
} from './matching/expected-calls.ts';
import { agreement, agreementWeight, disagreement, preparedSelection, type PreparedValue } from './matching/agreement.ts';
import { argumentDefaults, argumentRule, type ArgumentOptions, argumentOptions } from './matching/arguments.ts';
import { heaviestPairing, maximumPairing, type Pair } from './matching/pairing.ts';
import { underNormalizedNames, normalizeToolNames } from './matching/names.ts';
import { numberOf, quotient, rational, sum, type Rational } from './matching/rational.ts';
import { callName, count, listed, listedCalls } from './explain/explanation.ts';
import { rule, flag, type OptionsOf, expecting } from './configuration/define.ts';

const options = {
  arguments: argumentOptions({ ...argumentDefaults, mode: 'subset' }),
  strict: flag('All or nothing: one expected call that was not made gives 0.'),
  partial: flag('A call of the right tool with other arguments counts in part: the share of equal arguments among the keys of both sides.'),
  only_successful: onlySuccessful,
  normalize_tool_names: normalizeToolNames,
};

type Options = OptionsOf<typeof options>;

export const toolCallArgs = rule({
  id: 'tool_call_args',
  version: 3,
  summary: 'The expected calls were made with the expected arguments.',
  needs: ['tool_calls', 'expected_tool_calls'],
  defaultThreshold: null,
  options,
  expectationSchema: expecting({ tool_calls: expectedToolCallsSchema }, 'tool_calls'),
  checks: () => ['tool_calls', 'tool_calls.arguments'],
  source: 'UiPath ToolCallArgsEvaluator, with the best pairing, modes and partial credit',
  evaluate: underNormalizedNames(evaluate),
});

/** A pair and its share of agreement. */
interface Credited extends Pair {
  readonly credit: Rational;
}

function evaluate({ trace, expected }: Subject, options: Options, context: EvaluationContext): Outcome {
  if (expected.toolCalls === undefined) return noExpectation('tool calls');
  const stop = notCarried(trace) ?? tooManyPairs(trace, context, expected.toolCalls.length);
  if (stop !== undefined) return stop;
  const calls = countedCalls(placedCalls(trace), options.onlySuccessful);
  const matching = callMatching(expected.toolCalls, calls, options.arguments, equalTools);
  if (matching.lacksArguments) return argumentsUnknown(trace, comparedArgumentsMissing);
  return verdict(expected.toolCalls, calls, matching, options);
}

function verdict(expected: readonly ExpectedToolCall[], calls: readonly PlacedCall[], matching: CallMatching, options: Options): Outcome {
  const { pairs, method } = options.partial
    ? partialPairs(expected, calls, matching, options.arguments)
    : { pairs: wholePairs(expected, calls, matching), method: undefined };
  const whole = pairs.filter(({ credit }) => numberOf(credit) === 1);
  const share =
    expected.length === 0
      ? rational(calls.length === 0 ? 1 : 0)
      : quotient(sum(pairs.map(({ credit }) => credit)), rational(expected.length));
  const score = options.strict && numberOf(share) < 1 ? 0 : numberOf(share);
  const missing = missingCalls(expected, calls, matching, pairs);
  const partial = pairs.filter((pair) => !whole.includes(pair));
  const culprits = [
    ...partial.map((pair) => inPartOnly(pair, calls, matching)),
    ...missing.map(({ tool, nearest }) => (nearest === undefined ? `${tool} was not called` : `${tool} (nearest is ${nearest})`)),
  ];
  return {
    kind: 'scored',
    score,
    explanation: explained(expected, calls, culprits),
    evidence: evidenceOf(nearestCalls(expected, calls, matching, pairs, partial)),
    parts: pairs.flatMap((pair) => part(pair, calls, matching)),
    details: {
      matched: whole.length,
      expected: expected.length,
      ...(method === undefined ? {} : { matching: method }),
      pairs: pairs.flatMap((pair) => pairDetails(pair, expected, calls, options.arguments)),
      missing_calls: missingDetails(missing),
    },
  };
}

function wholePairs(expected: readonly ExpectedToolCall[], calls: readonly PlacedCall[], matching: CallMatching): readonly Credited[] {
  return maximumPairing(expected.length, calls.length, matching.matches).map((pair) => ({ ...pair, credit: rational(1) }));
}

function partialPairs(
  expected: readonly ExpectedToolCall[],
  calls: readonly PlacedCall[],
  matching: CallMatching,
  options: ArgumentOptions,
): { readonly pairs: readonly Credited[]; readonly method: 'exact' | 'greedy' } {
  const wanted = expected.map((call) => preparedOf(call.name, call.arguments ?? {}, options));
  /** Prepared calls by expected name. */
  const made = new Map<string, PreparedValue>();
  const credit = <Value>(
    e: number,
    a: number,
    full: Value,
    none: Value,
    partial: (one: PreparedValue, other: PreparedValue) => Value,
  ): Value => {
    if (matching.matches(e, a)) return full;
    const [name, one, placed] = [expected[e]?.name, wanted[e], calls[a]];
    if (name === undefined || one === undefined || placed === undefined || !matching.same(e, a)) return none;
    const key = `${a} ${name}`;
    const other = made.get(key) ?? preparedOf(name, argumentsOf(placed.call) ?? {}, options);
    made.set(key, other);
    return partial(one, other);
  };
  const { pairs, method } = heaviestPairing(expected.length, calls.length, (e, a) => credit(e, a, 1, 0, agreementWeight));
  return {
    pairs: pairs.map((pair) => ({ ...pair, credit: credit(pair.expected, pair.actual, rational(1), rational(0), agreement) })),
    method,
  };
}

function preparedOf(tool: string, value: JsonObject, options: ArgumentOptions): PreparedValue {
  return preparedSelection(value, argumentRule(options, tool));
}

function pairDetails(
  pair: Credited,
  expected: readonly ExpectedToolCall[],
  calls: readonly PlacedCall[],
  options: ArgumentOptions,
): readonly JsonObject[] {
  const [want, placed] = [expected[pair.expected], calls[pair.actual]];
  if (want === undefined || placed === undefined) return [];
  const found = { expected_index: pair.expected, ...callDetails(placed), score: numberOf(pair.credit) };
  if (found.score === 1) return [found];
  const differences = disagreement(
    preparedOf(want.name, want.arguments ?? {}, options),
    preparedOf(want.name, argumentsOf(placed.call) ?? {}, options),
  );
  return [{ ...found, ...differences }];
}

function inPartOnly(pair: Credited, calls: readonly PlacedCall[], matching: CallMatching): string {
  const placed = calls[pair.actual];
  return placed === undefined ? '' : `${callName(placed)}: ${matching.difference(pair.expected, pair.actual) ?? 'its arguments differ'}`;
}

/** The most similar calls that do not match. */
function nearestCalls(
  expected: readonly ExpectedToolCall[],
  calls: readonly PlacedCall[],
  matching: CallMatching,
  pairs: readonly Pair[],
  partial: readonly Pair[],
): readonly PlacedCall[] {
  const partnered = partneredOf(pairs);
  const free = expected.flatMap((_, e) =>
    partnered.expected.has(e) ? [] : [calls.findIndex((_call, a) => !partnered.actual.has(a) && matching.same(e, a))],
  );
  return [...partial.map((pair) => pair.actual), ...free].flatMap((at) => calls[at] ?? []);
}

function part(pair: Credited, calls: readonly PlacedCall[], matching: CallMatching) {
  const placed = calls[pair.actual];
  if (placed === undefined) return [];
  const score = numberOf(pair.credit);
  const difference = matching.difference(pair.expected, pair.actual) ?? 'its arguments differ';
  return [
    { ...partOf(placed, score === 1, score === 1 ? 'The call has the expected arguments.' : `${callName(placed)}: ${difference}.`), score },
  ];
}

function explained(expected: readonly ExpectedToolCall[], calls: readonly PlacedCall[], culprits: readonly string[]): string {
  if (expected.length === 0)
    return calls.length === 0
      ? 'No tool call was expected and none was made.'
      : `No tool call was expected, yet ${count(calls.length, 'call')} ${calls.length === 1 ? 'was' : 'were'} made: ${listedCalls(calls)}.`;
  if (culprits.length === 0)
    return `The ${count(expected.length, 'expected call')} ${expected.length === 1 ? 'was' : 'were'} made with the expected arguments.`;
  return `${culprits.length} of ${count(expected.length, 'expected call')} ${culprits.length === 1 ? 'was' : 'were'} not made with the expected arguments: ${listed(culprits, '; ')}.`;
}
