/**
 * Consistent probability sampling, as OpenTelemetry's TraceState probability sampling defines it: a trace carries 56 random bits R
 * and a sampler keeps it when R is at least its threshold T. No salt: replicas agree, and a higher rate keeps all that a lower one
 * keeps. Within what an upstream sampler has let through (`th`), the rate is a share of that.
 */
import type { TraceId } from '../../model/ids.ts';
import { ofQuorum } from '../jury/jury-panel.ts';
import type { RunExpression } from './run-expression.ts';
import { holds, type RunFacts } from './run-facts.ts';

interface SampleInput {
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
  /** The part of it that is of samplers before the service; absent: they kept all. */
  readonly upstream?: number;
  /** The trace claims that the samplers before the service keep fewer than `upstreamMin`; it counts as if they kept that share. */
  readonly isRaised?: true;
}

/**
 * A run counts 1 / p in a rate, and any sender of a span writes its threshold: 2^-56 would count as 72 quadrillion runs. Samplers of busy services
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
  // The number of the 2^56 random values that are kept; the product with a power of two is exact.
  const kept = (upstreamKept * BigInt(Math.round(share * Number(ALL)))) >> RANDOM_BITS;
  return {
    sampled: kept > 0n && randomness >= ALL - kept,
    probability: (Number(upstreamKept) / Number(ALL)) * share,
    ...(upstreamKept < ALL ? { upstream: Number(upstreamKept) / Number(ALL) } : {}),
    ...(isRaised ? { isRaised } : {}),
  };
}

function traceRandomness(traceId: TraceId, traceState: string): { readonly randomness: bigint; readonly upstreamKept: bigint } {
  const { th, rv } = openTelemetryMember(traceState);
  const randomness = BigInt(`0x${rv ?? traceId.slice(-14)}`);
  const upstreamThreshold = th === undefined ? 0n : BigInt(`0x${th.padEnd(14, '0')}`);
  // The upstream sampler did not choose a trace below its own threshold: that threshold shows nothing about this trace.
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

/** How a budget is spread over the day: sampled less in time, it is not spent by noon. */

/** Share of the budget that may be spent at once; from there to the line below it the rate sinks. */
const headStart = 0.2;
/**
 * A smaller share counts as none: a verdict that represents thousands of runs shows little about them, and it is better to report that no judge was
 * asked.
 */
const shareLeast = 0.02;

interface DayShares {
  /** Share of the day (UTC) that has passed, 0..1. */
  readonly dayShare: number;
  /** Share of the day's budget that is spent; above 1 when a call cost more than expected. */
  readonly spentShare: number;
}

/**
 * The remaining share of a sample rate, 0..1. A line rises from the head start at midnight to the whole budget at the next: with as much spent as it
 * allows nothing remains of the rate, a head start below it everything, and between them the rate sinks evenly. Traffic that would cost n times the
 * budget settles at one part in n of its rate, down to a fiftieth; traffic that would cost less than the budget without its head start is not held
 * back.
 */
export function pacedShare({ dayShare, spentShare }: DayShares): number {
  const allowed = headStart + (1 - headStart) * dayShare;
  const share = Math.min(1, (allowed - spentShare) / headStart);
  return share < shareLeast ? 0 : share;
}

/** The share of a sample rate that budgets leave. */
export interface Paced {
  /** 0..1. */
  readonly left: number;
  /** Reason of a decision when nothing is left: the limit that is scarcest. */
  readonly by: string;
}

export const unpaced: Paced = { left: 1, by: '' };

/**
 * The share that the budget of an evaluator and those of its judges, one for each vote, leave together. With several judges it is the share that a
 * quorum of them can keep up: a judge whose budget is spent gives no vote, and the others go on.
 */
export function pacedBy(own: Paced, judges: readonly Paced[]): Paced {
  const left = ofQuorum(judges.map((one) => one.left));
  const theirs = judges.find((one) => one.left === left);
  return theirs === undefined || own.left <= left ? own : theirs;
}

/** A higher rate for the runs on which an expression holds. */
export interface Raise {
  readonly when: RunExpression;
  /** A share 0..1 of the received runs. */
  readonly to: number;
}

/** The least share that a run can have which may be asked about at all. */
export function leastRate(rate: number, raise: readonly Raise[]): number {
  return rate > 0 ? rate : Math.min(...raise.flatMap(({ to }) => (to > 0 ? [to] : [])));
}

/** The share of runs that an evaluator asks about: its own rate, or the highest of those that apply to the run. */
export function raisedRate(rate: number, raise: readonly Raise[], facts: () => RunFacts): number {
  if (raise.length === 0) return rate;
  const known = facts();
  return Math.max(rate, ...raise.filter(({ when }) => holds(when, known)).map(({ to }) => to));
}
