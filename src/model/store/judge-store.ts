/** The parts of a store that keep what judges are still to be asked, what they answered, and what they have cost. */
import type { Micros } from '../timestamp.ts';
import type { Run } from '../agent-trace.ts';
import { leftOf, measures, sumOfAmounts, type Amount, type Measure } from '../budget.ts';
import type { NewJudgeJob } from '../judge-work.ts';

/** A day in UTC, as 2026-01-31. */
export type Day = string;

/** Whole numbers. Money is in billionths of a US dollar, so that sums of small prices stay exact. */
export interface Spending {
  readonly nanoUsd: number;
  readonly requests: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** What was spent of a budget on a day, and what calls that are not over may cost yet, those of every process. */
export interface DaySpend extends Spending {
  readonly reserved: Amount;
}

export interface SpendEntry {
  /** Whose budget: name of a judge's entry in the configuration, or `evaluator:` and the name of an evaluator's. */
  readonly account: string;
  readonly day: Day;
  /** The process that reserves. */
  readonly owner: string;
  readonly at: Micros;
  /** Of calls that are over. */
  readonly spent: Spending;
  /** Reserved before by this owner, and either spent or not needed. */
  readonly released: Amount;
  /** Reserved now, if the day's sums of spent and reserved stay within the limits; else not at all. */
  readonly wanted: Amount;
  readonly limits: Partial<Amount>;
}

export interface MinuteEntry {
  readonly account: string;
  readonly at: Micros;
  /** Noted now, if the last sixty seconds stay within the limits; else not at all. */
  readonly wanted: Amount;
  readonly limits: Partial<Amount>;
  /** Noted before, in the second (since 1970) that is named, and not needed. */
  readonly back: readonly { readonly second: number; readonly amount: Amount }[];
}

export interface JudgeSpendStore {
  /** One transaction: what is spent and released is noted in any case. `over`: the limit that leaves no room; undefined: it is reserved. */
  enter(entry: SpendEntry): Promise<{ readonly over: Measure | undefined; readonly spend: DaySpend }>;
  /** By account. */
  on(day: Day): Promise<ReadonlyMap<string, DaySpend>>;
  /** An owner is alive: what it has reserved stays so. */
  renew(owner: string, at: Micros): Promise<void>;
  /**
   * What was reserved by owners that were last heard of before a time counts as spent, for nobody knows what became of their calls. Days before `forget` are
   * deleted.
   */
  adopt(gone: { readonly before: Micros; readonly forget: Day }): Promise<void>;
  /** One transaction: what is given back is noted in any case. Whether there is room now. */
  pass(entry: MinuteEntry): Promise<boolean>;
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

/** A reservation whose owner is gone, as spending: which tokens they would have been is not known. */
export function adopted({ nanoUsd, requests, tokens }: Amount): Spending {
  return { nanoUsd, requests, inputTokens: tokens, outputTokens: 0 };
}

interface Standing {
  /** After what the entry has spent. */
  readonly spent: Spending;
  readonly own: Amount;
  /** Of the other owners together. */
  readonly others: Amount;
}

/** What an owner has reserved after an entry: the rule of every store. */
export function reservedAfter(
  { spent, own, others }: Standing,
  { released, wanted, limits }: Pick<SpendEntry, 'released' | 'wanted' | 'limits'>,
): { readonly over: Measure | undefined; readonly own: Amount; readonly spend: DaySpend } {
  const kept = leftOf(own, released);
  const taken = sumOfAmounts(amountOf(spent), sumOfAmounts(kept, others));
  const over = measures.find((measure) => taken[measure] + wanted[measure] > (limits[measure] ?? Infinity));
  const after = over === undefined ? sumOfAmounts(kept, wanted) : kept;
  return { over, own: after, spend: { ...spent, reserved: sumOfAmounts(after, others) } };
}

/** Seconds that a bound of a minute looks back. */
export const minuteSeconds = 60;

/** Whether the last sixty seconds have room: the rule of every store. A call that is larger than its bound goes when nothing else has gone. */
export function fitsMinute(noted: Amount, { wanted, limits }: Pick<MinuteEntry, 'wanted' | 'limits'>): boolean {
  return measures.every((measure) => noted[measure] === 0 || noted[measure] + wanted[measure] <= (limits[measure] ?? Infinity));
}

export interface WaitingJob extends NewJudgeJob {
  readonly id: number;
  /** As it left, of the revision that is asked about; undefined: what stands there cannot be read. */
  readonly run: Run | undefined;
}

export interface DueQuery {
  readonly party?: string;
  readonly before?: Micros;
  readonly limit: number;
  readonly except: readonly number[];
}

/** Who asks about what waits, so that of several processes over one store only one does. */
interface JobLease {
  readonly owner: string;
  readonly now: Micros;
  readonly until: Micros;
}

/** Of one run and evaluator there is one job, that of the newest revision. It goes when an item says that it is answered, and with its run, which it keeps from going by age for a while. */
export interface JudgeJobStore {
  /** Oldest first: of a party, or of all of them what was offered before a time. */
  due(query: DueQuery): Promise<readonly WaitingJob[]>;
  /** The same, taken in one statement: it is the owner's until the lease ends. What another one has is left out while its lease lasts, what the owner itself has is not. */
  take(query: DueQuery, lease: JobLease): Promise<readonly WaitingJob[]>;
  /** All that the owner has stays its own until then. */
  renew(lease: Omit<JobLease, 'now'>): Promise<void>;
  /** Anybody may take them, as far as the owner has them. */
  release(owner: string, ids: readonly number[]): Promise<void>;
  /** Without a word about their runs. */
  drop(ids: readonly number[]): Promise<void>;
  counts(): Promise<readonly { readonly party: string; readonly waiting: number; readonly oldestAt: Micros }[]>;
}

/** What a judge answered to a question, so that the same question is not asked twice. */
export interface KeptAnswer {
  /** Hash of who was asked, and what. */
  readonly key: string;
  /** JSON. */
  readonly value: string;
  readonly answeredAt: Micros;
}

interface AnswerBounds {
  readonly before: Micros;
  readonly rows: number;
  /** Characters of the values together. */
  readonly chars: number;
}

export interface JudgeAnswerStore {
  /** Not older than `since`. */
  find(key: string, since: Micros): Promise<KeptAnswer | undefined>;
  /** The newer one takes the place of the older one. */
  keep(answers: readonly KeptAnswer[]): Promise<void>;
  /** Beyond a bound the oldest go. */
  prune(bounds: AnswerBounds): Promise<void>;
}

/** The part of a store that keeps which questions are in a batch at a judge's endpoint, and what came back. */
export interface NewBatch {
  /** Ours, not to be guessed; the batch bears it at the endpoint as well. */
  readonly id: string;
  /** Name of the judge's entry. */
  readonly judge: string;
  /** Hash of its endpoint and model: those of another one cannot be asked for. */
  readonly endpoint: string;
  readonly preparedAt: Micros;
  /** By hashes of who asks, and what. */
  readonly questions: readonly string[];
}

interface KeptBatch extends NewBatch {
  /** Of the endpoint; undefined: nobody knows whether it was created. */
  readonly remoteId: string | undefined;
}

export interface BatchAnswer {
  readonly question: string;
  /** As the model wrote it. */
  readonly text: string;
}

export interface JudgeBatchStore {
  /** Before anything of it is sent. */
  prepare(batch: NewBatch): Promise<void>;
  submitted(id: string, remoteId: string): Promise<void>;
  /** The batch is over: its answers stay for whoever asks for them, its other questions go. */
  end(id: string, answers: readonly BatchAnswer[], at: Micros): Promise<void>;
  /** Oldest first. */
  unfinished(judge: string): Promise<readonly KeptBatch[]>;
  answer(question: string): Promise<string | undefined>;
  /** Of the answers, those from before a time, and the oldest beyond a number; and batches from before that time, which nobody looks after any more. */
  forget(bounds: { readonly before: Micros; readonly rows: number }): Promise<void>;
}
