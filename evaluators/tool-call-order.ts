/**
 * Tools were called in the expected order, with any other calls in between. The score is the longest common subsequence over the expectation. Every
 * call that the model asked for counts, executed or not.
 */
import type { JsonObject } from '../src/model/json.ts';
import type { Outcome } from '../src/model/verdict.ts';
import { callDetails, evidenceOf, type PlacedCall } from './evidence/calls.ts';
import type { EvaluationContext, Subject } from './evaluator.ts';
import { equalTools, extraDetails, onlySuccessful, partneredOf, toolRows } from './matching/expected-calls.ts';
import { bothSides, pairedShare, type BothSides } from './matching/comparison.ts';
import { longestCommonSubsequence, maximumPairing, type Pair } from './matching/pairing.ts';
import { underNormalizedNames, normalizeToolNames } from './matching/names.ts';
import { callName, count, headed, noneExpected } from './explain/explanation.ts';
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
          'Names of tools in the order of their calls; a tool that is called twice is listed twice. The id of a tool, or of a call, may replace its name.',
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

function evaluate(subject: Subject, options: Options, context: EvaluationContext): Outcome {
  const steps = subject.expected.toolCallsOrder?.map((name) => ({ name }));
  const sides = bothSides(subject, context, steps, { what: 'steps', onlySuccessful: options.onlySuccessful });
  return 'kind' in sides ? sides : verdict(sides, options);
}

function verdict({ expected, calls }: BothSides, options: Options): Outcome {
  const rows = expected.map(toolRows(calls, equalTools));
  const matches = (e: number, a: number): boolean => rows[e]?.[a] === 1;
  const pairs = longestCommonSubsequence(expected.length, calls.length, matches);
  const open = openSteps({ expected, calls }, pairs, matches);
  const missing = open.filter(({ call }) => call === undefined);
  const misplaced = open.flatMap(({ index, call }) => (call === undefined ? [] : [{ index, call }]));
  const taken = partneredOf(pairs).actual;
  const extrasCost = options.strict || options.penaliseExtra || expected.length === 0;
  const late = new Set(misplaced.map(({ call }) => call));
  const extra = calls.filter((placed, at) => !taken.has(at) && !late.has(placed));
  const parts = [
    ...headed('missing', missing, ({ index, tool }) => `${tool} (step ${index + 1})`),
    ...headed('out of order', misplaced, ({ call }) => callName(call)),
    ...headed('extra', extrasCost ? extra : [], callName),
  ];
  const share = pairedShare(
    options.strict || options.penaliseExtra ? 'longer' : 'expected',
    pairs.length,
    expected.length,
    calls.length,
    0,
  );
  return {
    kind: 'scored',
    score: options.strict ? Math.floor(share) : share,
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

/** Steps outside the common order, each with an unused call of its tool if there is one. */
function openSteps({ expected, calls }: BothSides, pairs: readonly Pair[], matches: (e: number, a: number) => boolean): readonly Step[] {
  const { expected: done, actual: taken } = partneredOf(pairs);
  const others = maximumPairing(expected.length, calls.length, (e, a) => !done.has(e) && !taken.has(a) && matches(e, a));
  const partner = new Map(others.map((pair) => [pair.expected, calls[pair.actual]]));
  return expected.flatMap(({ name: tool }, index) => (done.has(index) ? [] : [{ index, tool, call: partner.get(index) }]));
}

function fine(expected: number): string {
  return expected === 0 ? noneExpected([]) : `The ${count(expected, 'expected step')} came in order.`;
}
