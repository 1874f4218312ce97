/** The part of a store that its processes share: who is there, and which of them does a task that one process does at a time. */
import type { Micros } from '../timestamp.ts';
import type { Lease } from './lease.ts';

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
  /** Time of its last sign of life, by the clock of the store. */
  readonly seenAt: Micros;
  /** By how much its clock is ahead of that of the store; below 0 when it is behind. `undefined`: a replica of an earlier release. */
  readonly skew: Micros | undefined;
}

/** For people: several replicas may run on one host. */
export function replicaName({ host, id }: Pick<Replica, 'host' | 'id'>): string {
  return `${host} ${id.slice(0, 8)}`;
}

/** Milliseconds that the clock of a replica may differ from that of the store without a notice. */
export const clockSkewMaxMs = 5_000;

export interface ReplicaStore {
  /** True when other processes may have the store open at the same time. */
  readonly isShared: boolean;
  /** The time that applies to leases, when the clock of the caller shows `now`. */
  time(now: Micros): Promise<Micros>;
  /** Writes the sign of life of a process, whose clock shows `seenAt`, and deletes processes that were seen last before `forget`. */
  seen(replica: Replica, forget: Micros): Promise<void>;
  /** Takes free tasks and those of an expired lease, and renews own ones. Resolves with the tasks that the owner holds. */
  hold(tasks: readonly string[], lease: Lease): Promise<readonly string[]>;
  /** The process has ended in order: frees its tasks and deletes its sign of life. */
  left(id: string): Promise<void>;
  /** By their start, the oldest first. */
  list(): Promise<readonly Replica[]>;
  /** Tasks with their owner, sorted by name. */
  tasks(now: Micros): Promise<readonly { readonly name: string; readonly owner: string }[]>;
}
