/**
 * The expected calls were made: by name and, optionally, by arguments and output, with partial credit for arguments. Further calls are free
 * unless the match must be exact. A judge, when configured, rates the choice among the defined tools, and the lower score counts. All
 * requested calls count, whether they ran or not.
 */
import type { ExpectedToolCall } from '../src/model/expectation.ts';
import { isJsonObject, member, type JsonObject } from '../src/model/json.ts';
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
  skipped,
  tooManyPairs,
  type PlacedCall,
} from './evidence/calls.ts';
import type { EvaluationContext, Subject, Judging } from './evaluator.ts';
import { countedCalls, expectedToolCallsSchema, extraCalls, extraDetails, partneredOf, onlySuccessful } from './matching/expected-calls.ts';
import { callsOfMessages, expectedMessagesSchema } from './expectation/messages.ts';
import { heaviestPairing, heaviestCommonSubsequence, inPlace, type Pair } from './matching/pairing.ts';
import { normalizedNames, withChanges, normalizeToolNames } from './matching/names.ts';
import { numberOf, quotient, rational, sum, type Rational } from './matching/rational.ts';
import { selectionQuestion } from './judging/selection-question.ts';
import { weightedCalls, type WeightedCalls, differencesInWords, explainedPairs } from './matching/agreement.ts';
import { ruleWithJudge, flag, choice, optional, type OptionsOf } from './configuration/define.ts';

const options = {
  preset: choice(
    ['deepeval', 'gllm'],
    'deepeval compares names only. gllm compares arguments and outputs too, and normalises names. Options that are given win.',
  ),
  exact_match: flag('Exactly the expected calls, each at its place, or 0. Wins over ordered.'),
  ordered: flag('Calls count in the order of the expectation only.'),
  compare: optional<readonly ('arguments' | 'output')[]>({
    type: 'array',
    maxItems: 2,
    uniqueItems: true,
    items: { enum: ['arguments', 'output'] },
    description:
      'Parts compared besides the name. Arguments count with the share of keys that agree, outputs whole and with their types: the number 42 is not the text 42.',
  }),
  strict: flag('All or nothing: a score below 1 is 0.'),
  include_reasons: flag('The details list, pair by pair, the arguments that are missing, extra or unequal.', true),
  only_successful: onlySuccessful,
  normalize_tool_names: optional<boolean>(normalizeToolNames.schema),
};

type Options = OptionsOf<typeof options>;

export const expectedTools = ruleWithJudge({
  id: 'expected_tools',
  version: 4,
  summary: 'The expected calls were made, with credit for arguments that agree in part.',
  needs: ['tool_calls', 'expected_tool_calls'],
  defaultThreshold: 0.5,
  options,
  expectationSchema: {
    type: 'object',
    anyOf: [{ required: ['tool_calls'] }, { required: ['messages'] }],
    properties: { tool_calls: expectedToolCallsSchema, messages: expectedMessagesSchema },
  },
  // Messages supply the calls when no calls are expected.
  checks: (options, { toolCalls }) =>
    toolCalls === undefined
      ? ['messages']
      : [
          'tool_calls',
          ...comparedIn(options).map((what) => (what === 'output' ? ('tool_calls.result' as const) : ('tool_calls.arguments' as const))),
        ],
  switchedOnBy: { 'tool_calls.result': { compare: ['output'], strict: true } },
  source: 'DeepEval ToolCorrectnessMetric, pairing by position and by the greatest total weight',
  evaluate: (subject, options, context) => {
    const named = normalizedNames(subject, normalises(options));
    return withChanges(byCalls(named.subject, options, context), named);
  },
  evaluateWithJudge,
});

/** Without defined tools there was no choice, so the judge is not asked. */
function* evaluateWithJudge(subject: Subject, options: Options, context: EvaluationContext): Judging {
  const named = normalizedNames(subject, normalises(options));
  const outcome = withChanges(byCalls(named.subject, options, context), named);
  if (outcome.kind !== 'scored' || subject.trace.toolDefinitions.length === 0)
    return { ...outcome, details: { ...outcome.details, judge_calls: 0 } };
  const { question, truncated } = selectionQuestion(subject.trace);
  const answer = yield question;
  const [score, reason] =
    answer.kind === 'answered' && isJsonObject(answer.value)
      ? [member(answer.value, 'score'), member(answer.value, 'reason')]
      : [undefined, undefined];
  if (answer.kind === 'failed' || typeof score !== 'number') {
    const error = answer.kind === 'failed' ? answer.error : 'the answer has no score';
    return {
      kind: 'failed',
      error,
      explanation: `The judge gave no usable answer on the choice of tools: ${error}.`,
      details: { judge_calls: 1, judge_error: true, calls_score: outcome.score },
    };
  }
  const lower = Math.min(outcome.score, score);
  return {
    ...outcome,
    score: options.strict && lower < 1 ? 0 : lower,
    explanation:
      score < outcome.score
        ? `The judge rates the choice of tools ${score}: ${typeof reason === 'string' ? reason : ''}`
        : outcome.explanation,
    details: {
      ...outcome.details,
      judge_calls: 1,
      calls_score: outcome.score,
      selection: { score, ...(typeof reason === 'string' ? { reason } : {}) },
      ...(truncated || (answer.kind === 'answered' && answer.truncated) ? { truncated: true } : {}),
    },
  };
}

function comparedIn({ compare, preset }: Pick<Options, 'compare' | 'preset'>): readonly ('arguments' | 'output')[] {
  return compare ?? (preset === 'gllm' ? ['arguments', 'output'] : []);
}

function normalises({ preset, normalizeToolNames }: Options): boolean {
  return normalizeToolNames ?? preset === 'gllm';
}

function byCalls({ trace, expected }: Subject, options: Options, context: EvaluationContext): Outcome {
  const wanted = expected.toolCalls ?? (expected.messages === undefined ? undefined : callsOfMessages(expected.messages));
  if (wanted === undefined) return noExpectation('tool calls');
  const stop = notCarried(trace) ?? tooManyPairs(trace, context, wanted.length);
  if (stop !== undefined) return stop;
  const calls = countedCalls(placedCalls(trace), options.onlySuccessful);
  const compare = comparedIn(options);
  const weights = weightedCalls(wanted, calls, { arguments: compare.includes('arguments'), output: compare.includes('output') });
  if (weights.lacks === 'arguments') return argumentsUnknown(trace, comparedArgumentsMissing);
  if (weights.lacks === 'results')
    return skipped(
      'results_not_carried',
      'The spans carry no results for tool calls that are compared by output; switch on the capture of tool outputs.',
    );
  return verdict(wanted, calls, weights, options, compare);
}

function verdict(
  expected: readonly ExpectedToolCall[],
  calls: readonly PlacedCall[],
  weights: WeightedCalls,
  options: Options,
  compare: readonly string[],
): Outcome {
  const { pairs, method } = paired(expected, calls, weights, options);
  const share = shareOf(expected, calls, pairs, weights, options);
  const score = options.strict && share < 1 ? 0 : share;
  const partnered = partneredOf(pairs);
  const missing = expected.flatMap(({ name }, index) =>
    partnered.expected.has(index)
      ? []
      : [{ index, tool: name, nearest: calls.findIndex((_, a) => !partnered.actual.has(a) && weights.same(index, a)) }],
  );
  const partial = pairs.filter((pair) => weights.weight(pair.expected, pair.actual) < 1);
  const extra = extraCalls(calls, pairs);
  const extrasCost = options.exactMatch || expected.length === 0;
  const near = missing.flatMap(({ index, nearest }) => (nearest === -1 ? [] : [{ expected: index, actual: nearest }]));
  return {
    kind: 'scored',
    score,
    explanation: explainedPairs({
      expected,
      calls,
      weights,
      partial,
      missing,
      extra: extrasCost ? extra : [],
      wrongPlace: options.exactMatch ? 'not at its place' : options.ordered ? 'out of order' : 'already used',
    }),
    evidence: evidenceOf([...[...partial, ...near].flatMap(({ actual }) => calls[actual] ?? []), ...(extrasCost ? extra : [])]),
    parts: pairs.flatMap((pair) => part(pair, calls, weights)),
    details: {
      preset: options.preset,
      compare,
      expected: expected.length,
      matched: pairs.length - partial.length,
      ...(method === undefined ? {} : { matching: method }),
      pairs: pairs.flatMap((pair) => pairDetails(pair, calls, weights, options.includeReasons)),
      missing_calls: missing.map(({ index, tool, nearest }) => ({
        index,
        tool,
        ...(nearest === -1
          ? {}
          : { nearest: pairDetails({ expected: index, actual: nearest }, calls, weights, options.includeReasons)[0] ?? {} }),
      })),
      ...extraDetails('extra_calls', extra),
    },
  };
}

function paired(
  { length: expected }: readonly unknown[],
  { length: actual }: readonly unknown[],
  { weight }: WeightedCalls,
  options: Options,
): { readonly pairs: readonly Pair[]; readonly method: 'exact' | 'greedy' | undefined } {
  if (options.exactMatch)
    return {
      pairs: inPlace(Math.min(expected, actual)).filter((pair) => weight(pair.expected, pair.actual) === 1),
      method: undefined,
    };
  if (options.ordered) return { pairs: heaviestCommonSubsequence(expected, actual, weight), method: undefined };
  return heaviestPairing(expected, actual, weight);
}

function shareOf(
  expected: readonly unknown[],
  calls: readonly unknown[],
  pairs: readonly Pair[],
  { share }: WeightedCalls,
  { exactMatch }: Options,
): number {
  if (expected.length === 0) return calls.length === 0 ? 1 : 0;
  if (exactMatch) return pairs.length === expected.length && calls.length === expected.length ? 1 : 0;
  const shares: readonly Rational[] = pairs.map((pair) => share(pair.expected, pair.actual));
  return numberOf(quotient(sum(shares), rational(expected.length)));
}

function pairDetails(pair: Pair, calls: readonly PlacedCall[], weights: WeightedCalls, withReasons: boolean): readonly JsonObject[] {
  const placed = calls[pair.actual];
  if (placed === undefined) return [];
  const { missing, extra, unequal, outputDiffers } = weights.differences(pair.expected, pair.actual);
  return [
    {
      expected_index: pair.expected,
      ...callDetails(placed),
      score: weights.weight(pair.expected, pair.actual),
      ...(withReasons ? { missing, extra, unequal, output_differs: outputDiffers } : {}),
    },
  ];
}

function part(pair: Pair, calls: readonly PlacedCall[], weights: WeightedCalls) {
  const placed = calls[pair.actual];
  if (placed === undefined) return [];
  const score = weights.weight(pair.expected, pair.actual);
  return [
    {
      ...partOf(
        placed,
        score === 1,
        score === 1
          ? 'The call is as expected.'
          : `The call is as expected in part: ${differencesInWords(weights.differences(pair.expected, pair.actual))}.`,
      ),
      score,
    },
  ];
}
