/** The contract of a fault: what befalls a service under load, and what it has promised then. */
import type { Chance } from '../builders/seeded.ts';
import type { Host } from './host.ts';
import type { Sink } from './sink.ts';
import type { World } from './world.ts';

export interface Scene {
  readonly chance: Chance;
  readonly sink: Sink;
  /** The process that runs now. */
  readonly service: () => Host;
  /** Ends it, and starts another one over what it left, in the given world; again in a sound one when it does not come up. */
  readonly restart: (signal: 'SIGKILL' | 'SIGTERM', world?: World) => Promise<void>;
  /** Resolves when this many further requests were acknowledged, or none is for a while. */
  readonly acknowledged: (requests: number) => Promise<void>;
}

export interface Fault {
  readonly name: string;
  readonly summary: string;
  /** The world in which the service starts; `trial` counts from 0. When absent, a sound one, and the delivered command line. */
  readonly world?: (chance: Chance, trial: number) => World;
  /** True when every score of an acknowledged run has come to the backend at the end. */
  readonly scores: 'all sent' | 'may be missing';
  readonly suffer: (scene: Scene) => Promise<void>;
}
