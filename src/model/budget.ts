/** Limits of a budget. Each applies by itself; an absent one does not bound. */
export interface BudgetLimits {
  /** US dollars per day (UTC). */
  readonly usdPerDay?: number;
  readonly requestsPerDay?: number;
  /** Input and output tokens together. */
  readonly tokensPerDay?: number;
  readonly requestsPerMinute?: number;
  readonly tokensPerMinute?: number;
}

/** Whole numbers. Money is in billionths of a US dollar, so sums of small prices stay exact. */
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

/** Never negative. */
export function leftOf(from: Amount, taken: Amount): Amount {
  return eachMeasure((measure) => Math.max(0, from[measure] - taken[measure]));
}

export function isNothing(amount: Amount): boolean {
  return measures.every((measure) => amount[measure] === 0);
}

/** Tokens of one request. */
export interface Tokens {
  readonly input: number;
  readonly output: number;
}

/**
 * The use of a request: tokens; nothing; an unknown amount, which counts as the most possible; or it was not sent and does not count as a request.
 */
export type Used = Tokens | 'nothing' | 'unknown' | 'unsent';

export type Settle = (used: Used) => void;

export interface Refusal {
  /** The error of the request that is not sent. */
  readonly refused: string;
}

/** Reserves from a budget. */
export interface BudgetReservation {
  /**
   * `most`: an upper bound of what the request uses. Waits until the minute has room or the signal aborts. Rejects when the store fails.
   */
  take(most: Tokens, signal?: AbortSignal): Promise<Settle | Refusal>;
}
