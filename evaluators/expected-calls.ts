/** Which expected calls the calls of a run match: equal names, and arguments as the rule of the expected tool has it. */
import type { ToolCall } from '../src/model/agent-trace.ts';
import type { ExpectedToolCall } from '../src/model/expectation.ts';
import type { JsonObject } from '../src/model/json.ts';
import { callDetails } from './calls.ts';
import type { PlacedCall } from './calls.ts';
import type { JsonSchema } from './evaluator.ts';
import { argumentDifference, argumentRule, argumentsMatch, preparedArguments } from './matching/arguments.ts';
import type { ArgumentOptions, PreparedArguments } from './matching/arguments.ts';
import { callName, quoted } from './wording.ts';

/** What `expect.tool_calls` may hold. */
export const expectedToolCallsSchema: JsonSchema = {
  type: 'array',
  maxItems: 1000,
  description: 'The calls, in order. A call without arguments accepts any.',
  items: {
    type: 'object',
    additionalProperties: false,
    required: ['name'],
    properties: { name: { type: 'string', minLength: 1 }, arguments: { type: ['object', 'null'] }, result: {}, tool_id: { type: ['string', 'null'] } },
  },
};

export interface CallMatching {
  readonly matches: (expected: number, actual: number) => boolean;
  /** A comparison needs arguments that the spans do not carry. */
  readonly lacksArguments: boolean;
  /** Why a call of the right name does not match, in words. */
  readonly difference: (expected: number, actual: number) => string | undefined;
}

interface Prepared {
  readonly name: string;
  /** Undefined: any arguments (of an expectation), or arguments that were not carried (of a call). */
  readonly arguments: PreparedArguments | undefined;
}

/** The match relation, computed once: every comparison after it is a look into a table. */
export function callMatching(expected: readonly ExpectedToolCall[], actual: readonly PlacedCall[], options: ArgumentOptions): CallMatching {
  const wanted = expected.map((call) => prepared(call.name, call.arguments, options));
  const made = actual.map(({ call }) => prepared(call.name, argumentsOf(call), options));
  const table = new Uint8Array(wanted.length * made.length);
  let lacksArguments = false;
  for (const [e, want] of wanted.entries()) {
    const rule = argumentRule(options, want.name);
    const free = want.arguments === undefined || (rule.mode === 'ignore' && rule.fields === undefined);
    for (const [a, call] of made.entries()) {
      if (call.name !== want.name) continue;
      if (!free && call.arguments === undefined) lacksArguments = true;
      table[e * made.length + a] = free || (call.arguments !== undefined && want.arguments !== undefined && argumentsMatch(want.arguments, call.arguments, rule)) ? 1 : 0;
    }
  }
  return { matches: (e, a) => table[e * made.length + a] === 1, lacksArguments, difference: (e, a) => differenceInWords(wanted[e], made[a], options) };
}

/** Undefined: not carried. Null: sent, but no object. */
export function argumentsOf(call: ToolCall): JsonObject | null | undefined {
  return call.arguments === undefined && call.argumentsText !== undefined ? null : call.arguments;
}

function prepared(name: string, value: JsonObject | null | undefined, options: ArgumentOptions): Prepared {
  return { name, arguments: value === undefined ? undefined : preparedArguments(value, argumentRule(options, name)) };
}

function differenceInWords(want: Prepared | undefined, call: Prepared | undefined, options: ArgumentOptions): string | undefined {
  if (want?.arguments === undefined || call?.arguments === undefined || want.name !== call.name) return undefined;
  const difference = argumentDifference(want.arguments, call.arguments, argumentRule(options, want.name));
  if (difference === undefined) return undefined;
  switch (difference.problem) {
    case 'not_an_object':
      return 'its arguments are not a JSON object';
    case 'missing':
      return `${quoted(difference.path)} is missing`;
    case 'unexpected':
      return `${quoted(difference.path)} was not expected`;
    case 'different':
      return `${quoted(difference.path)} differs`;
  }
}

/** Expected calls without a partner, for details and sentences. */
export interface MissingCall {
  readonly index: number;
  readonly tool: string;
  /** The free call of the same tool that comes nearest to being it, and what keeps it from being it. */
  readonly nearest?: string;
}

export function missingCalls(expected: readonly ExpectedToolCall[], actual: readonly PlacedCall[], matching: CallMatching, partnered: { readonly expected: ReadonlySet<number>; readonly actual: ReadonlySet<number> }): readonly MissingCall[] {
  return expected.flatMap((call, index) => {
    if (partnered.expected.has(index)) return [];
    const at = actual.findIndex((placed, a) => !partnered.actual.has(a) && placed.call.name === call.name);
    const placed = actual[at];
    const difference = placed === undefined ? undefined : matching.difference(index, at);
    return [{ index, tool: call.name, ...(placed === undefined ? {} : { nearest: `${callName(placed)}: ${difference ?? 'it is out of order'}` }) }];
  });
}

export function missingDetails(missing: readonly MissingCall[]): readonly JsonObject[] {
  return missing.map((call) => ({ ...call }));
}

export function extraCalls(actual: readonly PlacedCall[], partnered: ReadonlySet<number>): readonly PlacedCall[] {
  return actual.filter((_, at) => !partnered.has(at));
}

export function extraDetails(extra: readonly PlacedCall[]): readonly JsonObject[] {
  return extra.map(callDetails);
}

/** The calls that count: all that the model asked for, or only those that ran without an error. */
export function countedCalls(calls: readonly PlacedCall[], onlySuccessful: boolean): readonly PlacedCall[] {
  return onlySuccessful ? calls.filter(({ call }) => call.executed && call.error === undefined) : calls;
}
