/** The status of one entry of `export`, for people. Times are epoch milliseconds. */
export type ExporterStatus = ScoresStatus | SpansStatus | MetricsStatus;

/** The status of an entry. An entry that forwards spans has a second one, for scores that are too late to be forwarded. */
export interface EntryStatus {
  readonly name: string;
  /** The value of `to` in the entry. */
  readonly kind: string;
  /** False when the entry has left the configuration, but its remaining items are still sent. */
  readonly isConfigured: boolean;
  readonly status: ExporterStatus;
}

/** Metrics do not wait: the next push covers a failed one. */
export interface MetricsStatus extends BackendStatus {
  readonly sends: 'metrics';
}

/** Forwarded requests, in the journal and partly in memory. */
export interface SpansStatus extends WaitingStatus {
  readonly sends: 'spans';
}

export interface ScoresStatus extends WaitingStatus {
  readonly sends: 'scores';
  /** Items to send that have no row in the store yet. `toSend` counts items in memory and in the store. */
  readonly notStored: number;
}

interface WaitingStatus extends BackendStatus {
  readonly circuit: 'closed' | 'half_open' | 'open';
  /** Time of the next probe; `undefined` unless the circuit is open. */
  readonly retryAtMs: number | undefined;
  /** Items that are not sent yet. */
  readonly toSend: number;
  /** The part of `toSend` in progress. */
  readonly sending: number;
  /** Time of the oldest item in memory; `undefined` when there is none. */
  readonly oldestAtMs: number | undefined;
}

interface BackendStatus extends BackendPast {
  /** Error of the last failure; `undefined` when the backend takes items. */
  readonly fault: string | undefined;
}

export interface BackendPast {
  /** Last success of this process. */
  readonly sentAtMs: number | undefined;
  /** Last failure of this process, also when a success followed. */
  readonly lastFailure: ReportedFailure | undefined;
}

export interface ReportedFailure {
  readonly atMs: number;
  readonly error: string;
  /** A word of low cardinality, as in metrics. */
  readonly reason: string;
  /** The remedy as a sentence; empty when unknown. */
  readonly todo: string;
}
