/** How much of an expected call each call is: its name, and where they are compared its arguments by their agreement and its output. */
import type { ExpectedToolCall } from '../../src/model/expectation.ts';
import type { PlacedCall } from '../evidence/calls.ts';
import { argumentsOf } from './expected-calls.ts';
import { agreed, agreement, agreementWeight, disagreement, preparedValue, type Disagreement, type PreparedValue } from './agreement.ts';
import { valueEqual } from './texts.ts';
import { rational, type Rational } from './rational.ts';
import type { Pair } from './sequences.ts';
import { callName, count, listed, listedCalls, quoted } from '../explain/explanation.ts';

export interface Comparison {
  readonly arguments: boolean;
  readonly output: boolean;
}

export interface WeightedCalls {
  readonly same: (expected: number, actual: number) => boolean;
  /** 0..1, as a double: to choose a pairing by. */
  readonly weight: (expected: number, actual: number) => number;
  /** The same exactly: to score by. */
  readonly share: (expected: number, actual: number) => Rational;
  /** What keeps a call of the right name from being the expected one. */
  readonly differences: (expected: number, actual: number) => CallDifferences;
  /** A comparison needs what the spans do not carry. */
  readonly lacks: 'arguments' | 'results' | undefined;
}

export interface CallDifferences extends Disagreement {
  readonly outputDiffers: boolean;
}

interface Made extends PlacedCall {
  /** Undefined: not carried, or not compared. */
  readonly sent: PreparedValue | undefined;
}

/** An expectation without arguments or without a result accepts any. Outputs are compared as values of their own types: the number 42 is not the text 42. */
export function weightedCalls(expected: readonly ExpectedToolCall[], calls: readonly PlacedCall[], compare: Comparison): WeightedCalls {
  const wanted = expected.map((call) => (compare.arguments && call.arguments !== undefined ? preparedValue(call.arguments) : undefined));
  const made = calls.map((placed): Made => ({ ...placed, sent: compare.arguments ? preparedArguments(placed) : undefined }));
  // A pairing asks for every pair: numbers are compared sooner than names.
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

/** Arguments that are no object have no keys. */
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

export interface FoundCalls {
  readonly expected: readonly ExpectedToolCall[];
  readonly calls: readonly PlacedCall[];
  readonly weights: WeightedCalls;
  readonly partial: readonly Pair[];
  /** `nearest` is the index of a free call of the tool, or -1. */
  readonly missing: readonly { readonly index: number; readonly tool: string; readonly nearest: number }[];
  readonly extra: readonly PlacedCall[];
  /** What a call is that has no other fault and yet is not paired. */
  readonly wrongPlace: string;
}

export function explainedPairs({ expected, calls, weights, partial, missing, extra, wrongPlace }: FoundCalls): string {
  if (expected.length === 0)
    return calls.length === 0
      ? 'No tool call was expected and none was made.'
      : `No tool call was expected, yet ${count(calls.length, 'call')} ${calls.length === 1 ? 'was' : 'were'} made: ${listedCalls(calls)}.`;
  const inPart = partial.flatMap((pair) => differenceOf(pair, calls, weights, wrongPlace));
  const absent = missing.map(({ index, tool, nearest }) => {
    const [near] = differenceOf({ expected: index, actual: nearest }, calls, weights, wrongPlace);
    return near === undefined ? tool : `${tool} (nearest is ${near})`;
  });
  const parts = [
    ...(inPart.length === 0 ? [] : [`in part only: ${listed(inPart, '; ')}`]),
    ...(absent.length === 0 ? [] : [`missing: ${listed(absent)}`]),
    ...(extra.length === 0 ? [] : [`extra: ${listedCalls(extra)}`]),
  ];
  if (parts.length === 0) return `The ${count(expected.length, 'expected call')} ${expected.length === 1 ? 'was' : 'were'} made.`;
  return `${expected.length - partial.length - missing.length} of ${count(expected.length, 'expected call')} ${expected.length - partial.length - missing.length === 1 ? 'was' : 'were'} made as expected; ${parts.join('; ')}.`;
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
