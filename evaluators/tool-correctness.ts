/**
 * The right tools were called: by name, by name and order, or by name and arguments. Every call that the model asked for counts,
 * whether it ran or not, unless `only_successful` is set.
 */
import type { AgentTrace } from '../src/model/agent-trace.ts';
import type { ExpectedToolCall } from '../src/model/expectation.ts';
import type { JsonObject } from '../src/model/json.ts';
import type { Outcome } from '../src/model/verdict.ts';
import {
  argumentsUnknown,
  comparedArgumentsMissing,
  evidenceOf,
  namedIn,
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
  onlySuccessful,
} from './matching/expected-calls.ts';
import { argumentOptions } from './matching/arguments.ts';
import { maximumPairing, longestCommonSubsequence, type Pair } from './matching/pairing.ts';
import { underNormalizedNames, normalizeToolNames } from './matching/names.ts';
import { count, listed, listedCalls } from './explain/explanation.ts';
import { rule, choice, type OptionsOf, expecting } from './configuration/define.ts';

const options = {
  mode: choice(
    ['names_only', 'names_and_order', 'names_and_args'],
    'names_only: each tool counts once, in any order. names_and_order: the order and repeats count. names_and_args: arguments and repeats count, in any order.',
  ),
  arguments: argumentOptions(),
  only_successful: onlySuccessful,
  normalize_tool_names: normalizeToolNames,
};

type Options = OptionsOf<typeof options>;

export const toolCorrectness = rule({
  id: 'tool_correctness',
  version: 2,
  summary: 'The expected tools were called and no others.',
  needs: ['tool_calls', 'expected_tool_calls'],
  defaultThreshold: 1,
  options,
  expectationSchema: expecting({ tool_calls: expectedToolCallsSchema }, 'tool_calls'),
  checks: ({ mode }) => (mode === 'names_and_args' ? ['tool_calls', 'tool_calls.arguments'] : ['tool_calls']),
  source: 'Dokimos ToolCorrectnessEvaluator, with the best pairing and an exact score',
  evaluate: underNormalizedNames(evaluate),
});

interface Found {
  readonly score: number;
  readonly pairs: readonly Pair[];
  readonly details: JsonObject;
}

function evaluate({ trace, expected }: Subject, options: Options, context: EvaluationContext): Outcome {
  if (expected.toolCalls === undefined) return noExpectation('tool calls');
  const stop = notCarried(trace) ?? tooManyPairs(trace, context, expected.toolCalls.length);
  if (stop !== undefined) return stop;
  const calls = countedCalls(placedCalls(trace), options.onlySuccessful);
  return options.mode === 'names_only' ? namesOnly(expected.toolCalls, calls) : paired(trace, expected.toolCalls, calls, options);
}

function namesOnly(expected: readonly ExpectedToolCall[], calls: readonly PlacedCall[]): Outcome {
  const { wanted, called, correct, unexpected, missing } = names(expected, calls);
  const total = wanted.size + called.size;
  const culprits = calls.filter(({ call }) => !wanted.has(call.name));
  return {
    kind: 'scored',
    score: total === 0 ? 1 : (2 * correct.length) / total,
    explanation: explained(missing, firstOfEach(culprits), `All ${count(wanted.size, 'expected tool')} and no others were called.`),
    evidence: evidenceOf(culprits),
    details: {
      correct_tools: correct,
      ...namedIn('unexpected_tools', unexpected, (name) => name),
      missing_tools: missing,
      missing_calls: expected.flatMap(({ name }, index) => (called.has(name) ? [] : [{ index, tool: name }])),
      ...extraDetails('unexpected_calls', culprits),
    },
  };
}

function paired(trace: AgentTrace, expected: readonly ExpectedToolCall[], calls: readonly PlacedCall[], options: Options): Outcome {
  const byOrder = options.mode === 'names_and_order';
  const matching = callMatching(expected, calls, byOrder ? { ...options.arguments, mode: 'ignore', overrides: {} } : options.arguments);
  if (matching.lacksArguments) return argumentsUnknown(trace, comparedArgumentsMissing);
  const found = byOrder ? inOrder(expected, calls, matching.matches) : byArguments(expected, calls, matching.matches);
  const missing = missingCalls(expected, calls, matching, found.pairs);
  const extra = extraCalls(calls, found.pairs);
  return {
    kind: 'scored',
    score: found.score,
    explanation: explained(
      missing.map((call) => (call.nearest === undefined ? call.tool : `${call.tool} (nearest is ${call.nearest})`)),
      extra,
      `All ${count(expected.length, 'expected call')} and no others were made.`,
    ),
    evidence: evidenceOf(extra),
    details: { ...found.details, missing_calls: missingDetails(missing), ...extraDetails('unexpected_calls', extra) },
  };
}

function inOrder(expected: readonly ExpectedToolCall[], calls: readonly PlacedCall[], matches: (e: number, a: number) => boolean): Found {
  const pairs = longestCommonSubsequence(expected.length, calls.length, matches);
  const longest = Math.max(expected.length, calls.length);
  const { unexpected, missing } = names(expected, calls);
  return {
    score: longest === 0 ? 1 : pairs.length / longest,
    pairs,
    details: { lcs_length: pairs.length, ...namedIn('unexpected_tools', unexpected, (name) => name), missing_tools: missing },
  };
}

function byArguments(
  expected: readonly ExpectedToolCall[],
  calls: readonly PlacedCall[],
  matches: (e: number, a: number) => boolean,
): Found {
  const pairs = maximumPairing(expected.length, calls.length, matches);
  const total = expected.length + calls.length;
  return { score: total === 0 ? 1 : (2 * pairs.length) / total, pairs, details: { matched_count: pairs.length } };
}

/** Distinct names on both sides, in order of appearance. */
function names(
  expected: readonly ExpectedToolCall[],
  calls: readonly PlacedCall[],
): {
  wanted: ReadonlySet<string>;
  called: ReadonlySet<string>;
  correct: readonly string[];
  unexpected: readonly string[];
  missing: readonly string[];
} {
  const wanted = new Set(expected.map(({ name }) => name));
  const called = new Set(calls.map(({ call }) => call.name));
  return {
    wanted,
    called,
    correct: [...called].filter((name) => wanted.has(name)),
    unexpected: [...called].filter((name) => !wanted.has(name)),
    missing: [...wanted].filter((name) => !called.has(name)),
  };
}

/** The first call of each tool. */
function firstOfEach(calls: readonly PlacedCall[]): readonly PlacedCall[] {
  return [...Map.groupBy(calls, ({ call }) => call.name).values()].flatMap(([first]) => first ?? []);
}

function explained(missing: readonly string[], unexpected: readonly PlacedCall[], fine: string): string {
  if (missing.length === 0 && unexpected.length === 0) return fine;
  const parts = [
    ...(missing.length === 0 ? [] : [`missing: ${listed(missing)}`]),
    ...(unexpected.length === 0 ? [] : [`not expected: ${listedCalls(unexpected)}`]),
  ];
  return `The tool calls differ from what was expected; ${parts.join('; ')}.`;
}
