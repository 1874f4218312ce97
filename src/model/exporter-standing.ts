/** How the queue of one exporter stands, for people. Times are milliseconds since the epoch. */
export interface ExporterStanding {
  readonly circuit: 'closed' | 'half_open' | 'open';
  /** Why its backend took nothing the last time; undefined: it takes what it gets. */
  readonly fault: string | undefined;
  /** While the circuit is open: when the backend is tried again. */
  readonly retryAtMs: number | undefined;
  /** All that is not sent yet: in memory, and in the store, whether it was read from there or not. */
  readonly toSend: number;
  /** Of these, those that no row of the store stands for yet. */
  readonly notStored: number;
  /** Of these, those that are on their way. */
  readonly sending: number;
  /** When the oldest of those in memory was scored; undefined: there is none. */
  readonly oldestAtMs: number | undefined;
  /** When its backend last took something, since the process began. */
  readonly sentAtMs: number | undefined;
  /** The last attempt that failed, since the process began, whatever came after it. */
  readonly lastFailure: ToldFailure | undefined;
}

export interface ToldFailure {
  readonly atMs: number;
  readonly error: string;
  /** Of low cardinality, as metrics have it. */
  readonly reason: string;
  /** A sentence: what helps. Empty: nobody knows. */
  readonly todo: string;
}
