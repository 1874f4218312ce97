/** A session in a list: the runs of one tenant with the same session id. */
import type { SpanId, Tenant, TraceId } from '../ids.ts';
import type { Micros } from '../timestamp.ts';
import type { VerdictWord } from '../verdict.ts';

/** Figures over all runs of a session, also those that the filter leaves out. */
export interface SessionRow {
  readonly id: string;
  readonly tenant: Tenant;
  /** By name, at most `sessionAgentsMax`. */
  readonly agents: readonly string[];
  /** Number of runs, at most `sessionRunsMax`. */
  readonly turns: number;
  /** False when the session has more runs, and the figures are those of the newest. */
  readonly isWhole: boolean;
  readonly startedAt: Micros;
  readonly endedAt: Micros;
  /** Sum of the durations of the runs. */
  readonly runMicros: Micros;
  /** Sums over the runs; `undefined` when one run has none. */
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  /** In US dollars. */
  readonly costUsd: number | undefined;
  /** The failed verdict with the lowest score, otherwise the verdict with the lowest score; `undefined` when no run has a score. */
  readonly worst: { readonly name: string; readonly verdict: VerdictWord; readonly score: number } | undefined;
}

/** Runs of a session that its figures cover. */
export const sessionRunsMax = 1_000;
export const sessionAgentsMax = 20;

export interface WorstTurns {
  /** Number of runs, at most `sessionRunsMax`. */
  readonly turns: number;
  /** False when the session has more runs, and these are the newest. */
  readonly isWhole: boolean;
  /** Without verdicts on the whole session. In order of the first appearance of a name. */
  readonly worst: readonly WorstTurnRow[];
}

/** The worst turn of one evaluator. The last five are `undefined` when it scored no turn. */
export interface WorstTurnRow {
  readonly name: string;
  /** Number of scored turns. */
  readonly scored: number;
  /** Index of the turn with the lowest score, by start; the first of equal ones. */
  readonly turn: number | undefined;
  readonly score: number | undefined;
  readonly verdict: VerdictWord | undefined;
  readonly traceId: TraceId | undefined;
  readonly spanId: SpanId | undefined;
}
