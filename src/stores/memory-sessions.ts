/** Turns of sessions that are judged as a whole, in a store that ends with the process. */
import type { RunDecision } from '../model/scored-run.ts';
import type { Run } from '../model/agent-trace.ts';
import type { NewJudgeJob, NewTurn, SessionChoice } from '../model/judge-work.ts';
import { sessionRun, sessionTurnsMax, surplusTurn, type JudgeSessionStore } from '../model/store/session-store.ts';
import { jobBody, jobRun } from './judge-job-codec.ts';
import { microsOf } from './row-mapping.ts';
import type { Micros } from '../model/timestamp.ts';

export interface MemorySessions extends JudgeSessionStore {
  /** Gives how sessions end that begin with the run and are not judged. */
  turn(key: string, run: Run, turn: NewTurn): readonly RunDecision[];
  /** The run is gone, and its turn counts as left out; `isPart`: it turned out to be part of another one, and was no turn. */
  forgetRun(key: string, isPart: boolean): void;
  /** The keys of the runs that are turns of sessions that wait, and came since then. */
  awaited(since: Micros): ReadonlySet<string>;
  /** Of all turns. */
  bytes(): number;
  /** With which the session was chosen of which this run is the last turn, where it was not judged yet. */
  probability(key: string, name: string): number | undefined;
}

export interface MemorySessionHost {
  hasJob(run: string, name: string): boolean;
  putJob(key: string, run: Run, job: NewJudgeJob): void;
  isThere(run: string): boolean;
  /** What is said of a session stands with another run now. */
  move(name: string, from: string, to: string): void;
}

interface Turn {
  readonly run: string;
  readonly id: number;
  readonly revision: number;
  readonly startedAt: Micros;
  /** When it came. */
  readonly notedAt: Micros;
  readonly body: Uint8Array;
}

interface Session {
  readonly id: number;
  /** Of the turns that came last. */
  choice: SessionChoice;
  /** Undefined: it was passed over. */
  readonly probability: number | undefined;
  revision: number;
  handedOn: number;
  /** How often it was. */
  times: number;
  leftOut: number;
  since: Micros;
  changed: Micros;
  /** Where its job and its verdict stand. */
  run: string | undefined;
  turns: readonly Turn[];
}

export function memorySessions(host: MemorySessionHost): MemorySessions {
  const sessions = new Map<string, Session>();
  let ids = 0;
  const isWaiting = ({ probability, revision, handedOn }: Session): boolean => probability !== undefined && revision > handedOn;

  function change(session: Session, at: Micros): void {
    if (!isWaiting(session)) session.since = at;
    session.revision++;
  }

  function addTurn(session: Session, key: string, run: Run, at: Micros): void {
    const known = session.turns.find((turn) => turn.run === key);
    if (known !== undefined && known.revision >= run.revision) return;
    const turn: Turn = {
      run: key,
      id: known?.id ?? ++ids,
      revision: run.revision,
      startedAt: microsOf(run.startUnixNano),
      notedAt: at,
      body: jobBody(run),
    };
    const turns = [...session.turns.filter((one) => one !== known), turn].sort(
      (one, other) => one.startedAt - other.startedAt || one.id - other.id,
    );
    const surplus = turns.length > sessionTurnsMax ? surplusTurn(turns.length) : -1;
    if (surplus >= 0) session.leftOut++;
    session.turns = turns.filter((_, nth) => nth !== surplus);
    change(session, at);
    session.changed = at;
  }

  return {
    turn: (key, run, { sessionId, at, choices }) =>
      choices.flatMap((choice): readonly RunDecision[] => {
        const { name, evaluator, evaluatorKind, end, mayBeChosen } = choice;
        const id = JSON.stringify([run.tenant, sessionId, name]);
        const known = sessions.get(id);
        const session = known ?? {
          id: ++ids,
          choice,
          probability: end === undefined ? choice.probability : undefined,
          revision: 0,
          handedOn: 0,
          times: 0,
          leftOut: 0,
          since: at,
          changed: at,
          run: undefined,
          turns: [],
        };
        sessions.set(id, session);
        if (session.probability === undefined) session.changed = at;
        else if (mayBeChosen) {
          session.choice = choice;
          addTurn(session, key, run, at);
        }
        return known !== undefined || end === undefined
          ? []
          : [{ name, evaluator, evaluatorKind, ...end, ...(end.decision === 'overload' ? { probability: choice.probability } : {}) }];
      }),
    forgetRun(key, isPart) {
      for (const session of sessions.values()) {
        if (session.run === key) session.run = undefined;
        const left = session.turns.filter(({ run }) => run !== key);
        if (isPart && left.length < session.turns.length) change(session, session.changed);
        if (!isPart) session.leftOut += session.turns.length - left.length;
        session.turns = left;
      }
    },
    awaited: (since) =>
      new Set(
        [...sessions.values()]
          .filter(isWaiting)
          .flatMap(({ turns }) => turns.flatMap(({ run, notedAt }) => (notedAt >= since ? [run] : []))),
      ),
    bytes: () => [...sessions.values()].reduce((sum, { turns }) => turns.reduce((own, { body }) => own + body.length, sum), 0),
    probability: (key, name) =>
      [...sessions.values()].find(
        (session) => session.choice.name === name && session.run === undefined && session.turns.at(-1)?.run === key,
      )?.probability,
    async ripe({ quietBefore, changedBefore, limit }) {
      return [...sessions.values()]
        .filter(
          (session) =>
            isWaiting(session) &&
            (session.changed <= quietBefore || session.since <= changedBefore) &&
            (session.run === undefined || !host.hasJob(session.run, session.choice.name)),
        )
        .sort((one, other) => one.since - other.since || one.id - other.id)
        .slice(0, limit)
        .map(({ id, revision, times, choice: { name, party }, turns, leftOut }) => {
          const readable = turns.flatMap(({ body }) => jobRun(body) ?? []);
          return { id, revision, times: times + 1, name, party, turns: readable, leftOut: leftOut + turns.length - readable.length };
        });
    },
    async handOn(ripe, at) {
      const session = [...sessions.values()].find(({ id }) => id === ripe.id);
      if (session === undefined || session.revision !== ripe.revision || session.handedOn >= ripe.revision) return false;
      session.handedOn = ripe.revision;
      session.times = ripe.times;
      const [run, key] = [sessionRun(ripe), session.turns.at(-1)?.run];
      if (run === undefined || key === undefined || !host.isThere(key)) return true;
      const {
        choice: { name, evaluator, evaluatorKind, party, optionsHash },
        probability = 1,
      } = session;
      if (session.run !== undefined && session.run !== key) host.move(name, session.run, key);
      host.putJob(key, run, { name, evaluator, evaluatorKind, party, optionsHash, probability, offeredAt: at });
      session.run = key;
      return true;
    },
    async counts() {
      const chosen = [...sessions.values()].filter(({ probability }) => probability !== undefined);
      const waiting = [...Map.groupBy(chosen.filter(isWaiting), ({ choice }) => choice.party)].map(([party, own]) => ({
        party,
        sessions: own.length,
      }));
      return { held: chosen.length, rows: sessions.size, waiting: waiting.sort((one, other) => (one.party < other.party ? -1 : 1)) };
    },
    async forget(before, limit) {
      const old = [...sessions]
        .filter(([, session]) => session.changed < before && !isWaiting(session))
        .sort(([, one], [, other]) => one.changed - other.changed)
        .slice(0, limit);
      for (const [id] of old) sessions.delete(id);
      return old.length;
    },
  };
}
