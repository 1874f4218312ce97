/** What the gathering holds at most. */

export interface GroupLimits {
  /** Bytes on the wire of all spans and records that are held. */
  readonly bytesMax: number;
  /** Asked again and again: up to how many of them traces are kept that are done, or to which nothing has come for a minute. */
  readonly spareBytesMax?: () => number;
  readonly spansPerTraceMax: number;
  readonly recordsPerTraceMax: number;
  /** Traces that are done are remembered up to this number, the newest half of it at least, so that a straggler founds no new run. */
  readonly tombstonesMax: number;
}

export const defaultGroupLimits: GroupLimits = { bytesMax: 256 * 1024 * 1024, spansPerTraceMax: 50_000, recordsPerTraceMax: 50_000, tombstonesMax: 100_000 };
