/** What a budget bounds, and what is counted against it. */

/** Each member holds by itself; what is absent is not bounded. */
export interface BudgetLimits {
  /** US dollars of a day (UTC). */
  readonly usdPerDay?: number;
  readonly requestsPerDay?: number;
  /** Of the input and of the answer together. */
  readonly tokensPerDay?: number;
  readonly requestsPerMinute?: number;
  readonly tokensPerMinute?: number;
}

/** Whole numbers. Money is in billionths of a US dollar, so that sums of small prices stay exact. */
export interface Amount {
  readonly nanoUsd: number;
  readonly requests: number;
  readonly tokens: number;
}

export type Measure = keyof Amount;

export const measures: readonly Measure[] = ['nanoUsd', 'requests', 'tokens'];

export const noAmount: Amount = { nanoUsd: 0, requests: 0, tokens: 0 };

export function eachMeasure(of: (measure: Measure) => number): Amount {
  return { nanoUsd: of('nanoUsd'), requests: of('requests'), tokens: of('tokens') };
}

export function sumOfAmounts(one: Amount, other: Amount): Amount {
  return eachMeasure((measure) => one[measure] + other[measure]);
}

/** Never less than nothing. */
export function leftOf(from: Amount, taken: Amount): Amount {
  return eachMeasure((measure) => Math.max(0, from[measure] - taken[measure]));
}

export function isNothing(amount: Amount): boolean {
  return measures.every((measure) => amount[measure] === 0);
}

/** Of one request. */
export interface Tokens {
  readonly input: number;
  readonly output: number;
}

/** What became of a request: what it used; nothing; nobody knows, and it counts as the most that it may have cost; or it never left, and does not count as a request. */
export type Used = Tokens | 'nothing' | 'unknown' | 'unsent';

export type Settle = (used: Used) => void;

export interface Refusal {
  /** The error of the request that is not sent. */
  readonly refused: string;
}

/** Where a budget is kept. */
export interface BudgetReservation {
  /** `most` is an upper bound of what the request uses. Waits while a limit of the minute leaves no room, until the signal. Rejects when the store cannot be used. */
  take(most: Tokens, signal?: AbortSignal): Promise<Settle | Refusal>;
}
