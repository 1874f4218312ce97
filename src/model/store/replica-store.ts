/** The part of a store that its processes share: who is there, and which of them does a task that one process does at a time. */
import type { Micros } from '../timestamp.ts';

/** A process that has the store open. */
export interface Replica {
  /** The name under which it holds leases; a process over the same journal has the same one. */
  readonly id: string;
  readonly host: string;
  /** Version of tracejury. */
  readonly version: string;
  /** Hash of the settings that replicas have in common. */
  readonly configuration: string;
  readonly startedAt: Micros;
  /** Time of its last sign of life. */
  readonly seenAt: Micros;
}

export interface TaskLease {
  readonly owner: string;
  readonly now: Micros;
  readonly until: Micros;
}

export interface ReplicaStore {
  /** True: other processes may have the store open at the same time. */
  readonly isShared: boolean;
  /** Writes the sign of life of a process, and deletes processes that were seen last before `forget`. */
  seen(replica: Replica, forget: Micros): Promise<void>;
  /** Takes free tasks and those of an expired lease, and renews own ones. Resolves with the tasks that the owner holds. */
  hold(tasks: readonly string[], lease: TaskLease): Promise<readonly string[]>;
  /** The process has ended in order: frees its tasks and deletes its sign of life. */
  left(id: string): Promise<void>;
  /** By their start, the oldest first. */
  list(): Promise<readonly Replica[]>;
  /** Tasks with their owner, sorted by name. */
  tasks(now: Micros): Promise<readonly { readonly name: string; readonly owner: string }[]>;
}
