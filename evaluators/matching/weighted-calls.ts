/** How much of an expected call each call is: its name, and where they are compared its arguments by their agreement and its output. */
import type { ExpectedToolCall } from '../../src/model/expectation.ts';
import type { PlacedCall } from '../evidence/calls.ts';
import { argumentsOf } from './expected-calls.ts';
import { agreed, agreement, agreementWeight, disagreement, preparedValue } from './agreement.ts';
import type { Disagreement, PreparedValue } from './agreement.ts';
import { valueEqual } from './texts.ts';
import { rational } from './rational.ts';
import type { Rational } from './rational.ts';

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
