/** The part of a store that gathers the turns of sessions, for evaluators that judge a session as a whole. */
import type { Micros } from '../timestamp.ts';
import type { Run } from '../agent-trace.ts';

/** A session in which nothing has happened for a while, since something had. */
export interface RipeSession {
  readonly id: number;
  /** Rises with each change: a turn more, one that is revised, or one that turned out to be part of another run. */
  readonly revision: number;
  /** How often it has been handed on, with this time. */
  readonly times: number;
  readonly name: string;
  readonly party: string;
  /** In order, as they left. */
  readonly turns: readonly Run[];
  /** Turns that are not there any more, because there were too many or their runs have gone, or that cannot be read. */
  readonly leftOut: number;
}

export interface RipeQuery {
  /** Sessions that have not changed since. */
  readonly quietBefore: Micros;
  /** Sessions that have changed since they were judged, and did so first before this; also where they still do. */
  readonly changedBefore: Micros;
  readonly limit: number;
}

export interface SessionCounts {
  /** All that are remembered and chosen. */
  readonly held: number;
  /** With those that were passed over; rather too many than too few. */
  readonly rows: number;
  /** Of those that are held, the ones that are not handed on yet, by the line in which they will wait. */
  readonly waiting: readonly { readonly party: string; readonly sessions: number }[];
}

export interface JudgeSessionStore {
  /** Those that changed first, and are not being judged already. */
  ripe(query: RipeQuery): Promise<readonly RipeSession[]>;
  /**
   * Makes a job of it, about its last turn, to which its verdict moves where it has one. One transaction; false: it has changed meanwhile, or somebody else has done so. Without a
   * turn nothing waits any more.
   */
  handOn(session: RipeSession, at: Micros): Promise<boolean>;
  counts(): Promise<SessionCounts>;
  /** Forgets so many sessions at most that have not changed since: a later turn begins another one. Gives how many. */
  forget(before: Micros, limit: number): Promise<number>;
}

/** Turns of a session that are kept. */
export const sessionTurnsMax = 100;

/** Which of so many turns, in order, makes room for another: those at the beginning and at the end tell most. */
export function surplusTurn(turns: number): number {
  return Math.floor(turns / 2);
}

/** The last turn, with those before it. Undefined: there is none. */
export function sessionRun({ turns, times, leftOut }: Pick<RipeSession, 'turns' | 'times' | 'leftOut'>): Run | undefined {
  const last = turns.at(-1);
  return last === undefined
    ? undefined
    : {
        ...last,
        session: { revision: times, turns: turns.length + leftOut, leftOut, earlier: turns.slice(0, -1).map(({ trace }) => trace) },
      };
}
