/** Which expected calls the calls of a run match: equal names, and arguments as the rule of the expected tool has it. */
import type { ToolCall } from '../src/model/agent-trace.ts';
import type { ExpectedToolCall } from '../src/model/expectation.ts';
import type { JsonObject } from '../src/model/json.ts';
import { callDetails } from './calls.ts';
import type { PlacedCall } from './calls.ts';
import type { JsonSchema } from './evaluator.ts';
import { argumentDifference, argumentRule, argumentsMatch, preparedArguments } from './matching/arguments.ts';
import type { ArgumentOptions, PreparedArguments } from './matching/arguments.ts';
import { sameTool } from './matching/names.ts';
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

/** Whether a call is one of the tool that is expected, whatever its arguments. */
export type SameTool = (expected: Pick<ExpectedToolCall, 'name' | 'toolId'>, call: ToolCall) => boolean;

export const equalNames: SameTool = (expected, call) => expected.name === call.name;

/** A tool id on both sides decides; else the name does, as an SDK may have changed it. */
export const equalTools: SameTool = (expected, call) => (expected.toolId !== undefined && call.toolId !== undefined ? expected.toolId === call.toolId : sameTool(expected.name, call.name));

export interface CallMatching {
  readonly same: (expected: number, actual: number) => boolean;
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
export function callMatching(expected: readonly ExpectedToolCall[], actual: readonly PlacedCall[], options: ArgumentOptions, same: SameTool = equalNames): CallMatching {
  const wanted = expected.map((call) => prepared(call.name, call.arguments, options));
  const made = preparedCalls(actual, options);
  const rowOf = toolRows(actual, same);
  const table = new Uint8Array(wanted.length * actual.length);
  let lacksArguments = false;
  for (const [e, want] of wanted.entries()) {
    const rule = argumentRule(options, want.name);
    const free = want.arguments === undefined || (rule.mode === 'ignore' && rule.fields === undefined);
    const row = rowOf(expected[e]);
    for (let a = 0; a < actual.length; a++) {
      if (row[a] !== 1) continue;
      const sent = free ? undefined : made(a, want.name).arguments;
      if (!free && sent === undefined) lacksArguments = true;
      table[e * actual.length + a] = free || (sent !== undefined && want.arguments !== undefined && argumentsMatch(want.arguments, sent, rule)) ? matched : named;
    }
  }
  const cell = (e: number, a: number): number => (a >= 0 && a < actual.length ? (table[e * actual.length + a] ?? 0) : 0);
  return {
    same: (e, a) => cell(e, a) > 0,
    matches: (e, a) => cell(e, a) === matched,
    lacksArguments,
    difference: (e, a) => (wanted[e] === undefined || cell(e, a) === 0 ? undefined : differenceInWords(wanted[e], made(a, wanted[e].name), options)),
  };
}

/** Cells of the table: a call of another tool is 0. */
const named = 1;
const matched = 2;

/** For an expected tool, 1 at the places of its calls; found once for all expectations of that tool. */
export function toolRows(actual: readonly PlacedCall[], same: SameTool): (expected: Pick<ExpectedToolCall, 'name' | 'toolId'> | undefined) => Uint8Array {
  const known = new Map<string, Map<string | undefined, Uint8Array>>();
  return (expected) => {
    if (expected === undefined) return new Uint8Array(0);
    const ofName = known.get(expected.name) ?? new Map<string | undefined, Uint8Array>();
    known.set(expected.name, ofName);
    const row = ofName.get(expected.toolId) ?? Uint8Array.from(actual, ({ call }) => (same(expected, call) ? 1 : 0));
    ofName.set(expected.toolId, row);
    return row;
  };
}

/** Calls as the rule of the expected tool sees them, each made once for every name by which it is expected. */
function preparedCalls(actual: readonly PlacedCall[], options: ArgumentOptions): (at: number, tool: string) => Prepared {
  const known = new Map<string, (Prepared | undefined)[]>();
  return (at, tool) => {
    const calls = known.get(tool) ?? [];
    known.set(tool, calls);
    const placed = actual[at];
    const call = calls[at] ?? prepared(tool, placed === undefined ? undefined : argumentsOf(placed.call), options);
    calls[at] = call;
    return call;
  };
}

/** Undefined: not carried. Null: sent, but no object. */
export function argumentsOf(call: ToolCall): JsonObject | null | undefined {
  return call.arguments === undefined && call.argumentsText !== undefined ? null : call.arguments;
}

function prepared(name: string, value: JsonObject | null | undefined, options: ArgumentOptions): Prepared {
  return { name, arguments: value === undefined ? undefined : preparedArguments(value, argumentRule(options, name)) };
}

function differenceInWords(want: Prepared, call: Prepared, options: ArgumentOptions): string | undefined {
  if (want.arguments === undefined || call.arguments === undefined) return undefined;
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
    const at = actual.findIndex((_, a) => !partnered.actual.has(a) && matching.same(index, a));
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
