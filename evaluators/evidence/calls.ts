/** Skip reasons and details that evaluators of tool calls share. */
import type { AgentTrace, ToolCall } from '../../src/model/agent-trace.ts';
import type { CallHold } from '../../src/model/control-flow.ts';
import type { Mutable } from '../../src/model/mutable.ts';
import type { SpanId } from '../../src/model/ids.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../src/model/json.ts';
import type { Outcome, PartVerdict } from '../../src/model/verdict.ts';
import { sortedBy } from '../../src/model/nano-time.ts';
import { choice } from '../configuration/define.ts';
import type { EvaluationContext } from '../evaluator.ts';

/** `original`: empty lists score as in the system that the evaluator comes from. */
export type OnEmpty = 'skip' | 'original';

export const onEmpty = choice<OnEmpty>(
  ['skip', 'original'],
  'Handling of a run without tool calls: skip, or original for the full score that the original system gives.',
);

/** A tool call with its place in the trajectory. */
export interface PlacedCall {
  readonly index: number;
  readonly call: ToolCall;
}

/** Limit of calls in the parts, evidence and lists of one verdict; a trace may have fifty times as many. */
export const namedMax = 1_000;

export type Skipped = Extract<Outcome, { readonly kind: 'skipped' }>;

export function placedCalls(trace: AgentTrace): readonly PlacedCall[] {
  return trace.toolCalls.map((call, index) => ({ index, call }));
}

/** Leaves out requested calls without a sign that they ran. */
export function executedCalls(trace: AgentTrace): readonly PlacedCall[] {
  const found: PlacedCall[] = [];
  trace.toolCalls.forEach((call, index) => {
    if (call.executed) found.push({ index, call });
  });
  return found;
}

/** True also for arguments that are known only as text. */
export function hasArguments({ call }: PlacedCall): boolean {
  return call.arguments !== undefined || call.argumentsText !== undefined;
}

export function skipped(reason: Skipped['reason'], explanation: string, details?: JsonObject): Skipped {
  return details === undefined ? { kind: 'skipped', reason, explanation } : { kind: 'skipped', reason, explanation, details };
}

/** For evaluators that give all calls to a judge. */
export function tooLarge({ toolCalls: { length: calls } }: AgentTrace, { toolCallsMax }: EvaluationContext): Skipped | undefined {
  if (calls <= toolCallsMax) return undefined;
  return skipped(
    'too_large',
    `${calls} tool calls are more than the ${toolCallsMax} that are scored in one run, and none of them was looked at.`,
    { tool_calls: calls, tool_calls_max: toolCallsMax },
  );
}

/** Guards evaluators that compare each call with each expectation. */
export function tooManyPairs(
  { toolCalls: { length: calls } }: AgentTrace,
  { toolCallsMax }: EvaluationContext,
  expected: number,
): Skipped | undefined {
  const pairsMax = toolCallsMax * toolCallsMax;
  if (expected <= toolCallsMax && calls * expected <= pairsMax) return undefined;
  return skipped(
    'too_large',
    `${calls} tool calls against ${expected} expectations are more than the ${pairsMax} pairs that are compared in one run, and none of them was looked at.`,
    { tool_calls: calls, expected, pairs_max: pairsMax },
  );
}

/** Deciding values were truncated, so the rest must not be judged. */
export function cutShort(what: string, details?: JsonObject): Skipped {
  return skipped(
    'truncated',
    `The spans carry ${what} cut short by a length limit; raise the limit of attribute values or of attributes (OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT, OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT, or the SDK’s own).`,
    details,
  );
}

/** Explanation of unknown arguments for rules that compare them. */
export const comparedArgumentsMissing =
  'The spans carry no arguments for tool calls that are compared by arguments; switch on the capture of tool inputs.';

/** The same for rules whose mode can ignore arguments. */
export const modeArgumentsMissing = `${comparedArgumentsMissing.slice(0, -1)}, or set arguments.mode to ignore.`;

/** Required arguments are unknown: truncated or not carried. */
export function argumentsUnknown(
  trace: AgentTrace,
  explanation = 'The spans carry no arguments of tool calls; switch on the capture of tool inputs.',
  details?: JsonObject,
): Skipped {
  return trace.toolCalls.some(({ truncated: parts }) => parts?.arguments !== undefined)
    ? cutShort('arguments of tool calls', details)
    : skipped('arguments_not_carried', explanation, details);
}

/** As `argumentsUnknown`, for the results of some calls. */
export function resultsUnknown(calls: readonly PlacedCall[], explanation: string, details?: JsonObject): Skipped {
  return calls.some(({ call }) => call.truncated?.result !== undefined)
    ? cutShort('results of tool calls', details)
    : skipped('results_not_carried', explanation, details);
}

/** Zero calls are evidence only if the spans would carry calls. */
export function notCarried(trace: AgentTrace): Skipped | undefined {
  if (trace.toolCallsCarried || trace.toolCalls.length > 0) return undefined;
  if (trace.truncated?.includes('spans') === true) return cutShort('requests to models, and perhaps tool calls,');
  return skipped(
    'tool_calls_not_carried',
    'The spans of this agent carry no tool calls; switch on the capture of tool spans or of message content.',
  );
}

export function noToolCalls(trace: AgentTrace): Skipped {
  const asked = trace.toolCalls.length;
  const held = (hold: CallHold): number => trace.toolCalls.filter((call) => call.hold === hold).length;
  const [waiting, refused] = [held('waiting'), held('refused')];
  if (waiting > 0)
    return skipped(
      'paused',
      `${waiting} of ${asked} tool calls ${waiting === 1 ? 'waits' : 'wait'} for a person or another program, and none ran.`,
    );
  if (refused > 0) return skipped('refused', `A person refused ${refused} of ${asked} tool calls, and none ran.`);
  return skipped(
    'no_tool_calls',
    asked === 0
      ? 'The agent called no tool.'
      : asked === 1
        ? 'The one tool call that the model asked for did not run.'
        : `None of the ${asked} tool calls that the model asked for ran.`,
  );
}

export function noInput(details?: JsonObject): Skipped {
  return skipped('no_input', 'The spans carry no input of the user.', details);
}

export function noFinalResponse(details?: JsonObject): Skipped {
  return skipped(
    'no_final_response',
    'The spans carry no final response; either the run gave none, or the capture of message content is off.',
    details,
  );
}

export function noExpectation(what: string): Skipped {
  return skipped('no_expectation', `No expected ${what} are given for this run.`);
}

/** The distinct spans of calls, up to the limit of a verdict. */
export function evidenceOf(calls: Iterable<PlacedCall>): readonly SpanId[] {
  const spans = new Set<SpanId>();
  for (const { call } of calls) {
    if (spans.size >= namedMax) break;
    if (call.spanId !== undefined) spans.add(call.spanId);
  }
  return [...spans];
}

/** The first items up to the limit of a verdict; details count all. */
export function named<Item>(items: readonly Item[]): readonly Item[] {
  return items.length <= namedMax ? items : items.slice(0, namedMax);
}

/** A details member with items up to the limit of a verdict, and a second one with their number when there are more. */
export function namedIn<Item>(key: string, items: readonly Item[], details: (item: Item) => JsonValue): JsonObject {
  return { [key]: named(items).map(details), ...(items.length > namedMax ? { [`${key}_left_out`]: items.length - namedMax } : {}) };
}

interface Parts {
  readonly parts: readonly PartVerdict[];
  /** Number of omitted parts, for the details; empty when none. */
  readonly leftOut: JsonObject;
}

/** Parts for the calls, in order. Failed calls have priority at the limit. */
export function partsOf<Call extends PlacedCall>(
  calls: readonly Call[],
  hasPassed: (call: Call) => boolean,
  part: (call: Call) => PartVerdict,
): Parts {
  const { kept, leftOut } = foremost(calls, hasPassed);
  return { parts: kept.map(part), leftOut };
}

/** The result of a rule that passes or fails each call. */
export interface CheckedCalls<Call extends PlacedCall> {
  /** In the order of calls. */
  readonly failed: readonly PlacedCall[];
  readonly hasPassed: (call: Call) => boolean;
  readonly part: (call: Call) => PartVerdict;
  readonly explanation: string;
  readonly details: JsonObject;
}

/** The score is the share of passing calls, and 1 without calls. The evidence is the spans of the failing ones. */
export function shareOfCalls<Call extends PlacedCall>(
  calls: readonly Call[],
  { failed, hasPassed, part, explanation, details }: CheckedCalls<Call>,
): Outcome {
  const { parts, leftOut } = partsOf(calls, hasPassed, part);
  return {
    kind: 'scored',
    score: calls.length === 0 ? 1 : (calls.length - failed.length) / calls.length,
    explanation,
    evidence: evidenceOf(failed),
    parts,
    details: { ...details, ...leftOut },
  };
}

/** Items up to the limit of a verdict, failed ones first, in their order. */
export function foremost<Item>(
  items: readonly Item[],
  hasPassed: (item: Item) => boolean,
): { readonly kept: readonly Item[]; readonly leftOut: JsonObject } {
  if (items.length <= namedMax) return { kept: items, leftOut: {} };
  const failed = items.filter((item) => !hasPassed(item)).length;
  const keptFailures = Math.min(failed, namedMax);
  let [room, failures] = [namedMax - keptFailures, keptFailures];
  const kept = items.filter((item) => (hasPassed(item) ? room-- > 0 : failures-- > 0));
  return {
    kept,
    leftOut: { parts_left_out: { failed: failed - keptFailures, passed: items.length - failed - (kept.length - keptFailures) } },
  };
}

/** Position and identity of a call, for details. */
export function callDetails({ index, call }: PlacedCall): JsonObject {
  return { index, tool: call.name, ...(call.spanId === undefined ? {} : { span_id: call.spanId }) };
}

/** The part of a verdict on one call. */
export function partOf({ index, call }: PlacedCall, passed: boolean, explanation: string): PartVerdict {
  const part: Mutable<Partial<PartVerdict>> = { index, tool: call.name };
  if (call.id !== undefined) part.callId = call.id;
  if (call.spanId !== undefined) part.spanId = call.spanId;
  part.score = passed ? 1 : 0;
  part.passed = passed;
  part.explanation = explanation;
  return part as PartVerdict;
}

/** Limit of counted values in the arguments of a call. */
const weighedMax = 200;

/** Sorted by size of arguments; calls at the counting limit keep their order. */
export function lightestFirst(calls: readonly PlacedCall[]): readonly PlacedCall[] {
  const weighed = calls.map((placed) => ({ placed, weight: weighedMax - weightLeft(placed.call.arguments ?? null, weighedMax) }));
  return sortedBy(weighed, (one, other) => one.weight - other.weight).map(({ placed }) => placed);
}

/** Subtracts the number of nested values from `left`. */
function weightLeft(value: JsonValue, left: number): number {
  let rest = left - 1;
  if (isJsonArray(value)) {
    for (const item of value) {
      if (rest <= 0) return 0;
      rest = weightLeft(item, rest);
    }
  } else if (isJsonObject(value)) {
    // Avoids a list of names, as the walk ends at the limit.
    for (const name in value) {
      if (rest <= 0) return 0;
      if (Object.hasOwn(value, name)) rest = weightLeft(value[name] ?? null, rest);
    }
  }
  return Math.max(0, rest);
}
