/**
 * The tool calls follow the expected trajectory. Every call that the model asked for counts, whether it ran or not, unless
 * `only_successful` is set. Two calls match when their names are equal and the matcher of the expected tool accepts the arguments.
 */
import type { ExpectedToolCall } from '../src/model/expectation.ts';
import { unreachable } from '../src/model/ids.ts';
import type { Outcome } from '../src/model/verdict.ts';
import {
  argumentsUnknown,
  modeArgumentsMissing,
  evidenceOf,
  noExpectation,
  notCarried,
  placedCalls,
  tooManyPairs,
  type PlacedCall,
} from './evidence/calls.ts';
import type { EvaluationContext, Subject } from './evaluator.ts';
import {
  callMatching,
  countedCalls,
  expectedToolCallsSchema,
  extraCalls,
  extraDetails,
  missingCalls,
  missingDetails,
  type CallMatching,
  onlySuccessful,
} from './matching/expected-calls.ts';
import { argumentOptions } from './matching/arguments.ts';
import { maximumPairing, longestCommonSubsequence, type Pair } from './matching/pairing.ts';
import { underNormalizedNames, normalizeToolNames } from './matching/names.ts';
import { count, listed, listedCalls } from './explain/explanation.ts';
import { rule, choice, type OptionsOf, expecting } from './configuration/define.ts';

export type TrajectoryMode = 'strict' | 'in_order' | 'contains_in_order' | 'any_order' | 'superset' | 'subset' | 'precision' | 'recall';

const options = {
  mode: choice(
    ['strict', 'in_order', 'contains_in_order', 'any_order', 'superset', 'subset', 'precision', 'recall'],
    'strict: the same calls at the same places. in_order: longest common subsequence over the longer side, so an extra call costs. contains_in_order: the expected calls in order, others may lie between. any_order: matched over the longer side. superset: all expected calls, others free. subset: only expected calls, omissions free. precision: matched over calls made. recall: matched over calls expected.',
    'in_order',
  ),
  arguments: argumentOptions(),
  only_successful: onlySuccessful,
  normalize_tool_names: normalizeToolNames,
};

type Options = OptionsOf<typeof options>;

export const toolTrajectory = rule({
  id: 'tool_trajectory',
  version: 2,
  summary: 'The tool calls follow the expected trajectory.',
  needs: ['tool_calls', 'expected_tool_calls'],
  defaultThreshold: 1,
  options,
  expectationSchema: expecting({ tool_calls: expectedToolCallsSchema }, 'tool_calls'),
  checks: ({ arguments: { mode, matcher } }) =>
    mode === 'ignore' && matcher === undefined ? ['tool_calls'] : ['tool_calls', 'tool_calls.arguments'],
  switchedOnBy: { tool_calls: {}, 'tool_calls.arguments': {} },
  source: 'Dokimos ToolTrajectoryEvaluator, with contains_in_order besides',
  evaluate: underNormalizedNames(evaluate),
});

function evaluate({ trace, expected }: Subject, options: Options, context: EvaluationContext): Outcome {
  if (expected.toolCalls === undefined) return noExpectation('tool calls');
  const stop = notCarried(trace) ?? tooManyPairs(trace, context, expected.toolCalls.length);
  if (stop !== undefined) return stop;
  const calls = countedCalls(placedCalls(trace), options.onlySuccessful);
  const matching = callMatching(expected.toolCalls, calls, options.arguments);
  if (matching.lacksArguments) return argumentsUnknown(trace, modeArgumentsMissing);
  return verdict(expected.toolCalls, calls, options.mode, matching);
}

function verdict(
  expected: readonly ExpectedToolCall[],
  calls: readonly PlacedCall[],
  mode: TrajectoryMode,
  matching: CallMatching,
): Outcome {
  const pairs = pairsOf(mode, expected.length, calls.length, matching.matches);
  const score = scoreOf(mode, pairs.length, calls.length, expected.length);
  const missing = missingCalls(expected, calls, matching, pairs);
  const extra = extraCalls(calls, pairs);
  const culprits = extrasCost(mode) ? extra : [];
  const firstDifference = mode === 'strict' && score < 1 ? differentPlace(matching.matches) : undefined;
  return {
    kind: 'scored',
    score,
    explanation:
      score === 1 ? fine(mode, expected.length, calls.length) : explained(omissionsCost(mode) ? missing : [], culprits, firstDifference),
    evidence: evidenceOf(culprits),
    details: {
      mode,
      matched_count: mode === 'strict' && score < 1 ? 0 : pairs.length,
      actual_count: calls.length,
      expected_count: expected.length,
      missing_calls: missingDetails(missing),
      ...extraDetails('extra_calls', extra),
      ...(firstDifference === undefined ? {} : { first_difference: firstDifference }),
    },
  };
}

function pairsOf(mode: TrajectoryMode, expected: number, actual: number, matches: (e: number, a: number) => boolean): readonly Pair[] {
  switch (mode) {
    case 'strict':
      return Array.from({ length: Math.min(expected, actual) }, (_, at) => ({ expected: at, actual: at })).filter((pair) =>
        matches(pair.expected, pair.actual),
      );
    case 'in_order':
    case 'contains_in_order':
      return longestCommonSubsequence(expected, actual, matches);
    case 'any_order':
    case 'superset':
    case 'subset':
    case 'precision':
    case 'recall':
      return maximumPairing(expected, actual, matches);
    default:
      return unreachable(mode);
  }
}

function scoreOf(mode: TrajectoryMode, matched: number, actual: number, expected: number): number {
  if (actual === 0 && expected === 0) return 1;
  switch (mode) {
    case 'strict':
      return actual === expected && matched === expected ? 1 : 0;
    case 'in_order':
    case 'any_order':
      return matched / Math.max(actual, expected);
    case 'contains_in_order':
    case 'superset':
      return matched === expected ? 1 : 0;
    case 'subset':
      return matched === actual ? 1 : 0;
    case 'precision':
      return actual === 0 ? 0 : matched / actual;
    case 'recall':
      return expected === 0 ? 0 : matched / expected;
    default:
      return unreachable(mode);
  }
}

function extrasCost(mode: TrajectoryMode): boolean {
  return mode !== 'contains_in_order' && mode !== 'superset' && mode !== 'recall';
}

function omissionsCost(mode: TrajectoryMode): boolean {
  return mode !== 'subset' && mode !== 'precision';
}

/** Beyond the end of a list nothing matches. */
function differentPlace(matches: (e: number, a: number) => boolean): number {
  let at = 0;
  while (matches(at, at)) at++;
  return at;
}

function fine(mode: TrajectoryMode, expected: number, actual: number): string {
  if (expected === 0 && actual === 0) return 'No tool call was expected and none was made.';
  return mode === 'subset'
    ? `The ${count(actual, 'tool call')} made ${actual === 1 ? 'was' : 'were'} among the expected ones.`
    : `The ${count(expected, 'expected tool call')} ${expected === 1 ? 'was' : 'were'} made${mode === 'strict' || mode === 'in_order' || mode === 'contains_in_order' ? ' in order' : ''}.`;
}

function explained(missing: ReturnType<typeof missingCalls>, extra: readonly PlacedCall[], firstDifference: number | undefined): string {
  const named = missing.map(
    ({ index, tool, nearest }) => `${tool} (expected call ${index + 1}${nearest === undefined ? '' : `, nearest is ${nearest}`})`,
  );
  const parts = [
    ...(firstDifference === undefined ? [] : [`the first difference is at call ${firstDifference + 1}`]),
    ...(named.length === 0 ? [] : [`missing: ${listed(named)}`]),
    ...(extra.length === 0 ? [] : [`extra: ${listedCalls(extra)}`]),
  ];
  return `The trajectory differs from the expected one${parts.length === 0 ? '' : `; ${parts.join('; ')}`}.`;
}
