/** Matches calls with expected calls: equal names, and arguments by the rule of the expected tool. */
import { callEnd } from '../../src/model/error-signs.ts';
import type { ToolCall } from '../../src/model/agent-trace.ts';
import type { ExpectedToolCall } from '../../src/model/expectation.ts';
import type { JsonObject } from '../../src/model/json.ts';
import { callDetails, namedIn, type PlacedCall } from '../evidence/calls.ts';
import { flag } from '../configuration/define.ts';
import type { JsonSchema } from '../evaluator.ts';
import {
  argumentDifference,
  argumentRule,
  argumentsAgree,
  argumentsMatch,
  preparedArguments,
  type ArgumentOptions,
  type ArgumentRule,
  type PreparedArguments,
} from './arguments.ts';
import { sameTool } from './names.ts';
import type { Pair } from './pairing.ts';
import { callName, quoted } from '../explain/explanation.ts';

/** Schema of `expect.tool_calls`. */
export const expectedToolCallsSchema: JsonSchema = {
  type: 'array',
  maxItems: 1000,
  description: 'The calls, in order. A call without arguments accepts any.',
  items: {
    type: 'object',
    additionalProperties: false,
    required: ['name'],
    properties: {
      name: { type: 'string', minLength: 1 },
      arguments: { type: ['object', 'null'] },
      result: {},
      tool_id: { type: ['string', 'null'] },
    },
  },
};

/** True when a call is one of the expected tool, with any arguments. */
export type SameTool = (expected: Pick<ExpectedToolCall, 'name' | 'toolId'>, call: ToolCall) => boolean;

export const equalNames: SameTool = (expected, call) => expected.name === call.name;

/** Tool ids decide when both sides have one; otherwise names. */
export const equalTools: SameTool = (expected, call) =>
  expected.toolId !== undefined && call.toolId !== undefined ? expected.toolId === call.toolId : isCalled(expected.name, call);

/** An expected name may be a tool name, also as changed by an SDK, a tool id, or a call id. */
export function isCalled(name: string, call: ToolCall): boolean {
  return name === call.toolId || name === call.id || sameTool(name, call.name);
}

export interface CallMatching {
  readonly same: (expected: number, actual: number) => boolean;
  readonly matches: (expected: number, actual: number) => boolean;
  /** True when the comparison requires arguments that the spans lack. */
  readonly lacksArguments: boolean;
  /** Why a call with the right name does not match. */
  readonly difference: (expected: number, actual: number) => string | undefined;
}

/**
 * Limit of pairs that are compared value by value, without a matcher. Beyond it, the arguments of each call are written once and texts are
 * compared.
 */
const directPairsMax = 1_024;

/** The match relation, computed lazily and once per pair. */
export function callMatching(
  expected: readonly ExpectedToolCall[],
  actual: readonly PlacedCall[],
  options: ArgumentOptions,
  same: SameTool = equalNames,
): CallMatching {
  const rules = rulesOf(expected, options);
  const { isSame, agree } = (
    expected.length * actual.length <= directPairsMax || rules.some(({ matcher }) => matcher !== undefined) ? fewPairs : manyPairs
  )({ expected, actual, rules, same });
  const free = expected.map((want, e) => isFree(want, rules[e]));
  const width = actual.length;
  const cells = new Uint8Array(expected.length * width);
  const compared = (e: number, a: number): number => (!isSame(e, a) ? otherTool : free[e] === true || agree(e, a) ? matched : named);
  const cell = (e: number, a: number): number => {
    if (a < 0 || a >= width || e < 0 || e >= expected.length) return otherTool;
    const known = cells[e * width + a];
    return known === undefined || known === unknown ? (cells[e * width + a] = compared(e, a)) : known;
  };
  return {
    same: (e, a) => cell(e, a) !== otherTool,
    matches: (e, a) => cell(e, a) === matched,
    lacksArguments: lacksArguments(actual, free, isSame),
    difference: (e, a) => (cell(e, a) !== named ? undefined : differenceInWords(expected[e], actual[a]?.call, rules[e])),
  };
}

/** Values of table cells. */
const unknown = 0;
const otherTool = 1;
const named = 2;
const matched = 3;

interface Pairs {
  readonly expected: readonly ExpectedToolCall[];
  readonly actual: readonly PlacedCall[];
  /** One rule per expectation. */
  readonly rules: readonly ArgumentRule[];
  readonly same: SameTool;
}

/** Two ways of comparing pairs, with the same results. */
interface Comparing {
  readonly isSame: (expected: number, actual: number) => boolean;
  /** False for arguments that are not carried. */
  readonly agree: (expected: number, actual: number) => boolean;
}

function fewPairs({ expected, actual, rules, same }: Pairs): Comparing {
  return {
    isSame: (e, a) => {
      const want = expected[e];
      const placed = actual[a];
      return want !== undefined && placed !== undefined && same(want, placed.call);
    },
    agree: (e, a) => {
      const want = expected[e]?.arguments;
      const rule = rules[e];
      const placed = actual[a];
      const sent = placed === undefined ? undefined : argumentsOf(placed.call);
      return want !== undefined && rule !== undefined && sent !== undefined && argumentsAgree(want, sent, rule);
    },
  };
}

function manyPairs({ expected, actual, rules, same }: Pairs): Comparing {
  const rowOf = toolRows(actual, same);
  const rows: Uint8Array[] = [];
  const wanted: (PreparedArguments | undefined)[] = [];
  const made = preparedCalls(actual, rules);
  return {
    isSame: (e, a) => (rows[e] ??= rowOf(expected[e]))[a] === 1,
    agree: (e, a) => {
      const want = (wanted[e] ??= prepared(expected[e]?.arguments, rules[e]));
      const sent = made(e, a);
      const rule = rules[e];
      return want !== undefined && sent !== undefined && rule !== undefined && argumentsMatch(want, sent, rule);
    },
  };
}

/** Expectations of one tool share a rule object, so values derived from a rule are computed once. */
function rulesOf(expected: readonly ExpectedToolCall[], options: ArgumentOptions): readonly ArgumentRule[] {
  if (Object.keys(options.overrides).length === 0) return expected.map(() => options);
  const known = new Map<string, ArgumentRule>();
  return expected.map(({ name }) => {
    const rule = known.get(name) ?? argumentRule(options, name);
    known.set(name, rule);
    return rule;
  });
}

function isFree(want: ExpectedToolCall | undefined, rule: ArgumentRule | undefined): boolean {
  return want?.arguments === undefined || (rule?.mode === 'ignore' && rule.fields === undefined && rule.matcher === undefined);
}

function lacksArguments(actual: readonly PlacedCall[], free: readonly boolean[], isSame: Comparing['isSame']): boolean {
  if (actual.every(({ call }) => argumentsOf(call) !== undefined)) return false;
  const unsent = actual.flatMap(({ call }, a) => (argumentsOf(call) === undefined ? [a] : []));
  return free.some((isFree, e) => !isFree && unsent.some((a) => isSame(e, a)));
}

/** For each expected tool, 1 at the indices of its calls. */
export function toolRows(
  actual: readonly PlacedCall[],
  same: SameTool,
): (expected: Pick<ExpectedToolCall, 'name' | 'toolId'> | undefined) => Uint8Array {
  const rows = new Map<string, Map<string | undefined, Uint8Array>>();
  return (expected) => {
    if (expected === undefined) return new Uint8Array(0);
    const ofName = rows.get(expected.name) ?? new Map<string | undefined, Uint8Array>();
    rows.set(expected.name, ofName);
    const known = ofName.get(expected.toolId);
    if (known !== undefined) return known;
    const row = new Uint8Array(actual.length);
    for (const [a, { call }] of actual.entries()) if (same(expected, call)) row[a] = 1;
    ofName.set(expected.toolId, row);
    return row;
  };
}

/** Prepared calls, computed once per rule. */
function preparedCalls(
  actual: readonly PlacedCall[],
  rules: readonly ArgumentRule[],
): (expected: number, actual: number) => PreparedArguments | undefined {
  const known = new Map<ArgumentRule, (PreparedArguments | undefined)[]>();
  return (e, a) => {
    const rule = rules[e];
    if (rule === undefined) return undefined;
    const calls = known.get(rule) ?? [];
    known.set(rule, calls);
    const placed = actual[a];
    return (calls[a] ??= placed === undefined ? undefined : prepared(argumentsOf(placed.call), rule));
  };
}

/** `undefined` when not carried; `null` when they are not an object. */
export function argumentsOf(call: ToolCall): JsonObject | null | undefined {
  return call.arguments === undefined && call.argumentsText !== undefined ? null : call.arguments;
}

function prepared(value: JsonObject | null | undefined, rule: ArgumentRule | undefined): PreparedArguments | undefined {
  return value === undefined || rule === undefined ? undefined : preparedArguments(value, rule);
}

function differenceInWords(
  want: ExpectedToolCall | undefined,
  call: ToolCall | undefined,
  rule: ArgumentRule | undefined,
): string | undefined {
  if (rule?.matcher !== undefined) return 'the matcher refuses its arguments';
  const [wanted, sent] = [prepared(want?.arguments, rule), call === undefined ? undefined : prepared(argumentsOf(call), rule)];
  if (wanted === undefined || sent === undefined || rule === undefined) return undefined;
  const difference = argumentDifference(wanted, sent, rule);
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

/** Paired indices of each side. */
export function partneredOf(pairs: readonly Pair[]): { readonly expected: ReadonlySet<number>; readonly actual: ReadonlySet<number> } {
  return { expected: new Set(pairs.map(({ expected }) => expected)), actual: new Set(pairs.map(({ actual }) => actual)) };
}

/** Expected calls without a pair. */
export interface MissingCall {
  readonly index: number;
  readonly tool: string;
  /** The most similar unpaired call of the same tool, and how it differs. */
  readonly nearest?: string;
}

export function missingCalls(
  expected: readonly ExpectedToolCall[],
  actual: readonly PlacedCall[],
  matching: CallMatching,
  pairs: readonly Pair[],
): readonly MissingCall[] {
  if (pairs.length === expected.length) return [];
  const partnered = partneredOf(pairs);
  return expected.flatMap((call, index) => {
    if (partnered.expected.has(index)) return [];
    const at = actual.findIndex((_, a) => !partnered.actual.has(a) && matching.same(index, a));
    const placed = actual[at];
    const difference = placed === undefined ? undefined : matching.difference(index, at);
    return [
      {
        index,
        tool: call.name,
        ...(placed === undefined ? {} : { nearest: `${callName(placed)}: ${difference ?? 'it is out of order'}` }),
      },
    ];
  });
}

export function missingDetails(missing: readonly MissingCall[]): readonly JsonObject[] {
  return missing.map((call) => ({ ...call }));
}

export function extraCalls(actual: readonly PlacedCall[], pairs: readonly Pair[]): readonly PlacedCall[] {
  if (pairs.length === actual.length) return [];
  const partnered = partneredOf(pairs).actual;
  return actual.filter((_, at) => !partnered.has(at));
}

/** Under the name that an evaluator gives them. */
export function extraDetails(key: string, extra: readonly PlacedCall[]): JsonObject {
  return namedIn(key, extra, callDetails);
}

export const onlySuccessful = flag('Count only calls that ran without an error.');

/** The counted calls: all requested ones, or those that ran without an error. */
export function countedCalls(calls: readonly PlacedCall[], onlySuccessful: boolean): readonly PlacedCall[] {
  return onlySuccessful ? calls.filter(({ call }) => callEnd(call) === 'returned') : calls;
}
