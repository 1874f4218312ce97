/** The surroundings that parts of a running service share. */
import type { Clock, Sleep } from '../model/clock.ts';
import type { Telemetry } from './telemetry.ts';

export interface Context {
  readonly clock: Clock;
  readonly sleep: Sleep;
  readonly telemetry: Telemetry;
}

/** Adds the report of failures, for parts that work in the background. */
export interface TaskContext extends Context {
  readonly onFault: (error: unknown) => void;
}

/** Adds the long rest, for parts that have nothing to do at times. */
export interface RestingContext extends TaskContext {
  /** Rests while there is no work. Default: `sleep`. */
  readonly rest?: Sleep | undefined;
}
