/**
 * Consistent probability sampling, as OpenTelemetry's TraceState probability sampling defines it: a trace carries 56 random bits R
 * and a sampler keeps it when R is at least its threshold T. No salt: replicas agree, and a higher rate keeps all that a lower one
 * keeps. Within what an upstream sampler has let through (`th`), the rate is a share of that.
 */
import type { TraceId } from '../../model/ids.ts';

export interface SampleInput {
  readonly traceId: TraceId;
  readonly traceState: string;
  /** A share 0..1 of the received runs. */
  readonly rate: number;
  /** The least probability of a sampler before the service that is believed, 0..1; left out: `upstreamProbabilityMin`. */
  readonly upstreamMin?: number;
}

export interface SampleDecision {
  readonly sampled: boolean;
  /** The probability of inclusion among all traces there were, so upstream probability × rate. */
  readonly probability: number;
  /** The trace claims that the samplers before the service keep fewer than `upstreamMin`; it counts as if they kept that share. */
  readonly isRaised?: true;
}

/**
 * A run counts 1 / p in a rate, and whoever sends a span writes its threshold: 2^-56 would count as 72 quadrillion runs. Samplers of busy services
 * keep one trace in a thousand, seldom one in ten thousand.
 */
export const upstreamProbabilityMin = 0.0001;

/** W3C allows 32 members; longer lists are not searched further. */
const traceStateMembersMax = 32;
const RANDOM_BITS = 56n;
const ALL = 1n << RANDOM_BITS;
const RANDOM_VALUE = /^[0-9a-f]{14}$/;
/** Trailing zeros may be left out. */
const THRESHOLD = /^[0-9a-f]{1,14}$/;

export function sampleDecision({ traceId, traceState, rate, upstreamMin = upstreamProbabilityMin }: SampleInput): SampleDecision {
  const { randomness, upstreamKept: claimed } = traceRandomness(traceId, traceState);
  const least = BigInt(Math.round(Math.min(1, upstreamMin) * Number(ALL)));
  const isRaised = claimed < least;
  const upstreamKept = isRaised ? least : claimed;
  const share = rate > 0 ? Math.min(rate, 1) : 0;
  // How many of the 2^56 random values are kept; the product with a power of two is exact.
  const kept = (upstreamKept * BigInt(Math.round(share * Number(ALL)))) >> RANDOM_BITS;
  return {
    sampled: kept > 0n && randomness >= ALL - kept,
    probability: (Number(upstreamKept) / Number(ALL)) * share,
    ...(isRaised ? { isRaised } : {}),
  };
}

function traceRandomness(traceId: TraceId, traceState: string): { readonly randomness: bigint; readonly upstreamKept: bigint } {
  const { th, rv } = openTelemetryMember(traceState);
  const randomness = BigInt(`0x${rv ?? traceId.slice(-14)}`);
  const upstreamThreshold = th === undefined ? 0n : BigInt(`0x${th.padEnd(14, '0')}`);
  // A trace below its own upstream threshold was not chosen by it: that threshold says nothing about this trace.
  return { randomness, upstreamKept: randomness >= upstreamThreshold ? ALL - upstreamThreshold : ALL };
}

/** The sub-keys `th` and `rv` of the tracestate member `ot`; what is malformed counts as absent. */
function openTelemetryMember(traceState: string): { readonly th?: string; readonly rv?: string } {
  const members = traceState.split(',', traceStateMembersMax);
  const own = members.map((text) => text.trim()).find((text) => text.startsWith('ot='));
  if (own === undefined) return {};
  const pairs = new Map(
    own
      .slice('ot='.length)
      .split(';')
      .map((pair) => [pair.slice(0, 3), pair.slice(3)] as const),
  );
  const th = pairs.get('th:');
  const rv = pairs.get('rv:');
  return {
    ...(th !== undefined && THRESHOLD.test(th) ? { th } : {}),
    ...(rv !== undefined && RANDOM_VALUE.test(rv) ? { rv } : {}),
  };
}
