/**
 * The right tools were called: by name, by name and order, or by name and arguments. Every call that the model asked for counts,
 * whether it ran or not, unless `only_successful` is set.
 */
import type { ExpectedToolCall } from '../src/model/expectation.ts';
import type { Outcome } from '../src/model/verdict.ts';
import { evidenceOf, namedIn, type PlacedCall } from './evidence/calls.ts';
import type { EvaluationContext, Subject } from './evaluator.ts';
import {
  expectedToolCallsSchema,
  extraCalls,
  extraDetails,
  missingCalls,
  missingDetails,
  onlySuccessful,
} from './matching/expected-calls.ts';
import { argumentOptions } from './matching/arguments.ts';
import {
  bothSides,
  comparedCalls,
  missingInWords,
  pairedCalls,
  pairedShare,
  type BothSides,
  type ComparedCalls,
} from './matching/comparison.ts';
import { underNormalizedNames, normalizeToolNames } from './matching/names.ts';
import { callName, count, headed } from './explain/explanation.ts';
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

function evaluate(subject: Subject, options: Options, context: EvaluationContext): Outcome {
  const { mode, arguments: given, onlySuccessful } = options;
  if (mode === 'names_only') {
    const sides = bothSides(subject, context, subject.expected.toolCalls, options);
    return 'kind' in sides ? sides : namesOnly(sides);
  }
  const compared = comparedCalls(subject, context, subject.expected.toolCalls, {
    arguments: mode === 'names_and_order' ? { ...given, mode: 'ignore', overrides: {} } : given,
    onlySuccessful,
  });
  return 'kind' in compared ? compared : paired(compared, mode);
}

function namesOnly({ expected, calls }: BothSides): Outcome {
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

function paired(compared: ComparedCalls, mode: 'names_and_order' | 'names_and_args'): Outcome {
  const { expected, calls, matching } = compared;
  const byOrder = mode === 'names_and_order';
  const pairs = pairedCalls(compared, byOrder ? 'sequence' : 'any');
  const missing = missingCalls(expected, calls, matching, pairs);
  const extra = extraCalls(calls, pairs);
  const tools = byOrder ? names(expected, calls) : undefined;
  const total = expected.length + calls.length;
  return {
    kind: 'scored',
    score: byOrder ? pairedShare('longer', pairs.length, expected.length, calls.length) : total === 0 ? 1 : (2 * pairs.length) / total,
    explanation: explained(missing.map(missingInWords), extra, `All ${count(expected.length, 'expected call')} and no others were made.`),
    evidence: evidenceOf(extra),
    details: {
      ...(tools === undefined
        ? { matched_count: pairs.length }
        : {
            lcs_length: pairs.length,
            ...namedIn('unexpected_tools', tools.unexpected, (name) => name),
            missing_tools: tools.missing,
          }),
      missing_calls: missingDetails(missing),
      ...extraDetails('unexpected_calls', extra),
    },
  };
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
  const parts = [...headed('missing', missing, String), ...headed('not expected', unexpected, callName)];
  return parts.length === 0 ? fine : `The tool calls differ from what was expected; ${parts.join('; ')}.`;
}
