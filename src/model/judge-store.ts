/** The part of a store that keeps what judges have cost. */

/** A day in UTC, as 2026-01-31. */
export type Day = string;

/** Whole numbers. Money is in billionths of a US dollar, so that sums of small prices stay exact. */
export interface Spending {
  readonly nanoUsd: number;
  readonly requests: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** What a judge has cost on a day, and what calls that are not over may cost yet. */
export interface DaySpend extends Spending {
  readonly reservedNanoUsd: number;
}

export interface SpendEntry {
  /** Name of the judge's entry in the configuration. */
  readonly judge: string;
  readonly day: Day;
  /** Of calls that are over. */
  readonly spent: Spending;
  /** Reserved before, and either spent or not needed. */
  readonly releasedNanoUsd: number;
  /** Reserved now, if the day's sum of spent and reserved stays within the limit; else not at all. */
  readonly wantedNanoUsd: number;
  readonly limitNanoUsd: number;
}

export interface JudgeSpendStore {
  /** One transaction: what is spent and released is noted in any case. */
  enter(entry: SpendEntry): Promise<{ readonly isGranted: boolean; readonly spend: DaySpend }>;
  of(judge: string, day: Day): Promise<DaySpend>;
  /**
   * Once, before anything is reserved: what a process that has ended had reserved counts as spent, for nobody knows what became of its calls. Days before
   * `forget` are deleted.
   */
  adopt(forget: Day): Promise<void>;
}

export const noSpending: Spending = { nanoUsd: 0, requests: 0, inputTokens: 0, outputTokens: 0 };

export function sumOfSpending(one: Spending, other: Spending): Spending {
  return { nanoUsd: one.nanoUsd + other.nanoUsd, requests: one.requests + other.requests, inputTokens: one.inputTokens + other.inputTokens, outputTokens: one.outputTokens + other.outputTokens };
}

/** What a day comes to after an entry: the rule of every store. */
export function enteredSpend(before: DaySpend, { spent, releasedNanoUsd, wantedNanoUsd, limitNanoUsd }: Omit<SpendEntry, 'judge' | 'day'>): { readonly isGranted: boolean; readonly spend: DaySpend } {
  const sum = sumOfSpending(before, spent);
  const reservedNanoUsd = Math.max(0, before.reservedNanoUsd - releasedNanoUsd);
  const isGranted = sum.nanoUsd + reservedNanoUsd + wantedNanoUsd <= limitNanoUsd;
  return { isGranted, spend: { ...sum, reservedNanoUsd: reservedNanoUsd + (isGranted ? wantedNanoUsd : 0) } };
}
