/** How what one entry of `export` sends stands, for people. Times are milliseconds since the epoch. */
export type ExporterStatus = ScoresStatus | SpansStatus | MetricsStatus;

/** Of an entry. One that sends agents' spans on has two of them: the scores that come too late for these go by themselves. */
export interface EntryStatus {
  readonly name: string;
  /** `to` of the entry. */
  readonly kind: string;
  /** False: it is no longer in the configuration; what it has still goes. */
  readonly isConfigured: boolean;
  readonly status: ExporterStatus;
}

/** Nothing of it waits: what a push could not bring, the next one does. */
export interface MetricsStatus extends BackendStatus {
  readonly sends: 'metrics';
}

/** Requests of agents that are to go on, in the journal and partly in memory. */
export interface SpansStatus extends WaitingStatus {
  readonly sends: 'spans';
}

export interface ScoresStatus extends WaitingStatus {
  readonly sends: 'scores';
  /** Of what is to be sent, that which no row of the store stands for yet. `toSend`: in memory and in the store, whether it was read from there or not. */
  readonly notStored: number;
}

interface WaitingStatus extends BackendStatus {
  readonly circuit: 'closed' | 'half_open' | 'open';
  /** While the circuit is open: when the backend is tried again. */
  readonly retryAtMs: number | undefined;
  /** All that is not sent yet. */
  readonly toSend: number;
  /** Of these, those that are on their way. */
  readonly sending: number;
  /** When the oldest of those in memory was scored, or came; undefined: there is none. */
  readonly oldestAtMs: number | undefined;
}

interface BackendStatus extends BackendPast {
  /** Why the backend took nothing the last time; undefined: it takes what it gets. */
  readonly fault: string | undefined;
}

export interface BackendPast {
  /** When the backend last took something, since the process began. */
  readonly sentAtMs: number | undefined;
  /** The last attempt that failed, since the process began, whatever came after it. */
  readonly lastFailure: ReportedFailure | undefined;
}

export interface ReportedFailure {
  readonly atMs: number;
  readonly error: string;
  /** Of low cardinality, as metrics have it. */
  readonly reason: string;
  /** A sentence: what helps. Empty: nobody knows. */
  readonly todo: string;
}
