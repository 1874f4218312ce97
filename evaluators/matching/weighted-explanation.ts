/** Calls that are expected calls in part, in words. */
import type { ExpectedToolCall } from '../../src/model/expectation.ts';
import type { PlacedCall } from '../evidence/calls.ts';
import type { Pair } from './sequences.ts';
import type { CallDifferences, WeightedCalls } from './weighted-calls.ts';
import { callName, count, listed, listedCalls, quoted } from '../explain/explanation.ts';

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
