/** Partitions of a shared journal: which process gathers each of them, and how far it is. */
import type { Micros } from '../timestamp.ts';

interface PartitionName {
  /** Name and id of the topic: a topic that was deleted and made again is another one. */
  readonly topic: string;
  readonly partition: number;
}

/** The right of one process to write what it gathered from a partition. It ends when another process takes the partition. */
export interface Fence extends PartitionName {
  readonly epoch: number;
}

export interface PartitionProgress {
  /** The lowest offset that is needed. -1: no process has read the partition. */
  readonly next: number;
  /** Offsets from here on were not read. */
  readonly read: number;
  /** Needed offsets between `next` and `read`, as ranges: `5-7,9`. All others there are done. */
  readonly open: string;
}

export interface OwnedPartition extends Fence, PartitionProgress {
  /** Name of the process. */
  readonly owner: string;
  readonly changedAt: Micros;
}

export interface JournalPartitionStore {
  /** Makes the process the owner of the partitions and ends the right of the ones before. */
  take(partitions: readonly PartitionName[], by: { readonly owner: string; readonly at: Micros }): Promise<readonly OwnedPartition[]>;
  /** Writes progress. Resolves with the fences that have ended; nothing is written for them. */
  save(progress: readonly (Fence & PartitionProgress)[], at: Micros): Promise<readonly Fence[]>;
  /** Partitions of all topics, in order. */
  list(): Promise<readonly OwnedPartition[]>;
}
