/**
 * The run compared with a reference conversation: message by message, or by the calls of all messages together. Texts play no part. A run
 * whose spans carry no messages is compared by its input, its turns of calls with their results, and its final response.
 */
import type { ExpectedMessage } from '../src/model/expectation.ts';
import { unreachable } from '../src/model/ids.ts';
import type { JsonObject } from '../src/model/json.ts';
import type { Outcome } from '../src/model/verdict.ts';
import {
  argumentsUnknown,
  modeArgumentsMissing,
  evidenceOf,
  namedIn,
  noExpectation,
  notCarried,
  placedCalls,
  tooManyPairs,
  type PlacedCall,
} from './evidence/calls.ts';
import { outlineOf, type MessageOutline } from './evidence/conversation.ts';
import type { EvaluationContext, Subject } from './evaluator.ts';
import { callMatching, extraCalls, extraDetails, missingCalls, missingDetails, type CallMatching } from './matching/expected-calls.ts';
import { callsOfMessages, expectedMessagesSchema } from './expectation/messages.ts';
import { type ArgumentMode, type ArgumentOptions, argumentOptions } from './matching/arguments.ts';
import { maximumPairing, type Pair } from './matching/pairing.ts';
import { underNormalizedNames, normalizeToolNames } from './matching/names.ts';
import { count, listed, listedCalls } from './explain/explanation.ts';
import { rule, flag, choice, type OptionsOf, expecting } from './configuration/define.ts';

type Compare = 'strict' | 'unordered' | 'subset' | 'superset';

const options = {
  compare: choice(
    ['strict', 'unordered', 'subset', 'superset'],
    'strict: the same roles in the same order, each message with the same calls in any order. unordered: the same calls in all messages together. subset: no other calls than those of the reference. superset: at least those. With subset the reference is what contains, so the argument modes subset and superset change places as well.',
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

function evaluate({ trace, expected: { messages: reference } }: Subject, options: Options, context: EvaluationContext): Outcome {
  if (reference === undefined) return noExpectation('messages');
  const wanted = callsOfMessages(reference);
  const stop = notCarried(trace) ?? tooManyPairs(trace, context, wanted.length);
  if (stop !== undefined) return stop;
  const calls = placedCalls(trace);
  const matching = callMatching(wanted, calls, options.compare === 'subset' ? turned(options.arguments) : options.arguments);
  if (matching.lacksArguments) return argumentsUnknown(trace, modeArgumentsMissing);
  const messages = outlineOf(trace);
  const found =
    options.compare === 'strict'
      ? messageByMessage(reference, messages, matching)
      : { pairs: maximumPairing(wanted.length, calls.length, matching.matches), steps: [], agreeing: 0 };
  const size = {
    expected: wanted.length,
    actual: calls.length,
    matched: found.pairs.length,
    messages: Math.max(reference.length, messages.length),
    agreeing: found.agreeing,
  };
  const share = shareOf(options.compare, size);
  const missing = options.compare === 'subset' ? [] : missingCalls(wanted, calls, matching, found.pairs);
  const extra = options.compare === 'superset' ? [] : extraCalls(calls, found.pairs);
  return {
    kind: 'scored',
    score: options.graded ? share : Math.floor(share),
    explanation: share === 1 ? fine(options.compare) : explained(missing, extra, found.steps),
    evidence: evidenceOf(extra),
    details: {
      compare: options.compare,
      messages_told: trace.messages !== undefined,
      matched_count: size.matched,
      actual_count: size.actual,
      expected_count: size.expected,
      precision: size.actual === 0 ? null : size.matched / size.actual,
      recall: size.expected === 0 ? null : size.matched / size.expected,
      ...(options.compare === 'strict'
        ? {
            message_count: messages.length,
            expected_message_count: reference.length,
            ...namedIn('differences', found.steps, (step) => step),
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
  /** Number of agreeing messages. */
  readonly agreeing: number;
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
  return { pairs, steps, agreeing: length - steps.length };
}

/** Pairs within one message, as indices among all calls. */
function pairsWithin(first: number, wanted: number, calls: readonly number[], matching: CallMatching): readonly Pair[] {
  if (wanted === 0 || calls.length === 0) return [];
  return maximumPairing(wanted, calls.length, (e, a) => matching.matches(first + e, calls[a] ?? -1)).map(({ expected, actual }) => ({
    expected: first + expected,
    actual: calls[actual] ?? -1,
  }));
}

interface Size {
  readonly expected: number;
  readonly actual: number;
  readonly matched: number;
  readonly messages: number;
  readonly agreeing: number;
}

function shareOf(compare: Compare, { expected, actual, matched, messages, agreeing }: Size): number {
  const share = (part: number, whole: number): number => (whole === 0 ? 1 : part / whole);
  switch (compare) {
    case 'strict':
      return share(agreeing, messages);
    case 'unordered':
      return share(matched, Math.max(expected, actual));
    case 'subset':
      return share(matched, actual);
    case 'superset':
      return share(matched, expected);
    default:
      return unreachable(compare);
  }
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

function fine(compare: Compare): string {
  return compare === 'strict'
    ? 'The messages agree with the reference, one by one.'
    : compare === 'unordered'
      ? 'The calls are those of the reference.'
      : compare === 'subset'
        ? 'All calls are among those of the reference.'
        : 'All calls of the reference were made.';
}

function explained(missing: ReturnType<typeof missingCalls>, extra: readonly PlacedCall[], steps: readonly Difference[]): string {
  const parts = [
    ...(steps[0] === undefined ? [] : [`the first difference is at message ${steps[0].index + 1} (${inWords(steps[0])})`]),
    ...(missing.length === 0
      ? []
      : [`missing: ${listed(missing.map(({ tool, nearest }) => (nearest === undefined ? tool : `${tool} (nearest is ${nearest})`)))}`]),
    ...(extra.length === 0 ? [] : [`extra: ${listedCalls(extra)}`]),
  ];
  return `The run differs from the reference${steps.length > 1 ? ` in ${count(steps.length, 'message')}` : ''}; ${parts.join('; ')}.`;
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
