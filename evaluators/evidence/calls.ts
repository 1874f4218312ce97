/** What evaluators of tool calls share: why a run cannot be scored, and what a verdict names of its calls. */
import type { AgentTrace, ToolCall } from '../../src/model/agent-trace.ts';
import type { Mutable } from '../../src/model/mutable.ts';
import type { SpanId } from '../../src/model/ids.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../src/model/json.ts';
import type { Outcome, PartVerdict } from '../../src/model/verdict.ts';
import { choice } from '../configuration/define.ts';
import type { EvaluationContext } from '../evaluator.ts';

/** `original`: an empty list of calls or definitions scores as in the system that the evaluator comes from. */
export type OnEmpty = 'skip' | 'original';

export const onEmpty = choice<OnEmpty>(
  ['skip', 'original'],
  'What a run without tool calls gets: skip, or original for the full score that the original system gives.',
);

/** A tool call with its place in the trajectory. */
export interface PlacedCall {
  readonly index: number;
  readonly call: ToolCall;
}

/** Calls that one verdict names: in its parts, its evidence and each list of its details. A trace may hold fifty times as many. */
export const namedMax = 1_000;

export type Skipped = Extract<Outcome, { readonly kind: 'skipped' }>;

export function placedCalls(trace: AgentTrace): readonly PlacedCall[] {
  return trace.toolCalls.map((call, index) => ({ index, call }));
}

/** Calls that a model asked for and that nothing shows to have run are left out. */
export function executedCalls(trace: AgentTrace): readonly PlacedCall[] {
  const found: PlacedCall[] = [];
  trace.toolCalls.forEach((call, index) => {
    if (call.executed) found.push({ index, call });
  });
  return found;
}

/** The spans carry the arguments, if only as a text. */
export function hasArguments({ call }: PlacedCall): boolean {
  return call.arguments !== undefined || call.argumentsText !== undefined;
}

export function skipped(reason: Skipped['reason'], explanation: string, details?: JsonObject): Skipped {
  return details === undefined ? { kind: 'skipped', reason, explanation } : { kind: 'skipped', reason, explanation, details };
}

/** For evaluators that show all calls to a judge. One pass takes any run. */
export function tooLarge({ toolCalls: { length: calls } }: AgentTrace, { toolCallsMax }: EvaluationContext): Skipped | undefined {
  if (calls <= toolCallsMax) return undefined;
  return skipped(
    'too_large',
    `${calls} tool calls are more than the ${toolCallsMax} that are scored in one run, and none of them was looked at.`,
    { tool_calls: calls, tool_calls_max: toolCallsMax },
  );
}

/** For evaluators that compare each call with each expectation: a few expectations go with any run, many with fewer calls. */
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

/** Values that decide were cut short on their way: judging what is left of them would judge the cut. */
export function cutShort(what: string, details?: JsonObject): Skipped {
  return skipped(
    'truncated',
    `The spans carry ${what} cut short by a length limit; raise the limit of attribute values or of attributes (OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT, OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT, or the SDK’s own).`,
    details,
  );
}

/** Why arguments are unknown, for rules that compare them with expected ones. */
export const comparedArgumentsMissing =
  'The spans carry no arguments for tool calls that are compared by arguments; switch on the capture of tool inputs.';

/** The same for rules whose mode can ignore arguments. */
export const modeArgumentsMissing = `${comparedArgumentsMissing.slice(0, -1)}, or set arguments.mode to ignore.`;

/** Arguments that are needed and unknown: cut short, where that is why, else not carried. */
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

/** Zero calls: evidence when the spans would have carried them, nothing at all when they do not. */
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
  return skipped('no_expectation', `Nothing says which ${what} are expected of this run.`);
}

/** The spans of some calls, each once, as many as one verdict names. */
export function evidenceOf(calls: Iterable<PlacedCall>): readonly SpanId[] {
  const spans = new Set<SpanId>();
  for (const { call } of calls) {
    if (spans.size >= namedMax) break;
    if (call.spanId !== undefined) spans.add(call.spanId);
  }
  return [...spans];
}

/** As many items as one verdict names; the details count all. */
export function named<Item>(items: readonly Item[]): readonly Item[] {
  return items.length <= namedMax ? items : items.slice(0, namedMax);
}

/** A member of the details that lists as many items as one verdict names, and where there are more a second one that counts them. */
export function namedIn<Item>(key: string, items: readonly Item[], details: (item: Item) => JsonValue): JsonObject {
  return { [key]: named(items).map(details), ...(items.length > namedMax ? { [`${key}_left_out`]: items.length - namedMax } : {}) };
}

interface Parts {
  readonly parts: readonly PartVerdict[];
  /** For the details: how many parts the verdict does not name. Empty when it names all. */
  readonly leftOut: JsonObject;
}

/** A verdict on each call, in their order. Of a long run those that failed are kept first. */
export function partsOf<Call extends PlacedCall>(
  calls: readonly Call[],
  hasPassed: (call: Call) => boolean,
  part: (call: Call) => PartVerdict,
): Parts {
  const { kept, leftOut } = foremost(calls, hasPassed);
  return { parts: kept.map(part), leftOut };
}

/** What a rule finds of calls of which each passes or fails. */
export interface CheckedCalls<Call extends PlacedCall> {
  /** In the order of the calls. */
  readonly failed: readonly PlacedCall[];
  readonly hasPassed: (call: Call) => boolean;
  readonly part: (call: Call) => PartVerdict;
  readonly explanation: string;
  readonly details: JsonObject;
}

/** The score is the share of calls that pass, 1 of none; the spans of the others are the evidence. */
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

/** As many as one verdict names, those that failed first, in their order. */
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

/** What details say about a call: where it is and whose it is. */
export function callDetails({ index, call }: PlacedCall): JsonObject {
  return { index, tool: call.name, ...(call.spanId === undefined ? {} : { span_id: call.spanId }) };
}

/** The verdict on one call below the verdict on the run. */
export function partOf({ index, call }: PlacedCall, passed: boolean, explanation: string): PartVerdict {
  const part: Mutable<Partial<PartVerdict>> = { index, tool: call.name };
  if (call.id !== undefined) part.callId = call.id;
  if (call.spanId !== undefined) part.spanId = call.spanId;
  part.score = passed ? 1 : 0;
  part.passed = passed;
  part.explanation = explanation;
  return part as PartVerdict;
}

/** Values in the arguments of a call that are counted. */
const weighedMax = 200;

/** By their arguments; in their own order from a weight on that most arguments do not reach. */
export function lightestFirst(calls: readonly PlacedCall[]): readonly PlacedCall[] {
  return calls
    .map((placed) => ({ placed, weight: weighedMax - weightLeft(placed.call.arguments ?? null, weighedMax) }))
    .sort((one, other) => one.weight - other.weight)
    .map(({ placed }) => placed);
}

/** What is left of so many values in each other. */
function weightLeft(value: JsonValue, left: number): number {
  let rest = left - 1;
  if (isJsonArray(value)) {
    for (const item of value) {
      if (rest <= 0) return 0;
      rest = weightLeft(item, rest);
    }
  } else if (isJsonObject(value)) {
    // No list of the names: the walk ends where the count does.
    for (const name in value) {
      if (rest <= 0) return 0;
      if (Object.hasOwn(value, name)) rest = weightLeft(value[name] ?? null, rest);
    }
  }
  return Math.max(0, rest);
}
