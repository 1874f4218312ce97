/** The part of a store that keeps process models: one for each version of an agent. */
import type { Tenant } from '../ids.ts';
import type { ProcessModel } from '../process-model.ts';
import type { Micros } from '../timestamp.ts';

/** Empty texts: the spans name no agent, or no version. */
export interface ProcessKey {
  readonly tenant: Tenant;
  readonly agent: string;
  readonly version: string;
}

/** A process in a list, without its model. */
export interface ProcessRow extends ProcessKey {
  /** Runs that its model was learnt from. */
  readonly runs: number;
  /** True when nothing more is learnt. */
  readonly isFrozen: boolean;
  readonly beganAt: Micros;
  readonly changedAt: Micros;
}

export interface StoredProcess extends ProcessRow {
  readonly model: ProcessModel;
}

export interface LearningPolicy {
  readonly runsMax: number;
  /** When true, the model is frozen at `runsMax` runs; when false, all counts are halved there, and learning goes on. */
  readonly freezes: boolean;
}

/** Limit per tenant; those that were not used for longest go first. */
export const processesMax = 1_000;

export interface ProcessStore {
  /** Those used last come first. */
  list(query: { readonly tenant?: Tenant; readonly agent?: string; readonly limit: number }): Promise<readonly ProcessRow[]>;
  read(key: ProcessKey): Promise<StoredProcess | undefined>;
  /** The process of the same agent that was begun last before this one. */
  before(row: Pick<ProcessRow, keyof ProcessKey | 'beganAt'>): Promise<StoredProcess | undefined>;
  /**
   * Adds what was learnt since the last time and gives the sum, in one transaction: several threads may learn one process. A frozen process does not
   * change.
   */
  add(key: ProcessKey, learnt: ProcessModel, policy: LearningPolicy & { readonly at: Micros }): Promise<StoredProcess>;
  /** Resolves with `false` when there is none. */
  remove(key: ProcessKey): Promise<boolean>;
  /** Notes that processes were used. */
  used(keys: readonly ProcessKey[], at: Micros): Promise<void>;
}
