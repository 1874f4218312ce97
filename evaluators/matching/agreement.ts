/**
 * Agreement of a call with an expected call: name, arguments and, optionally, output. Equal arguments agree by 1; otherwise agreement is
 * the sum over keys divided by the keys of both sides. Lists agree as a whole or not at all.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/model/json.ts';
import { quotient, rational, sum, type Rational } from './rational.ts';
import { selectedArguments, type ArgumentRule } from './arguments.ts';
import { canonicalText, type TextTolerance } from './equality.ts';
import type { ExpectedToolCall } from '../../src/model/expectation.ts';
import type { PlacedCall } from '../evidence/calls.ts';
import { argumentsOf } from './expected-calls.ts';
import { valueEqual } from './texts.ts';
import type { Pair } from './pairing.ts';
import { callName, count, headed, listed, noneExpected, quoted } from '../explain/explanation.ts';

/** A value with its canonical text and those of its members, for many comparisons. */
export interface PreparedValue {
  readonly text: string;
  readonly members?: ReadonlyMap<string, PreparedValue>;
}

/** Difference of two objects; paths are dotted. */
interface Disagreement {
  readonly missing: readonly string[];
  readonly extra: readonly string[];
  readonly unequal: readonly string[];
}

const agreed: Disagreement = { missing: [], extra: [], unequal: [] };

export function preparedValue(value: JsonValue, tolerance?: TextTolerance): PreparedValue {
  const text = canonicalText(value, tolerance);
  return isJsonObject(value)
    ? { text, members: new Map(Object.keys(value).map((key) => [key, preparedValue(value[key] ?? null, tolerance)])) }
    : { text };
}

/** The arguments that a rule compares. */
export function preparedSelection(value: JsonObject, rule: ArgumentRule): PreparedValue {
  return preparedValue(selectedArguments(value, rule), rule);
}

/** As a double, for the choice of pairs. */
export function agreementWeight(expected: PreparedValue, actual: PreparedValue): number {
  if (expected.text === actual.text) return 1;
  const [one, other] = [expected.members, actual.members];
  if (one === undefined || other === undefined) return 0;
  let [agreeing, keys] = [0, other.size];
  for (const [key, value] of one) {
    const sent = other.get(key);
    if (sent === undefined) keys++;
    else agreeing += agreementWeight(value, sent);
  }
  return agreeing / keys;
}

/** As an exact fraction, for the score. */
export function agreement(expected: PreparedValue, actual: PreparedValue): Rational {
  if (expected.text === actual.text) return rational(1);
  const [one, other] = [expected.members, actual.members];
  if (one === undefined || other === undefined) return rational(0);
  const shared = [...one].flatMap(([key, value]) => {
    const sent = other.get(key);
    return sent === undefined ? [] : [agreement(value, sent)];
  });
  return quotient(sum(shared), rational(one.size + other.size - shared.length));
}

/** All differing keys; for objects on both sides, their inner keys. */
export function disagreement(expected: PreparedValue, actual: PreparedValue, path = ''): Disagreement {
  const [one, other] = [expected.members, actual.members];
  if (expected.text === actual.text) return agreed;
  if (one === undefined || other === undefined) return { ...agreed, unequal: [path] };
  const at = (key: string): string => (path === '' ? key : `${path}.${key}`);
  const inner = [...one].flatMap(([key, value]) => {
    const sent = other.get(key);
    return sent === undefined ? [] : [disagreement(value, sent, at(key))];
  });
  return {
    missing: [...[...one.keys()].filter((key) => !other.has(key)).map(at), ...inner.flatMap(({ missing }) => missing)],
    extra: [...[...other.keys()].filter((key) => !one.has(key)).map(at), ...inner.flatMap(({ extra }) => extra)],
    unequal: inner.flatMap(({ unequal }) => unequal),
  };
}

interface Comparison {
  readonly arguments: boolean;
  readonly output: boolean;
}

export interface WeightedCalls {
  readonly same: (expected: number, actual: number) => boolean;
  /** From 0 to 1, as a double, for the choice of pairs. */
  readonly weight: (expected: number, actual: number) => number;
  /** The same as an exact fraction, for the score. */
  readonly share: (expected: number, actual: number) => Rational;
  /** Why a call with the right name is not the expected one. */
  readonly differences: (expected: number, actual: number) => CallDifferences;
  /** Data that the comparison requires and the spans lack. */
  readonly lacks: 'arguments' | 'results' | undefined;
}

interface CallDifferences extends Disagreement {
  readonly outputDiffers: boolean;
}

interface Made extends PlacedCall {
  /** `undefined` when not carried or not compared. */
  readonly sent: PreparedValue | undefined;
}

/** Absent expected arguments or results match any. Outputs compare with their types: 42 is not "42". */
export function weightedCalls(expected: readonly ExpectedToolCall[], calls: readonly PlacedCall[], compare: Comparison): WeightedCalls {
  const wanted = expected.map((call) => (compare.arguments && call.arguments !== undefined ? preparedValue(call.arguments) : undefined));
  const made = calls.map((placed): Made => ({ ...placed, sent: compare.arguments ? preparedArguments(placed) : undefined }));
  // Compares numbers instead of names, as a pairing tests every pair.
  const numbers = new Map<string, number>();
  const numbered = (name: string): number => numbers.get(name) ?? (numbers.set(name, numbers.size), numbers.size - 1);
  const [wantedNames, madeNames] = [expected.map(({ name }) => numbered(name)), calls.map(({ call }) => numbered(call.name))];
  const same = (e: number, a: number): boolean => wantedNames[e] !== undefined && wantedNames[e] === madeNames[a];
  const outputDiffers = (e: number, a: number): boolean => {
    const [want, got] = [expected[e]?.result, made[a]?.call];
    return compare.output && want !== undefined && got !== undefined && !valueEqual(want, got.result ?? null);
  };
  const compared = <Value>(
    e: number,
    a: number,
    values: { readonly none: Value; readonly all: Value; readonly by: (one: PreparedValue, other: PreparedValue) => Value },
  ): Value => {
    if (!same(e, a) || outputDiffers(e, a)) return values.none;
    const [want, sent] = [wanted[e], made[a]?.sent];
    return want === undefined ? values.all : sent === undefined ? values.none : values.by(want, sent);
  };
  return {
    same,
    weight: (e, a) => compared(e, a, { none: 0, all: 1, by: agreementWeight }),
    share: (e, a) => compared(e, a, { none: rational(0), all: rational(1), by: agreement }),
    differences: (e, a) => {
      const [want, sent] = [wanted[e], made[a]?.sent];
      return { ...(want === undefined || sent === undefined ? agreed : disagreement(want, sent)), outputDiffers: outputDiffers(e, a) };
    },
    lacks: lacking(expected, calls, compare),
  };
}

/** Arguments that are not an object have no keys. */
function preparedArguments({ call }: PlacedCall): PreparedValue | undefined {
  const sent = argumentsOf(call);
  return sent === undefined
    ? undefined
    : sent === null
      ? { ...preparedValue(call.argumentsText ?? ''), members: new Map() }
      : preparedValue(sent);
}

function lacking(expected: readonly ExpectedToolCall[], calls: readonly PlacedCall[], compare: Comparison): WeightedCalls['lacks'] {
  const byArguments = new Set(expected.filter((call) => call.arguments !== undefined).map(({ name }) => name));
  const byResult = new Set(expected.filter((call) => call.result !== undefined).map(({ name }) => name));
  if (compare.arguments && calls.some(({ call }) => byArguments.has(call.name) && argumentsOf(call) === undefined)) return 'arguments';
  return compare.output &&
    calls.some(({ call }) => byResult.has(call.name) && call.executed && call.result === undefined && call.error === undefined)
    ? 'results'
    : undefined;
}

interface FoundCalls {
  readonly expected: readonly ExpectedToolCall[];
  readonly calls: readonly PlacedCall[];
  readonly weights: WeightedCalls;
  readonly partial: readonly Pair[];
  /** `nearest`: index of an unpaired call of the tool, or -1. */
  readonly missing: readonly { readonly index: number; readonly tool: string; readonly nearest: number }[];
  readonly extra: readonly PlacedCall[];
  /** Description of an unpaired call without another fault. */
  readonly wrongPlace: string;
}

export function explainedPairs({ expected, calls, weights, partial, missing, extra, wrongPlace }: FoundCalls): string {
  if (expected.length === 0) return noneExpected(calls);
  const inPart = partial.flatMap((pair) => differenceOf(pair, calls, weights, wrongPlace));
  const absent = missing.map(({ index, tool, nearest }) => {
    const [near] = differenceOf({ expected: index, actual: nearest }, calls, weights, wrongPlace);
    return near === undefined ? tool : `${tool} (nearest is ${near})`;
  });
  const parts = [
    ...headed('in part only', inPart, String, '; '),
    ...headed('missing', absent, String),
    ...headed('extra', extra, callName),
  ];
  if (parts.length === 0) return `The ${count(expected.length, 'expected call')} ${expected.length === 1 ? 'was' : 'were'} made.`;
  const made = expected.length - partial.length - missing.length;
  return `${made} of ${count(expected.length, 'expected call')} ${made === 1 ? 'was' : 'were'} made as expected; ${parts.join('; ')}.`;
}

function differenceOf(pair: Pair, calls: readonly PlacedCall[], weights: WeightedCalls, wrongPlace: string): readonly string[] {
  const placed = calls[pair.actual];
  if (placed === undefined) return [];
  const difference = differencesInWords(weights.differences(pair.expected, pair.actual));
  return [`${callName(placed)}: ${difference === '' ? `it is ${wrongPlace}` : difference}`];
}

export function differencesInWords({ missing, extra, unequal, outputDiffers }: CallDifferences): string {
  const named = (keys: readonly string[], what: string): readonly string[] =>
    keys.length === 0 ? [] : [`${listed(keys.map((key) => (key === '' ? 'what was sent' : quoted(key))))} ${what}`];
  return [
    ...named(unequal, 'not equal'),
    ...named(missing, 'missing'),
    ...named(extra, 'not expected'),
    ...(outputDiffers ? ['its output differs'] : []),
  ].join(', ');
}
