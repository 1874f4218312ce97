/**
 * The tool calls follow the expected trajectory. Every call that the model asked for counts, whether it ran or not, unless
 * `only_successful` is set. Two calls match when their names are equal and the matcher of the expected tool accepts the arguments.
 */
import type { Outcome } from '../src/model/verdict.ts';
import { evidenceOf, modeArgumentsMissing } from './evidence/calls.ts';
import type { EvaluationContext, Subject } from './evaluator.ts';
import {
  expectedToolCallsSchema,
  extraCalls,
  extraDetails,
  missingCalls,
  missingDetails,
  onlySuccessful,
  type CallMatching,
} from './matching/expected-calls.ts';
import { argumentOptions } from './matching/arguments.ts';
import { comparedCalls, pairedCalls, pairedShare, type ComparedCalls, type PairOrder, type Side } from './matching/comparison.ts';
import { underNormalizedNames, normalizeToolNames } from './matching/names.ts';
import { callName, count, headed, noneExpected } from './explain/explanation.ts';
import { rule, choice, type OptionsOf, expecting } from './configuration/define.ts';

interface Mode {
  readonly order: PairOrder;
  /** The side whose calls must have a pair. Unpaired calls of the other side are free. */
  readonly side: Side;
  /** True when the score is the share of pairs instead of all or nothing. */
  readonly isGraded: boolean;
}

const modes = {
  strict: { order: 'place', side: 'longer', isGraded: false },
  in_order: { order: 'sequence', side: 'longer', isGraded: true },
  contains_in_order: { order: 'sequence', side: 'expected', isGraded: false },
  any_order: { order: 'any', side: 'longer', isGraded: true },
  superset: { order: 'any', side: 'expected', isGraded: false },
  subset: { order: 'any', side: 'actual', isGraded: false },
  precision: { order: 'any', side: 'actual', isGraded: true },
  recall: { order: 'any', side: 'expected', isGraded: true },
} as const satisfies { readonly [mode: string]: Mode };

const options = {
  mode: choice(
    ['strict', 'in_order', 'contains_in_order', 'any_order', 'superset', 'subset', 'precision', 'recall'],
    'strict: the same calls at the same places. in_order: longest common subsequence over the longer side, so an extra call costs. contains_in_order: the expected calls in order, others may come between. any_order: matched over the longer side. superset: all expected calls, others free. subset: only expected calls, omissions free. precision: matched over calls made. recall: matched over calls expected.',
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

function evaluate(subject: Subject, options: Options, context: EvaluationContext): Outcome {
  const compared = comparedCalls(subject, context, subject.expected.toolCalls, { ...options, argumentsMissing: modeArgumentsMissing });
  return 'kind' in compared ? compared : verdict(compared, options.mode);
}

function verdict(compared: ComparedCalls, mode: keyof typeof modes): Outcome {
  const { expected, calls, matching } = compared;
  const { order, side, isGraded } = modes[mode];
  const pairs = pairedCalls(compared, order);
  const share = pairedShare(side, pairs.length, expected.length, calls.length, isGraded ? 0 : 1);
  const score = isGraded ? share : Math.floor(share);
  const missing = missingCalls(expected, calls, matching, pairs);
  const extra = extraCalls(calls, pairs);
  const culprits = side === 'expected' ? [] : extra;
  const firstDifference = mode === 'strict' && score < 1 ? differentPlace(matching) : undefined;
  const differences = [
    ...(firstDifference === undefined ? [] : [`the first difference is at call ${firstDifference + 1}`]),
    ...headed(
      'missing',
      side === 'actual' ? [] : missing,
      ({ index, tool, nearest }) => `${tool} (expected call ${index + 1}${nearest === undefined ? '' : `, nearest is ${nearest}`})`,
    ),
    ...headed('extra', culprits, callName),
  ];
  return {
    kind: 'scored',
    score,
    explanation:
      score === 1
        ? fine(mode, expected.length, calls.length)
        : `${['The trajectory differs from the expected one', ...differences].join('; ')}.`,
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

/** Beyond the end of a list nothing matches. */
function differentPlace({ matches }: CallMatching): number {
  let at = 0;
  while (matches(at, at)) at++;
  return at;
}

function fine(mode: keyof typeof modes, expected: number, actual: number): string {
  if (expected === 0 && actual === 0) return noneExpected([]);
  return mode === 'subset'
    ? `The ${count(actual, 'tool call')} made ${actual === 1 ? 'was' : 'were'} among the expected ones.`
    : `The ${count(expected, 'expected tool call')} ${expected === 1 ? 'was' : 'were'} made${modes[mode].order === 'any' ? '' : ' in order'}.`;
}
