/** The steps that evaluators of expected calls share: read the calls, pair them, take a share, and name what is missing or extra. */
import type { ExpectedToolCall } from '../../src/model/expectation.ts';
import {
  argumentsUnknown,
  comparedArgumentsMissing,
  noExpectation,
  notCarried,
  placedCalls,
  tooManyPairs,
  type PlacedCall,
  type Skipped,
} from '../evidence/calls.ts';
import type { EvaluationContext, Subject } from '../evaluator.ts';
import { argumentDefaults, type ArgumentOptions } from './arguments.ts';
import { callMatching, countedCalls, type CallMatching, type MissingCall, type SameTool } from './expected-calls.ts';
import { inPlace, longestCommonSubsequence, maximumPairing, type Pair } from './pairing.ts';

/** Expected calls beside the calls of a run. */
export interface BothSides {
  readonly expected: readonly ExpectedToolCall[];
  readonly calls: readonly PlacedCall[];
}

/** Both sides with the relation between calls and expected calls. */
export interface ComparedCalls extends BothSides {
  readonly matching: CallMatching;
}

interface SidesOptions {
  /** Names the missing expectation in the verdict. Default: tool calls. */
  readonly what?: string;
  readonly onlySuccessful?: boolean;
}

interface Comparing extends SidesOptions {
  /** Default: expected calls have no arguments, which match any. */
  readonly arguments?: ArgumentOptions;
  readonly argumentsMissing?: string;
  readonly same?: SameTool;
}

/** The expected calls and those of the run, or why they cannot be compared. */
export function bothSides(
  { trace }: Subject,
  context: EvaluationContext,
  expected: readonly ExpectedToolCall[] | undefined,
  { what = 'tool calls', onlySuccessful = false }: SidesOptions,
): BothSides | Skipped {
  if (expected === undefined) return noExpectation(what);
  return (
    notCarried(trace) ??
    tooManyPairs(trace, context, expected.length) ?? { expected, calls: countedCalls(placedCalls(trace), onlySuccessful) }
  );
}

/** The same, matched by names and arguments. */
export function comparedCalls(
  subject: Subject,
  context: EvaluationContext,
  given: readonly ExpectedToolCall[] | undefined,
  options: Comparing,
): ComparedCalls | Skipped {
  const sides = bothSides(subject, context, given, options);
  if ('kind' in sides) return sides;
  const { expected, calls } = sides;
  const matching = callMatching(expected, calls, options.arguments ?? argumentDefaults, options.same);
  if (matching.lacksArguments) return argumentsUnknown(subject.trace, options.argumentsMissing ?? comparedArgumentsMissing);
  return { expected, calls, matching };
}

/** The order that pairs keep: the same place on both sides, the same sequence, or none. */
export type PairOrder = 'place' | 'sequence' | 'any';

export function pairedCalls({ expected, calls, matching: { matches } }: ComparedCalls, order: PairOrder): readonly Pair[] {
  switch (order) {
    case 'place':
      return inPlace(Math.min(expected.length, calls.length)).filter((pair) => matches(pair.expected, pair.actual));
    case 'sequence':
      return longestCommonSubsequence(expected.length, calls.length, matches);
    case 'any':
      return maximumPairing(expected.length, calls.length, matches);
  }
}

/** The side whose calls must have a pair. */
export type Side = 'expected' | 'actual' | 'longer';

/** The share of a side that has a pair. A side without calls gets `none`, or 1 when the other side has none either. */
export function pairedShare(side: Side, pairs: number, expected: number, actual: number, none = 1): number {
  const whole = side === 'expected' ? expected : side === 'actual' ? actual : Math.max(expected, actual);
  if (whole > 0) return pairs / whole;
  return expected === actual ? 1 : none;
}

/** The tool of a missing call, with the nearest call if there is one. */
export function missingInWords({ tool, nearest }: MissingCall): string {
  return nearest === undefined ? tool : `${tool} (nearest is ${nearest})`;
}
