/** Reads the sessions of runs for a replay, from the store or from the runs of files. */
import { aroundMember, isTurn, type SessionMember, type SessionOfRun, sessionTurns } from './joined-session.ts';
import { readRuns, type ReadRun, type StoredRunsOptions } from './stored-runs.ts';
import type { Run } from '../../model/agent-trace.ts';
import type { Tenant } from '../../model/ids.ts';
import type { ReplayableStore, ReplayRun } from '../../model/store/replay-store.ts';
import type { RunPlace } from '../../model/store/store.ts';
import type { Micros } from '../../model/timestamp.ts';
import { runTargetId } from '../../model/verdict.ts';
import type { SessionSettings } from '../../pipeline/evaluation/session-turns.ts';
import { concurrencyLimiter } from '../../runtime/concurrency-limiter.ts';
import { weightedLru } from '../../runtime/lru.ts';

/** Before the reason of a turn that cannot be read. */
export const turnPrefix = 'turn_';

/** Why the turns of a session cannot be joined, beside a turn that cannot be read. */
export const notJoinedTexts = {
  session_too_long: 'more runs have its session id than a replay reads',
  session_not_quiet: 'its last turn is younger than sessions.quiet',
  session_id_redacted: 'the redaction changes its id, so sessions cannot be distinguished',
  turns_deleted: 'the store has deleted some of its turns',
  session_goes_on: 'a later turn has no verdict on the session yet',
  turns_may_be_deleted: 'it began when store.keep.runs may have deleted turns',
} as const;

export interface SessionReader {
  /** Reads the session of a turn with a session id. Holds a bounded number of sessions: `use` runs while this one is held. */
  withSession<Result>(run: Run, use: (session: SessionOfRun) => Promise<Result>): Promise<Result>;
}

interface ReaderSettings {
  readonly sessions: Pick<SessionSettings, 'quietMs' | 'keepMs'>;
  /** A run as it leaves for judges. */
  readonly leaving: (run: Run) => Run;
}

/** Runs with one session id; more are not read. */
const sessionRunsMax = 2_000;
const pageRuns = 200;
/** Sessions whose turns are in memory at the same time. */
const heldSessionsMax = 4;
/** Runs that wait for their session; a replay asks about fewer at the same time. */
const waitingMax = 1_000;
/** Keys of runs that are remembered, so that the runs of a session are listed once and not once for each turn. */
const membersHeldMax = 100_000;

interface Member extends SessionMember {
  readonly row: ReplayRun;
}

/** The known runs of a session id. */
interface Listing {
  /** Oldest first; `undefined`: there are too many. */
  readonly members: readonly Member[] | undefined;
  /** Ids of members that are known to be turns. */
  readonly turns: Set<string>;
}

export interface StoredSessions extends ReaderSettings {
  readonly store: Pick<ReplayableStore, 'replays' | 'spans' | 'run'>;
  readonly reading: Omit<StoredRunsOptions, 'store'>;
  readonly nowMs: number;
  /** `store.keep.runs`. */
  readonly keepRunsMs: number;
}

export function storedSessions(options: StoredSessions): SessionReader {
  const { store, sessions, leaving, nowMs, keepRunsMs } = options;
  const reading = { ...options.reading, takesRedacted: false, store };
  const limiter = concurrencyLimiter({ concurrency: () => heldSessionsMax, waitingMax });
  const keepMicros = sessions.keepMs * 1_000;
  const known = weightedLru<Listing>({ weightOf: ({ members }) => 1 + (members?.length ?? 0), weightMax: membersHeldMax });

  async function listed(tenant: Tenant, sessionId: string): Promise<Listing> {
    const key = JSON.stringify([tenant, sessionId]);
    const listing = known.take(key) ?? { members: await membersOf(store, tenant, sessionId), turns: new Set() };
    known.put(key, listing);
    return listing;
  }

  /** `undefined`: no later member is a turn. */
  async function laterTurn(after: readonly Member[], turns: Set<string>): Promise<Exclude<SessionOfRun, { kind: 'session' }> | undefined> {
    if (after.some(({ id }) => turns.has(id))) return { kind: 'goes_on' };
    for await (const read of readRuns(rowsOf(after.toReversed()), reading))
      for (const one of read) {
        if (one.kind === 'gone') return { kind: 'not_joined', reason: `${turnPrefix}${one.reason}` };
        if (!isTurn(one.run)) continue;
        turns.add(runTargetId(one.run));
        return { kind: 'goes_on' };
      }
    return undefined;
  }

  async function sessionOf(run: Run): Promise<SessionOfRun> {
    const [id, sessionId = ''] = [runTargetId(run), run.trace.sessionId];
    if (leaving(run).trace.sessionId !== sessionId) return notJoined('session_id_redacted');
    const { members, turns } = await listed(run.tenant, sessionId);
    // Runs come newest first, and the session counts once.
    const isNewest = turns.size === 0;
    turns.add(id);
    if (members === undefined) return isNewest ? notJoined('session_too_long') : { kind: 'goes_on' };
    // A session id in redacted spans may cover several.
    if (options.reading.takesRedacted)
      for await (const [own] of readRuns(rowsOf(members.filter((member) => member.id === id)), reading))
        if (own?.kind === 'gone') return { kind: 'not_joined', reason: `${turnPrefix}${own.reason}` };
    const { before, after } = aroundMember(members, id, keepMicros);
    const later = await laterTurn(after, turns);
    if (later !== undefined) return later;
    const own = memberOf(run);
    if (own.endedAt > (nowMs - sessions.quietMs) * 1_000) return notJoined('session_not_quiet');
    if (((before[0] ?? own).startedAt - keepMicros) / 1_000 < nowMs - keepRunsMs) return notJoined('turns_may_be_deleted');
    const joined = sessionTurns(leaving);
    for await (const read of readRuns(rowsOf(before), reading)) {
      const gone = addTurns(joined, read);
      if (gone !== undefined) return { kind: 'not_joined', reason: `${turnPrefix}${gone}` };
    }
    joined.add({ run, at: own });
    return joined.session(1) ?? { kind: 'goes_on' };
  }

  return {
    async withSession(run, use) {
      const result = await limiter.run(async () => ({ used: await use(await sessionOf(run)) }));
      if (result === undefined) throw new Error(`More than ${waitingMax} runs wait for their session.`);
      return result.used;
    },
  };
}

function notJoined(reason: keyof typeof notJoinedTexts): SessionOfRun {
  return { kind: 'not_joined', reason };
}

const rowsOf = (members: readonly Member[]): readonly ReplayRun[] => members.map(({ row }) => row);

/** The reason of the first run that cannot be read. */
function addTurns(joined: ReturnType<typeof sessionTurns>, read: readonly ReadRun[]): string | undefined {
  for (const one of read) {
    if (one.kind === 'gone') return one.reason;
    if (isTurn(one.run)) joined.add({ run: one.run, at: memberOf(one.run) });
  }
  return undefined;
}

async function membersOf(
  { replays }: Pick<ReplayableStore, 'replays'>,
  tenant: Tenant,
  sessionId: string,
): Promise<readonly Member[] | undefined> {
  const members: Member[] = [];
  let after: RunPlace | undefined;
  do {
    const page = await replays.page({ filter: { tenant, sessionId }, limit: pageRuns, after });
    for (const row of page.runs) {
      const { traceId, startedAt, endedAt } = row;
      // Verdicts take most of the memory, and are not needed here.
      members.push({ id: runTargetId(row), traceId, startedAt, endedAt, row: { ...row, verdicts: [] } });
    }
    if (members.length > sessionRunsMax) return undefined;
    after = page.next;
  } while (after !== undefined);
  return members.toReversed();
}

function memberOf(run: Run): SessionMember {
  const micros = (nano: bigint): Micros => Number(nano / 1_000n);
  return { id: runTargetId(run), traceId: run.traceId, startedAt: micros(run.startUnixNano), endedAt: micros(run.endUnixNano) };
}

/** Sessions of the runs of files, which are in memory. */
export function givenSessions(runs: readonly Run[], { sessions, leaving }: ReaderSettings): SessionReader {
  const keyOf = ({ tenant, trace: { sessionId = '' } }: Run): string => JSON.stringify([tenant, sessionId]);
  const turns = runs.filter(isTurn).map((run) => ({ ...memberOf(run), run }));
  const bySession = Map.groupBy(
    turns.sort((one, other) => one.startedAt - other.startedAt),
    ({ run }) => keyOf(run),
  );
  function sessionOf(run: Run): SessionOfRun {
    if (leaving(run).trace.sessionId !== run.trace.sessionId) return notJoined('session_id_redacted');
    const members = bySession.get(keyOf(run)) ?? [];
    const isNewest = members.at(-1)?.id === runTargetId(run);
    if (members.length > sessionRunsMax) return isNewest ? notJoined('session_too_long') : { kind: 'goes_on' };
    const { before, after } = aroundMember(members, runTargetId(run), sessions.keepMs * 1_000);
    if (after.length > 0) return { kind: 'goes_on' };
    const joined = sessionTurns(leaving);
    for (const { run: turn, ...at } of before) joined.add({ run: turn, at });
    joined.add({ run, at: memberOf(run) });
    return joined.session(1) ?? { kind: 'goes_on' };
  }
  return { withSession: async (run, use) => await use(sessionOf(run)) };
}
