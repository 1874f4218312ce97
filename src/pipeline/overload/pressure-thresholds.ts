/** What bears on the service, each as a share of what it can bear, and from which share on what is given up. */

export interface PressureThresholds {
  /** From here on no judge is asked. */
  readonly shedJudges: number;
  /** From here on the store keeps verdicts alone, no content. */
  readonly shedContent: number;
  /** From here on no more is taken than gets done. */
  readonly ease: number;
  /** From here on requests are refused. */
  readonly refuse: number;
  /** From here on also those of senders that take little. */
  readonly refuseAll: number;
  /** Of the bounds at which a level was entered: below it the level may be left. */
  readonly leaveShare: number;
}

const never = Infinity;

export const pressureThresholds = {
  /** Bytes of requests that are not answered yet, of those that may be in flight. Each request is refused by itself when there is no room for it. */
  in_flight: { shedJudges: 0.5, shedContent: 0.75, ease: never, refuse: never, refuseAll: never, leaveShare: 0.8 },
  /** Bytes of open traces, of those that may be held. At the bound the oldest would be closed as they are. */
  open_traces: { shedJudges: 0.7, shedContent: 0.8, ease: 0.85, refuse: 0.95, refuseAll: 0.99, leaveShare: 0.8 },
  /** How late closing is, of `limits.closing_lag`. */
  closing: { shedJudges: 0.25, shedContent: 0.5, ease: 0.2, refuse: 1, refuseAll: 2, leaveShare: 0.8 },
  /** How late the event loop is, of a second. */
  event_loop: { shedJudges: 0.4, shedContent: 0.6, ease: 0.7, refuse: 1, refuseAll: 2, leaveShare: 0.8 },
  /** Bytes of the journal that hold records, of `limits.journal_bytes`. Judges and content take none of them. */
  journal: { shedJudges: never, shedContent: never, ease: never, refuse: 1, refuseAll: 1, leaveShare: 0.8 },
  /** Requests that have not gone on to the target of `forward`, of those that may wait. Their bytes are the journal's. */
  forward: { shedJudges: never, shedContent: never, ease: never, refuse: 1, refuseAll: 1, leaveShare: 0.8 },
  /** Runs that wait for the store, of those that may. Refusing would not help: it drops the oldest by itself when it cannot be written. */
  store: { shedJudges: 0.3, shedContent: 0.3, ease: 0.05, refuse: never, refuseAll: never, leaveShare: 0.8 },
  /** Resident memory of the process, of `limits.memory_bytes`. Closed traces go before anything is shed, so it is never far below. */
  memory: { shedJudges: 0.95, shedContent: 1, ease: never, refuse: 1.03, refuseAll: 1.07, leaveShare: 0.95 },
} as const satisfies { readonly [name: string]: PressureThresholds };

export type PressureName = keyof typeof pressureThresholds;
/** Shares: 0 is at rest. */
export type Pressures = { readonly [name in PressureName]: number };

export const pressureNames = Object.keys(pressureThresholds) as readonly PressureName[];
