/**
 * The run compared with a reference conversation: message by message, or by the calls of all messages together. Texts play no part. A run
 * whose spans carry no messages is compared by its input, its turns of calls with their results, and its final response.
 */
import type { ExpectedMessage } from '../src/model/expectation.ts';
import type { JsonObject } from '../src/model/json.ts';
import type { Outcome } from '../src/model/verdict.ts';
import { evidenceOf, modeArgumentsMissing, namedIn, noExpectation } from './evidence/calls.ts';
import { outlineOf, type MessageOutline } from './evidence/conversation.ts';
import type { EvaluationContext, Subject } from './evaluator.ts';
import { extraCalls, extraDetails, missingCalls, missingDetails, type CallMatching } from './matching/expected-calls.ts';
import { callsOfMessages, expectedMessagesSchema } from './expectation/messages.ts';
import { type ArgumentMode, type ArgumentOptions, argumentOptions } from './matching/arguments.ts';
import { comparedCalls, missingInWords, pairedCalls, pairedShare, type ComparedCalls } from './matching/comparison.ts';
import { maximumPairing, type Pair } from './matching/pairing.ts';
import { underNormalizedNames, normalizeToolNames } from './matching/names.ts';
import { callName, count, headed } from './explain/explanation.ts';
import { rule, flag, choice, type OptionsOf, expecting } from './configuration/define.ts';

const options = {
  compare: choice(
    ['strict', 'unordered', 'subset', 'superset'],
    'strict: the same roles in the same order, each message with the same calls in any order. unordered: the same calls in all messages together. subset: only calls of the reference. superset: at least those. With subset the reference is what contains, so the argument modes subset and superset change places as well.',
  ),
  arguments: argumentOptions(),
  graded: flag('The score is the share of messages (strict) or of calls that agree, instead of all or nothing.'),
  normalize_tool_names: normalizeToolNames,
};

type Options = OptionsOf<typeof options>;

export const trajectoryMatch = rule({
  id: 'trajectory_match',
  version: 2,
  summary: 'The run follows a reference conversation.',
  needs: ['tool_calls', 'expected_messages'],
  defaultThreshold: 1,
  options,
  expectationSchema: expecting({ messages: expectedMessagesSchema }, 'messages'),
  switchedOnBy: { messages: {} },
  source: 'agentevals trajectory match, with the best pairing and a graded score',
  evaluate: underNormalizedNames(evaluate),
});

/** The side whose calls must have a pair, and the sentence for a full score. */
const sides = {
  unordered: { side: 'longer', fine: 'The calls are those of the reference.' },
  subset: { side: 'actual', fine: 'All calls are among those of the reference.' },
  superset: { side: 'expected', fine: 'All calls of the reference were made.' },
} as const;

function evaluate(subject: Subject, options: Options, context: EvaluationContext): Outcome {
  const { compare } = options;
  const { messages: reference } = subject.expected;
  if (reference === undefined) return noExpectation('messages');
  const compared = comparedCalls(subject, context, callsOfMessages(reference), {
    arguments: compare === 'subset' ? turned(options.arguments) : options.arguments,
    argumentsMissing: modeArgumentsMissing,
  });
  if ('kind' in compared) return compared;
  const { expected, calls, matching } = compared;
  const messages = outlineOf(subject.trace);
  const { pairs, steps, share, fine } =
    compare === 'strict' ? messageByMessage(reference, messages, matching) : allTogether(compared, sides[compare]);
  const missing = compare === 'subset' ? [] : missingCalls(expected, calls, matching, pairs);
  const extra = compare === 'superset' ? [] : extraCalls(calls, pairs);
  const [step] = steps;
  const differences = [
    ...(step === undefined ? [] : [`the first difference is at message ${step.index + 1} (${inWords(step)})`]),
    ...headed('missing', missing, missingInWords),
    ...headed('extra', extra, callName),
  ];
  return {
    kind: 'scored',
    score: options.graded ? share : Math.floor(share),
    explanation:
      share === 1
        ? fine
        : `The run differs from the reference${steps.length > 1 ? ` in ${count(steps.length, 'message')}` : ''}; ${differences.join('; ')}.`,
    evidence: evidenceOf(extra),
    details: {
      compare,
      messages_told: subject.trace.messages !== undefined,
      matched_count: pairs.length,
      actual_count: calls.length,
      expected_count: expected.length,
      precision: calls.length === 0 ? null : pairs.length / calls.length,
      recall: expected.length === 0 ? null : pairs.length / expected.length,
      ...(compare === 'strict'
        ? {
            message_count: messages.length,
            expected_message_count: reference.length,
            ...namedIn('differences', steps, (one) => one),
          }
        : {}),
      missing_calls: missingDetails(missing),
      ...extraDetails('extra_calls', extra),
    },
  };
}

interface Difference extends JsonObject {
  readonly index: number;
  readonly problem: 'missing_message' | 'extra_message' | 'role' | 'calls';
}

interface Compared {
  readonly pairs: readonly Pair[];
  readonly steps: readonly Difference[];
  /** Share of what agrees: messages, or calls of one side. */
  readonly share: number;
  /** The sentence for a full share. */
  readonly fine: string;
}

function allTogether(compared: ComparedCalls, { side, fine }: (typeof sides)[keyof typeof sides]): Compared {
  const pairs = pairedCalls(compared, 'any');
  return { pairs, steps: [], share: pairedShare(side, pairs.length, compared.expected.length, compared.calls.length), fine };
}

/** Pairs calls within each message only. */
function messageByMessage(reference: readonly ExpectedMessage[], messages: readonly MessageOutline[], matching: CallMatching): Compared {
  const pairs: Pair[] = [];
  const steps: Difference[] = [];
  const length = Math.max(reference.length, messages.length);
  let first = 0;
  for (let at = 0; at < length; at++) {
    const want = reference[at];
    const got = messages[at];
    if (want === undefined) steps.push({ index: at, problem: 'extra_message', role: got?.role ?? '' });
    else if (got === undefined) steps.push({ index: at, problem: 'missing_message', expected_role: want.role });
    else {
      const own = pairsWithin(first, want.toolCalls.length, got.calls, matching);
      for (const pair of own) pairs.push(pair);
      if (want.role !== got.role) steps.push({ index: at, problem: 'role', role: got.role, expected_role: want.role });
      else if (own.length < Math.max(want.toolCalls.length, got.calls.length))
        steps.push({ index: at, problem: 'calls', matched: own.length, calls: got.calls.length, expected_calls: want.toolCalls.length });
    }
    first += want?.toolCalls.length ?? 0;
  }
  const share = length === 0 ? 1 : (length - steps.length) / length;
  return { pairs, steps, share, fine: 'The messages agree with the reference, one by one.' };
}

/** Pairs within one message, as indices among all calls. */
function pairsWithin(first: number, wanted: number, calls: readonly number[], matching: CallMatching): readonly Pair[] {
  if (wanted === 0 || calls.length === 0) return [];
  return maximumPairing(wanted, calls.length, (e, a) => matching.matches(first + e, calls[a] ?? -1)).map(({ expected, actual }) => ({
    expected: first + expected,
    actual: calls[actual] ?? -1,
  }));
}

function turned(options: ArgumentOptions): ArgumentOptions {
  const overrides = Object.entries(options.overrides).map(([tool, rule]): [string, ArgumentOptions['overrides'][string]] => [
    tool,
    typeof rule === 'function'
      ? rule
      : typeof rule === 'string'
        ? turnedMode(rule)
        : { ...rule, ...(rule.mode === undefined ? {} : { mode: turnedMode(rule.mode) }) },
  ]);
  return { ...options, mode: turnedMode(options.mode), overrides: Object.fromEntries(overrides) };
}

function turnedMode(mode: ArgumentMode): ArgumentMode {
  return mode === 'subset' ? 'superset' : mode === 'superset' ? 'subset' : mode;
}

function inWords({ problem, role, expected_role: wanted }: Difference): string {
  switch (problem) {
    case 'missing_message':
      return `a message of ${String(wanted)} is missing`;
    case 'extra_message':
      return `a message of ${String(role)} was not expected`;
    case 'role':
      return `${String(role)} instead of ${String(wanted)}`;
    case 'calls':
      return 'it makes other calls';
  }
}
