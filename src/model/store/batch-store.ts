/** The part of a store that keeps which questions are in a batch at a judge's endpoint, and what came back. */
import type { Micros } from '../timestamp.ts';

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

export interface KeptBatch extends NewBatch {
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
