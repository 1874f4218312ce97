/** The contract of a fault: what befalls replicas, their broker or their database under load. */
import type { Chance } from '../../builders/seeded.ts';
import type { ManyMachines, Replica } from './machines.ts';

export interface Scene extends ManyMachines {
  readonly chance: Chance;
  /** True when it takes as long as the table of the faults has it. False when it takes no longer than the fault needs to show. */
  readonly isFull: boolean;
  /** Those to which agents send. */
  readonly replicas: readonly Replica[];
  /** Starts one more, to which agents send from then on. */
  readonly add: () => Promise<Replica>;
  /** Agents send to it no more. */
  readonly remove: (replica: Replica) => void;
  /** Resolves when this many further requests were acknowledged, or none is for a while. */
  readonly acknowledged: (requests: number) => Promise<void>;
  /** Resolves when a request was refused or not answered. */
  readonly refused: () => Promise<void>;
}

export interface ManyFault {
  readonly name: string;
  readonly summary: string;
  /** Work that a process, a broker or a database had in hand when it ended may be asked or sent again. */
  readonly inHand: 'once' | 'may come again';
  /** Bytes of the broker's disk. When absent, that of the machine. */
  readonly diskBytes?: number;
  readonly suffer: (scene: Scene) => Promise<void>;
}
