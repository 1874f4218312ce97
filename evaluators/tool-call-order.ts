/**
 * Tools were called in the expected order, with any other calls in between. The score is the longest common subsequence over the expectation. Every
 * call that the model asked for counts, executed or not.
 */
import type { JsonObject } from '../src/model/json.ts';
import type { Outcome } from '../src/model/verdict.ts';
import { callDetails, evidenceOf, noExpectation, notCarried, placedCalls, tooManyPairs, type PlacedCall } from './evidence/calls.ts';
import type { EvaluationContext, Subject } from './evaluator.ts';
import { countedCalls, extraDetails, isCalled, onlySuccessful } from './matching/expected-calls.ts';
import { maximumPairing, longestCommonSubsequence, type Pair } from './matching/pairing.ts';
import { underNormalizedNames, normalizeToolNames } from './matching/names.ts';
import { callName, count, listed, listedCalls } from './explain/explanation.ts';
import { rule, flag, type OptionsOf, expecting } from './configuration/define.ts';

const options = {
  strict: flag('All or nothing: exactly the expected tools, each at its place.'),
  penalise_extra: flag('Other calls cost: the score is taken over the longer of both sequences.'),
  only_successful: onlySuccessful,
  normalize_tool_names: normalizeToolNames,
};

type Options = OptionsOf<typeof options>;

export const toolCallOrder = rule({
  id: 'tool_call_order',
  version: 3,
  summary: 'Tools were called in the expected order.',
  needs: ['tool_calls', 'expected_tool_order'],
  defaultThreshold: null,
  options,
  expectationSchema: expecting(
    {
      tool_calls_order: {
        type: 'array',
        maxItems: 1000,
        items: { type: 'string', minLength: 1 },
        description:
          'Names of tools in the order of their calls; a tool that is called twice stands there twice. The id of a tool, or of a call, stands for its name.',
      },
    },
    'tool_calls_order',
  ),
  switchedOnBy: { tool_calls_order: {} },
  source: 'UiPath ToolCallOrderEvaluator, that distinguishes missing steps from steps out of order',
  evaluate: underNormalizedNames(evaluate),
});

interface Step {
  readonly index: number;
  readonly tool: string;
  /** The call at the wrong position; `undefined` when the tool was not called. */
  readonly call: PlacedCall | undefined;
}

function evaluate({ trace, expected: { toolCallsOrder: expected } }: Subject, options: Options, context: EvaluationContext): Outcome {
  if (expected === undefined) return noExpectation('steps');
  const stop = notCarried(trace) ?? tooManyPairs(trace, context, expected.length);
  if (stop !== undefined) return stop;
  const calls = countedCalls(placedCalls(trace), options.onlySuccessful);
  const matches = matchTable(expected, calls);
  const pairs = longestCommonSubsequence(expected.length, calls.length, matches);
  return verdict(expected, calls, pairs, openSteps(expected, calls, pairs, matches), options);
}

function matchTable(expected: readonly string[], calls: readonly PlacedCall[]): (e: number, a: number) => boolean {
  const known = new Map<string, readonly boolean[]>();
  for (const name of expected)
    if (!known.has(name))
      known.set(
        name,
        calls.map(({ call }) => isCalled(name, call)),
      );
  const rows = expected.map((name) => known.get(name) ?? []);
  return (e, a) => rows[e]?.[a] ?? false;
}

/** Steps outside the common order, each with an unused call of its tool if there is one. */
function openSteps(
  expected: readonly string[],
  calls: readonly PlacedCall[],
  pairs: readonly Pair[],
  matches: (e: number, a: number) => boolean,
): readonly Step[] {
  const [done, taken] = [new Set(pairs.map((pair) => pair.expected)), new Set(pairs.map((pair) => pair.actual))];
  const partner = new Map(
    maximumPairing(expected.length, calls.length, (e, a) => !done.has(e) && !taken.has(a) && matches(e, a)).map((pair) => [
      pair.expected,
      calls[pair.actual],
    ]),
  );
  return expected.flatMap((tool, index) => (done.has(index) ? [] : [{ index, tool, call: partner.get(index) }]));
}

function verdict(
  expected: readonly string[],
  calls: readonly PlacedCall[],
  pairs: readonly Pair[],
  open: readonly Step[],
  options: Options,
): Outcome {
  const score = scoreOf(expected.length, calls.length, pairs, options);
  const missing = open.filter(({ call }) => call === undefined);
  const misplaced = open.flatMap(({ index, tool, call }) => (call === undefined ? [] : [{ index, tool, call }]));
  const taken = new Set(pairs.map((pair) => pair.actual));
  const extrasCost = options.strict || options.penaliseExtra || expected.length === 0;
  const late = new Set(misplaced.map(({ call }) => call));
  const extra = calls.filter((placed, at) => !taken.has(at) && !late.has(placed));
  const parts = [
    ...(missing.length === 0 ? [] : [`missing: ${listed(missing.map(({ index, tool }) => `${tool} (step ${index + 1})`))}`]),
    ...(misplaced.length === 0 ? [] : [`out of order: ${listed(misplaced.map(({ call }) => callName(call)))}`]),
    ...(extrasCost && extra.length > 0 ? [`extra: ${listedCalls(extra)}`] : []),
  ];
  return {
    kind: 'scored',
    score,
    explanation:
      parts.length === 0
        ? fine(expected.length)
        : `${pairs.length} of ${count(expected.length, 'expected step')} came in order; ${parts.join('; ')}.`,
    evidence: evidenceOf([...misplaced.map(({ call }) => call), ...(extrasCost ? extra : [])]),
    details: {
      lcs_length: pairs.length,
      pairs: pairs.map((pair): JsonObject => ({ expected_index: pair.expected, index: calls[pair.actual]?.index ?? 0 })),
      missing: missing.map(({ index, tool }): JsonObject => ({ expected_index: index, tool })),
      out_of_order: misplaced.map(({ index, call }): JsonObject => ({ expected_index: index, ...callDetails(call) })),
      ...extraDetails('extra_calls', extra),
    },
  };
}

function scoreOf(expected: number, actual: number, pairs: readonly Pair[], options: Options): number {
  if (expected === 0) return actual === 0 ? 1 : 0;
  if (options.strict) return pairs.length === expected && actual === expected ? 1 : 0;
  return pairs.length / (options.penaliseExtra ? Math.max(expected, actual) : expected);
}

function fine(expected: number): string {
  return expected === 0 ? 'No tool call was expected and none was made.' : `The ${count(expected, 'expected step')} came in order.`;
}
