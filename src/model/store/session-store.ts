/** The part of a store that gathers turns of sessions, for evaluators of whole sessions. */
import type { Micros } from '../timestamp.ts';
import type { Run } from '../agent-trace.ts';

/** A changed session that has been quiet for a while. */
export interface RipeSession {
  readonly id: number;
  /** Rises with each change: a new turn, a revised turn, or a turn that belongs to another run. */
  readonly revision: number;
  /** How often the session has been evaluated, this time included. */
  readonly times: number;
  readonly name: string;
  readonly queueKey: string;
  /** In order, as written. */
  readonly turns: readonly Run[];
  /** Number of missing turns: beyond the limit, deleted with their runs, or unreadable. */
  readonly leftOut: number;
}

export interface RipeQuery {
  /** Sessions without a change since then. */
  readonly quietBefore: Micros;
  /** Sessions whose first change since their evaluation is older, quiet or not. */
  readonly changedBefore: Micros;
  readonly limit: number;
}

export interface SessionCounts {
  /** Chosen sessions. */
  readonly held: number;
  /** All rows, including sessions that were not chosen; an upper bound. */
  readonly rows: number;
  /** Chosen sessions that are not handed on yet, by queue key. */
  readonly waiting: readonly { readonly queueKey: string; readonly sessions: number }[];
}

export interface JudgeSessionStore {
  /** Sessions that are not being evaluated, in the order of their changes. */
  ripe(query: RipeQuery): Promise<readonly RipeSession[]>;
  /**
   * Makes a job about the last turn, to which the verdict of the session moves, in one transaction. False when the session has changed or
   * another process was faster. A session without a turn gets no job.
   */
  handOn(session: RipeSession, at: Micros): Promise<boolean>;
  counts(): Promise<SessionCounts>;
  /** Deletes up to `limit` sessions without a change since `before`; a later turn begins a new one. Resolves with their number. */
  forget(before: Micros, limit: number): Promise<number>;
}

/** Limit of turns per session. */
export const sessionTurnsMax = 100;

/** Index of the turn to drop. The first and the last turns say most. */
export function surplusTurn(turns: number): number {
  return Math.floor(turns / 2);
}

/** The last turn with those before it; `undefined` without turns. */
export function sessionRun({ turns, times, leftOut }: Pick<RipeSession, 'turns' | 'times' | 'leftOut'>): Run | undefined {
  const last = turns.at(-1);
  return last === undefined
    ? undefined
    : {
        ...last,
        session: { revision: times, turns: turns.length + leftOut, leftOut, earlier: turns.slice(0, -1).map(({ trace }) => trace) },
      };
}
