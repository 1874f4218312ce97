/**
 * Every expected call was made with the expected arguments, in any order; further calls are free. By default an expectation names the
 * arguments that matter, and further arguments are free too. Every call that the model asked for counts, whether it ran or not.
 */
import type { ExpectedToolCall } from '../src/model/expectation.ts';
import type { JsonObject } from '../src/model/json.ts';
import type { Outcome } from '../src/model/verdict.ts';
import { callDetails, evidenceOf, partOf, type PlacedCall } from './evidence/calls.ts';
import type { EvaluationContext, Subject } from './evaluator.ts';
import {
  argumentsOf,
  equalTools,
  expectedToolCallsSchema,
  missingCalls,
  missingDetails,
  partneredOf,
  onlySuccessful,
} from './matching/expected-calls.ts';
import { agreement, agreementWeight, disagreement, preparedSelection, type PreparedValue } from './matching/agreement.ts';
import { argumentDefaults, argumentRule, type ArgumentOptions, argumentOptions } from './matching/arguments.ts';
import { comparedCalls, missingInWords, pairedCalls, type ComparedCalls } from './matching/comparison.ts';
import { heaviestPairing, type Pair } from './matching/pairing.ts';
import { underNormalizedNames, normalizeToolNames } from './matching/names.ts';
import { numberOf, quotient, rational, sum, type Rational } from './matching/rational.ts';
import { callName, count, listed, noneExpected } from './explain/explanation.ts';
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

function evaluate(subject: Subject, options: Options, context: EvaluationContext): Outcome {
  const compared = comparedCalls(subject, context, subject.expected.toolCalls, { ...options, same: equalTools });
  return 'kind' in compared ? compared : verdict(compared, options);
}

function verdict(compared: ComparedCalls, options: Options): Outcome {
  const { expected, calls, matching } = compared;
  const { pairs, method } = options.partial
    ? partialPairs(compared, options.arguments)
    : { pairs: wholePairs(compared), method: undefined };
  const whole = pairs.filter(({ credit }) => numberOf(credit) === 1);
  const share =
    expected.length === 0
      ? rational(calls.length === 0 ? 1 : 0)
      : quotient(sum(pairs.map(({ credit }) => credit)), rational(expected.length));
  const score = options.strict && numberOf(share) < 1 ? 0 : numberOf(share);
  const missing = missingCalls(expected, calls, matching, pairs);
  const partial = pairs.filter((pair) => !whole.includes(pair));
  const culprits = [
    ...partial.map((pair) => inPartOnly(pair, compared)),
    ...missing.map((call) => (call.nearest === undefined ? `${call.tool} was not called` : missingInWords(call))),
  ];
  return {
    kind: 'scored',
    score,
    explanation: explained(expected, calls, culprits),
    evidence: evidenceOf(nearestCalls(compared, pairs, partial)),
    parts: pairs.flatMap((pair) => part(pair, compared)),
    details: {
      matched: whole.length,
      expected: expected.length,
      ...(method === undefined ? {} : { matching: method }),
      pairs: pairs.flatMap((pair) => pairDetails(pair, compared, options.arguments)),
      missing_calls: missingDetails(missing),
    },
  };
}

function wholePairs(compared: ComparedCalls): readonly Credited[] {
  return pairedCalls(compared, 'any').map((pair) => ({ ...pair, credit: rational(1) }));
}

function partialPairs(
  { expected, calls, matching: { matches, same } }: ComparedCalls,
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
    if (matches(e, a)) return full;
    const [name, one, placed] = [expected[e]?.name, wanted[e], calls[a]];
    if (name === undefined || one === undefined || placed === undefined || !same(e, a)) return none;
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

function pairDetails(pair: Credited, { expected, calls }: ComparedCalls, options: ArgumentOptions): readonly JsonObject[] {
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

function inPartOnly(pair: Credited, { calls, matching: { difference } }: ComparedCalls): string {
  const placed = calls[pair.actual];
  return placed === undefined ? '' : `${callName(placed)}: ${difference(pair.expected, pair.actual) ?? 'its arguments differ'}`;
}

/** The most similar calls that do not match. */
function nearestCalls(
  { expected, calls, matching: { same } }: ComparedCalls,
  pairs: readonly Pair[],
  partial: readonly Pair[],
): readonly PlacedCall[] {
  const partnered = partneredOf(pairs);
  const free = expected.flatMap((_, e) =>
    partnered.expected.has(e) ? [] : [calls.findIndex((_call, a) => !partnered.actual.has(a) && same(e, a))],
  );
  return [...partial.map((pair) => pair.actual), ...free].flatMap((at) => calls[at] ?? []);
}

function part(pair: Credited, compared: ComparedCalls) {
  const placed = compared.calls[pair.actual];
  if (placed === undefined) return [];
  const score = numberOf(pair.credit);
  const sentence = score === 1 ? 'The call has the expected arguments.' : `${inPartOnly(pair, compared)}.`;
  return [{ ...partOf(placed, score === 1, sentence), score }];
}

function explained(expected: readonly ExpectedToolCall[], calls: readonly PlacedCall[], culprits: readonly string[]): string {
  if (expected.length === 0) return noneExpected(calls);
  if (culprits.length === 0)
    return `The ${count(expected.length, 'expected call')} ${expected.length === 1 ? 'was' : 'were'} made with the expected arguments.`;
  return `${culprits.length} of ${count(expected.length, 'expected call')} ${culprits.length === 1 ? 'was' : 'were'} not made with the expected arguments: ${listed(culprits, '; ')}.`;
}
