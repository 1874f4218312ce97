/** Joins stored runs to the session whose last turn is one of them, by the rules of the service. */
import type { Run } from '../../model/agent-trace.ts';
import { sessionRun, sessionTurnsMax, surplusTurn } from '../../model/store/session-store.ts';
import type { Micros } from '../../model/timestamp.ts';

/** One run of a session id, a turn or the run of a sub-agent. */
export interface SessionMember {
  /** `trace/span`. */
  readonly id: string;
  readonly traceId: string;
  readonly startedAt: Micros;
  readonly endedAt: Micros;
}

/** The session whose last turn is a given run. */
export interface JoinedSession {
  readonly kind: 'session';
  /** The last turn with those before it. */
  readonly run: Run;
  /** As it came: conditions of evaluators are about the first turn. */
  readonly first: Run;
}

/** `goes_on`: a later turn is the last one. `not_joined`: a part is missing, so nothing is known about the session. */
export type SessionOfRun = JoinedSession | { readonly kind: 'goes_on' } | { readonly kind: 'not_joined'; readonly reason: string };

/** The members around one of them, without those beyond a pause of more than `keepMicros`. Sorted, oldest first. */
export function aroundMember<Member extends SessionMember>(
  members: readonly Member[],
  id: string,
  keepMicros: Micros,
): { readonly before: readonly Member[]; readonly after: readonly Member[] } {
  let [from, found, ended] = [0, -1, -Infinity];
  for (const [at, { id: own, startedAt, endedAt }] of members.entries()) {
    if (startedAt - ended > keepMicros) {
      if (found >= 0) return { before: members.slice(from, found), after: members.slice(found + 1, at) };
      from = at;
    }
    if (own === id) found = at;
    ended = Math.max(ended, endedAt);
  }
  return found < 0 ? { before: [], after: [] } : { before: members.slice(from, found), after: members.slice(found + 1) };
}

/** True when a run is a turn, not part of one. */
export function isTurn({ parent, partOf }: Pick<Run, 'parent' | 'partOf'>): boolean {
  return parent === undefined && partOf === undefined;
}

interface Turn {
  readonly run: Run;
  readonly at: SessionMember;
}

export interface SessionTurns {
  add(turn: Turn): void;
  /** `times`: how often the session is judged, this time included. */
  session(times: number): JoinedSession | undefined;
}

/** The turns of one session in their order. Holds no more than the service does. `leaving`: a run as it leaves for judges. */
export function sessionTurns(leaving: (run: Run) => Run): SessionTurns {
  const turns: Turn[] = [];
  let first: Turn | undefined;
  let leftOut = 0;
  return {
    add({ run, at }) {
      if (first === undefined || isBefore(at, first.at)) first = { run, at };
      const place = turns.findLastIndex((turn) => !isBefore(at, turn.at)) + 1;
      turns.splice(place, 0, { run: leaving(run), at });
      if (turns.length <= sessionTurnsMax) return;
      turns.splice(surplusTurn(turns.length), 1);
      leftOut++;
    },
    session(times) {
      const run = sessionRun({ turns: turns.map((turn) => turn.run), times, leftOut });
      return run === undefined || first === undefined ? undefined : { kind: 'session', run, first: first.run };
    },
  };
}

function isBefore(one: SessionMember, other: SessionMember): boolean {
  return one.startedAt < other.startedAt;
}
