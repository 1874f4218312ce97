/** The parts of a store for judges: pending jobs, answers, batches and spending. */
import type { Micros } from '../timestamp.ts';
import type { Run } from '../agent-trace.ts';
import { leftOf, measures, sumOfAmounts, type Amount, type Measure } from '../budget.ts';
import type { NewJudgeJob } from '../judge-work.ts';
import type { Lease } from './lease.ts';

/** A day in UTC, as 2026-01-31. */
export type Day = string;

/** Whole numbers. Money is in billionths of a US dollar, so that sums of small prices stay exact. */
export interface Spending {
  readonly nanoUsd: number;
  readonly requests: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Spending of a budget on one day, and open reservations of all processes. */
export interface DaySpend extends Spending {
  readonly reserved: Amount;
}

export interface SpendEntry {
  /** Account of the budget: the name of a judge's entry, or `evaluator:` and the name of an evaluator's. */
  readonly account: string;
  readonly day: Day;
  /** The reserving process. */
  readonly owner: string;
  readonly at: Micros;
  /** Spending of finished calls. */
  readonly spent: Spending;
  /** Earlier reservations of this owner that are spent or not needed. */
  readonly released: Amount;
  /** New reservation. It is made only if the day's sums stay within the limits. */
  readonly wanted: Amount;
  readonly limits: Partial<Amount>;
}

export interface MinuteEntry {
  readonly account: string;
  readonly at: Micros;
  /** New amount. It is recorded only if the last sixty seconds stay within the limits. */
  readonly wanted: Amount;
  readonly limits: Partial<Amount>;
  /** Earlier amounts, by second since 1970, that were not needed. */
  readonly back: readonly { readonly second: number; readonly amount: Amount }[];
}

export interface JudgeSpendStore {
  /**
   * Records spending and releases in any case, in one transaction. `over`: the limit without room; `undefined` when the reservation is
   * made.
   */
  enter(entry: SpendEntry): Promise<{ readonly over: Measure | undefined; readonly spend: DaySpend }>;
  /** Spending by account. */
  on(day: Day): Promise<ReadonlyMap<string, DaySpend>>;
  /** Renews the reservations of an owner. */
  renew(owner: string, at: Micros): Promise<void>;
  /**
   * Turns reservations into spending when their owner has not renewed since `before`, as the outcome of its calls is unknown. Deletes days
   * before `forget`. `before` counts from `now`, by the clock of the store.
   */
  adopt(gone: { readonly now: Micros; readonly before: Micros; readonly forget: Day }): Promise<void>;
  /**
   * Records returned amounts in any case, in one transaction. Resolves with the second since 1970, by the clock of the store, under which the new
   * amount is recorded; `undefined` when there is no room.
   */
  pass(entry: MinuteEntry): Promise<number | undefined>;
}

export const noSpending: Spending = { nanoUsd: 0, requests: 0, inputTokens: 0, outputTokens: 0 };

export function sumOfSpending(one: Spending, other: Spending): Spending {
  return {
    nanoUsd: one.nanoUsd + other.nanoUsd,
    requests: one.requests + other.requests,
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
  };
}

export function amountOf({ nanoUsd, requests, inputTokens, outputTokens }: Spending): Amount {
  return { nanoUsd, requests, tokens: inputTokens + outputTokens };
}

/** The reservation of a dead owner as spending; the split into input and output tokens is unknown. */
export function adopted({ nanoUsd, requests, tokens }: Amount): Spending {
  return { nanoUsd, requests, inputTokens: tokens, outputTokens: 0 };
}

interface Reservations {
  /** Including the entry's spending. */
  readonly spent: Spending;
  readonly own: Amount;
  /** Sum of the other owners. */
  readonly others: Amount;
}

/** Reservations of an owner after an entry. Every store applies this rule. */
export function reservedAfter(
  { spent, own, others }: Reservations,
  { released, wanted, limits }: Pick<SpendEntry, 'released' | 'wanted' | 'limits'>,
): { readonly over: Measure | undefined; readonly own: Amount; readonly spend: DaySpend } {
  const kept = leftOf(own, released);
  const taken = sumOfAmounts(amountOf(spent), sumOfAmounts(kept, others));
  const over = measures.find((measure) => taken[measure] + wanted[measure] > (limits[measure] ?? Infinity));
  const after = over === undefined ? sumOfAmounts(kept, wanted) : kept;
  return { over, own: after, spend: { ...spent, reserved: sumOfAmounts(after, others) } };
}

/** Length of the window of limits per minute, in seconds. */
export const minuteSeconds = 60;

/** True when the last sixty seconds have room. Every store applies this rule. A call beyond the limit goes when the window is empty. */
export function fitsMinute(noted: Amount, { wanted, limits }: Pick<MinuteEntry, 'wanted' | 'limits'>): boolean {
  return measures.every((measure) => noted[measure] === 0 || noted[measure] + wanted[measure] <= (limits[measure] ?? Infinity));
}

export interface WaitingJob extends NewJudgeJob {
  readonly id: number;
  /** The run at its revision, as written; `undefined` when the row is unreadable. */
  readonly run: Run | undefined;
}

export interface DueQuery {
  readonly queueKey?: string;
  readonly before?: Micros;
  readonly limit: number;
  readonly except: readonly number[];
}

/**
 * One job per run and evaluator, of the newest revision. An item with `answered` deletes it, and so does the deletion of its run, which it
 * delays for a while.
 */
export interface JudgeJobStore {
  /** Jobs of one queue or of all, oldest first. */
  due(query: DueQuery): Promise<readonly WaitingJob[]>;
  /** As `due`, and leases them in one statement. Leaves out jobs that another owner has leased. */
  take(query: DueQuery, lease: Lease): Promise<readonly WaitingJob[]>;
  /** Extends all leases of the owner. */
  renew(lease: Lease): Promise<void>;
  /** Ends leases of the owner. */
  release(owner: string, ids: readonly number[]): Promise<void>;
  /** Deletes jobs without a decision. */
  drop(ids: readonly number[]): Promise<void>;
  counts(): Promise<readonly { readonly queueKey: string; readonly waiting: number; readonly oldestAt: Micros }[]>;
}

/** A cached answer of a judge. */
export interface KeptAnswer {
  /** Hash of judge and question. */
  readonly key: string;
  /** JSON. */
  readonly value: string;
  readonly answeredAt: Micros;
}

interface AnswerBounds {
  readonly before: Micros;
  readonly rows: number;
  /** Limit of characters in all values together. */
  readonly chars: number;
}

export interface JudgeAnswerStore {
  /** An answer that is not older than `since`. */
  find(key: string, since: Micros): Promise<KeptAnswer | undefined>;
  /** Newer answers replace older ones. */
  keep(answers: readonly KeptAnswer[]): Promise<void>;
  /** Deletes the oldest answers beyond a limit. */
  prune(bounds: AnswerBounds): Promise<void>;
}

/** A batch of questions at a judge's endpoint. */
export interface NewBatch {
  /** Our random id; the batch also carries it at the endpoint. */
  readonly id: string;
  /** Name of the judge's entry. */
  readonly judge: string;
  /** Hash of endpoint and model. A batch of another endpoint cannot be collected. */
  readonly endpoint: string;
  readonly preparedAt: Micros;
  /** Hashes of asker and question. */
  readonly questions: readonly string[];
}

interface KeptBatch extends NewBatch {
  /** Id at the endpoint; `undefined` when it is unknown whether the batch exists. */
  readonly remoteId: string | undefined;
}

export interface BatchAnswer {
  readonly question: string;
  /** The text as the model wrote it. */
  readonly text: string;
}

/** The state of a question. */
export type QuestionState = { readonly kind: 'answered'; readonly text: string } | { readonly kind: 'in_batch'; readonly batch: string };

export interface JudgeBatchStore {
  /** Called before the batch is sent, by the process that looks after it. */
  prepare(batch: NewBatch, lease: Lease): Promise<void>;
  submitted(id: string, remoteId: string): Promise<void>;
  /** Ends a batch: stores its answers and deletes its questions. */
  end(id: string, answers: readonly BatchAnswer[], at: Micros): Promise<void>;
  /**
   * Renews the leases of the owner on unfinished batches of an endpoint, and takes those that no other process holds. `held`: ids in `known` that the
   * owner has. `taken`: its other batches, oldest first.
   */
  take(
    of: Pick<NewBatch, 'judge' | 'endpoint'> & { readonly known: readonly string[] },
    lease: Lease,
  ): Promise<{ readonly held: readonly string[]; readonly taken: readonly KeptBatch[] }>;
  /** Renews the leases of the owner on its batches of an endpoint. */
  renew(of: Pick<NewBatch, 'judge' | 'endpoint'>, lease: Lease): Promise<void>;
  /** Ends batches of a judge at other endpoints that no other process holds: their answers cannot be used any more. */
  endOthers(than: Pick<NewBatch, 'judge' | 'endpoint'>, lease: Lease): Promise<void>;
  /** Questions that are in a batch or answered. */
  find(questions: readonly string[]): Promise<ReadonlyMap<string, QuestionState>>;
  /** Deletes answers from before a time and beyond a number, and abandoned batches from before that time. */
  forget(bounds: { readonly before: Micros; readonly rows: number }): Promise<void>;
}
