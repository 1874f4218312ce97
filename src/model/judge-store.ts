/** The parts of a store that keep what judges are still to be asked, what they answered, and what they have cost. */
import type { Micros } from '../stores/store.ts';
import type { Run } from './agent-trace.ts';
import type { EvaluatorKind } from './verdict.ts';

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

/** An evaluator that was chosen to be asked about a run, and is not done. It is written with the run. */
export interface NewJudgeJob {
  /** Of the configured evaluator. */
  readonly name: string;
  readonly evaluator: string;
  readonly evaluatorKind: EvaluatorKind;
  /** Whose places it takes: name of a judge, `jury:` and the name of an evaluator that asks several, or `http:` and that of one that asks an endpoint. */
  readonly party: string;
  /** Of the evaluator as it was chosen. */
  readonly optionsHash: string;
  /** With which it was chosen. */
  readonly probability: number;
  readonly offeredAt: Micros;
}

export interface WaitingJob extends NewJudgeJob {
  readonly id: number;
  /** As it left, of the revision that is asked about; undefined: what stands there cannot be read. */
  readonly run: Run | undefined;
}

/** Of one run and evaluator there is one job, that of the newest revision. It goes when an item says that it is answered, and with its run. */
export interface JudgeJobStore {
  /** Oldest first: of a party, or of all of them what was offered before a time. */
  due(query: { readonly party?: string; readonly before?: Micros; readonly limit: number; readonly except: readonly number[] }): Promise<readonly WaitingJob[]>;
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

export interface AnswerBounds {
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
