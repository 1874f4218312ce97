/** What a configuration entry says about the batches of a judge. */
import type { TokenPrice } from '../budget/token-cost.ts';

export interface BatchSettings {
  /** Between two looks at what is under way. */
  readonly pollMs: number;
  /** How long questions gather. */
  readonly gatherMs: number;
  /** A batch that is not done by then is cancelled. */
  readonly withinMs: number;
  /** Questions of one batch. */
  readonly requests: number;
  /** Of the file of one batch. */
  readonly bytes: number;
  /** Batches at one time. */
  readonly inFlight: number;
  /** Absent: that of the judge. */
  readonly price?: TokenPrice;
}
