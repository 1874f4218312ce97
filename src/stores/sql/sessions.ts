/** Turns of sessions that are judged as a whole, in the SQLite store. */
import { sql, type Kysely, type Transaction } from 'kysely';
import type { RunKey } from '../../model/agent-trace.ts';
import { sessionRun, sessionTurnsMax, surplusTurn, type JudgeSessionStore, type RipeSession } from '../../model/store/session-store.ts';
import type { SessionChoice } from '../../model/judge-work.ts';
import type { RunDecision } from '../../model/scored-run.ts';
import { jobBody, jobRun } from '../blob-codec.ts';
import type { BatchItem, BatchRun } from './batch.ts';
import { chunks } from './rows.ts';
import { readEntries, writeEntries } from './run-entries.ts';
import type { Tables } from './tables.ts';

type Tx = Transaction<Tables>;

interface PassedOver {
  readonly run: BatchRun;
  readonly decisions: readonly RunDecision[];
}

/** After the runs are written. Gives how sessions end that begin with a run and are not judged. */
export async function writeTurns(tx: Tx, items: readonly BatchItem[], idOf: (run: RunKey) => number): Promise<readonly PassedOver[]> {
  const passed: PassedOver[] = [];
  for (const { run, turn } of items) {
    if (turn === undefined) continue;
    for (const choice of turn.choices) {
      const decision = await writeTurn(tx, { run, runId: idOf(run), sessionId: turn.sessionId, at: turn.at }, choice);
      if (decision !== undefined) passed.push({ run, decisions: [decision] });
    }
  }
  return passed;
}

interface Turn {
  readonly run: BatchRun;
  readonly runId: number;
  readonly sessionId: string;
  readonly at: number;
}

async function writeTurn(tx: Tx, turn: Turn, choice: SessionChoice): Promise<RunDecision | undefined> {
  const { run, sessionId, at } = turn;
  const { name, evaluator, evaluatorKind, queueKey: party, optionsHash, end } = choice;
  const known = await tx
    .selectFrom('sessions')
    .select(['id', 'probability'])
    .where('tenant', '=', run.tenant)
    .where('session_id', '=', sessionId)
    .where('name', '=', name)
    .executeTakeFirst();
  if (known !== undefined) {
    if (known.probability === null) await tx.updateTable('sessions').set({ changed_us: at }).where('id', '=', known.id).execute();
    else await addTurn(tx, known.id, turn, { evaluator, kind: evaluatorKind, party, options_hash: optionsHash });
    return undefined;
  }
  const probability = end === undefined ? choice.probability : null;
  const row = await tx
    .insertInto('sessions')
    .values({
      tenant: run.tenant,
      session_id: sessionId,
      name,
      evaluator,
      kind: evaluatorKind,
      party,
      options_hash: optionsHash,
      probability,
      revision: 0,
      handed_on: 0,
      times: 0,
      left_out: 0,
      since_us: at,
      changed_us: at,
      run_id: null,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  if (end === undefined) await addTurn(tx, row.id, turn, {});
  return end === undefined
    ? undefined
    : { name, evaluator, evaluatorKind, ...end, ...(end.decision === 'overload' ? { probability: choice.probability } : {}) };
}

/** `latest`: by what the session is asked from now on. */
async function addTurn(
  tx: Tx,
  session: number,
  { run, runId, at }: Turn,
  latest: { readonly evaluator?: string; readonly kind?: string; readonly party?: string; readonly options_hash?: string },
): Promise<void> {
  const {
    waiting: body,
    revision,
    columns: { started_us: startedAt },
  } = run;
  if (body === undefined) return;
  const known = await tx
    .selectFrom('session_turns')
    .select('revision')
    .where('session', '=', session)
    .where('run_id', '=', runId)
    .executeTakeFirst();
  if (known !== undefined && known.revision >= revision) return;
  const columns = { revision, started_us: startedAt, noted_us: at, body };
  await tx
    .insertInto('session_turns')
    .values({ session, run_id: runId, ...columns })
    .onConflict((conflict) => conflict.columns(['session', 'run_id']).doUpdateSet(columns))
    .execute();
  const left = known === undefined ? await makeRoom(tx, session) : 0;
  await tx
    .updateTable('sessions')
    .set({ ...latest, ...changed(at), left_out: sql`left_out + ${left}` })
    .where('id', '=', session)
    .execute();
}

/** One that has been judged waits from now on. */
function changed(at: number) {
  return {
    revision: sql<number>`revision + 1`,
    changed_us: at,
    since_us: sql<number>`case when revision > handed_on then since_us else ${at} end`,
  };
}

/** Gives how many turns went. */
async function makeRoom(tx: Tx, session: number): Promise<number> {
  const turns = await tx
    .selectFrom('session_turns')
    .select('run_id')
    .where('session', '=', session)
    .orderBy('started_us')
    .orderBy('run_id')
    .execute();
  const gone = turns.length > sessionTurnsMax ? turns[surplusTurn(turns.length)] : undefined;
  if (gone === undefined) return 0;
  await tx.deleteFrom('session_turns').where('session', '=', session).where('run_id', '=', gone.run_id).execute();
  return 1;
}

/** These runs turned out to be parts of others, so they are not turns. */
export async function forgetTurns(tx: Tx, runIds: readonly number[]): Promise<void> {
  for (const some of chunks(runIds)) {
    const gone = await tx.deleteFrom('session_turns').where('run_id', 'in', some).returning('session').execute();
    const sessions = [...new Set(gone.map(({ session }) => session))];
    if (sessions.length > 0)
      await tx
        .updateTable('sessions')
        .set({ revision: sql`revision + 1`, since_us: sql`case when revision > handed_on then since_us else changed_us end` })
        .where('id', 'in', sessions)
        .execute();
  }
}

/** Called before these runs go: later verdicts on their sessions note that they have not seen these turns. */
export async function countGoneTurns(tx: Tx, runIds: readonly number[]): Promise<void> {
  for (const some of chunks(runIds)) {
    const gone = tx
      .selectFrom('session_turns')
      .select(({ fn }) => ['session', fn.countAll<number>().as('turns')])
      .where('run_id', 'in', some)
      .groupBy('session')
      .as('gone');
    await tx
      .updateTable('sessions')
      .from(gone)
      .set({ left_out: sql`left_out + gone.turns` })
      .whereRef('sessions.id', '=', 'gone.session')
      .execute();
  }
}

/** Chosen, with something that is not judged yet. `table`: as the statement calls the sessions. */
export function isUnjudged(table: 's' | 'sessions') {
  const column = (name: string) => sql.ref(`${table}.${name}`);
  return sql<boolean>`(${column('probability')} is not null and ${column('revision')} > ${column('handed_on')})`;
}

export function sessionStore(db: Kysely<Tables>): JudgeSessionStore {
  return {
    async ripe({ quietBefore, changedBefore, limit }) {
      const rows = await db
        .selectFrom('sessions as s')
        .select(['id', 'revision', 'times', 'name', 'party as queueKey', 'left_out'])
        .where(isUnjudged('s'))
        .where((eb) => eb.or([eb('changed_us', '<=', quietBefore), eb('since_us', '<=', changedBefore)]))
        .where(({ not, exists, selectFrom }) =>
          not(exists(selectFrom('judge_jobs as j').select('j.id').whereRef('j.run_id', '=', 's.run_id').whereRef('j.name', '=', 's.name'))),
        )
        .orderBy('since_us')
        .orderBy('id')
        .limit(limit)
        .execute();
      const found: RipeSession[] = [];
      for (const { left_out: leftOut, times: before, ...row } of rows) {
        const turns = (
          await db
            .selectFrom('session_turns')
            .select('body')
            .where('session', '=', row.id)
            .orderBy('started_us')
            .orderBy('run_id')
            .execute()
        ).map(({ body }) => jobRun(body));
        const readable = turns.filter((turn) => turn !== undefined);
        found.push({ ...row, times: before + 1, turns: readable, leftOut: leftOut + turns.length - readable.length });
      }
      return found;
    },
    async handOn(session, at) {
      const run = sessionRun(session);
      const body = run === undefined ? undefined : jobBody(run);
      return await db.transaction().execute(async (tx) => {
        const row = await tx
          .updateTable('sessions')
          .set({ handed_on: session.revision, times: session.times })
          .where('id', '=', session.id)
          .where('revision', '=', session.revision)
          .where('handed_on', '<', session.revision)
          .returningAll()
          .executeTakeFirst();
        if (row === undefined) return false;
        if (run === undefined || body === undefined) return true;
        const last = await tx
          .selectFrom('runs')
          .select('id')
          .where('tenant', '=', run.tenant)
          .where('trace_id', '=', run.traceId)
          .where('span_id', '=', run.spanId)
          .executeTakeFirst();
        if (last === undefined) return true;
        await moved(tx, { name: row.name, from: row.run_id, to: last });
        const job = {
          name: row.name,
          revision: session.times,
          evaluator: row.evaluator,
          kind: row.kind,
          party: row.party,
          options_hash: row.options_hash,
          probability: row.probability ?? 1,
          offered_us: at,
          body,
          owner: null,
          leased_us: null,
        };
        await tx
          .insertInto('judge_jobs')
          .values({ run_id: last.id, ...job })
          .onConflict((conflict) => conflict.columns(['run_id', 'name']).doUpdateSet(job))
          .execute();
        await tx.updateTable('sessions').set({ run_id: last.id }).where('id', '=', row.id).execute();
        return true;
      });
    },
    async counts() {
      const { held = 0 } =
        (await db
          .selectFrom('sessions')
          .select(({ fn }) => fn.countAll<number>().as('held'))
          .where('probability', 'is not', null)
          .executeTakeFirst()) ?? {};
      // Ids only rise: what is between the first and the last of them is counted without a look at each row.
      const { first, last } =
        (await db
          .selectFrom('sessions')
          .select(({ fn }) => [fn.min<number | null>('id').as('first'), fn.max<number | null>('id').as('last')])
          .executeTakeFirst()) ?? {};
      const waiting = await db
        .selectFrom('sessions')
        .select(({ fn }) => ['party as queueKey', fn.countAll<number>().as('sessions')])
        .where(isUnjudged('sessions'))
        .groupBy('party')
        .orderBy('party')
        .execute();
      return { held, rows: (last ?? 0) - (first ?? 1) + 1, waiting };
    },
    async forget(before, limit) {
      const old = db
        .selectFrom('sessions')
        .select('id')
        .where('changed_us', '<', before)
        .where(sql<boolean>`not ${isUnjudged('sessions')}`)
        .orderBy('changed_us')
        .limit(limit);
      const { numDeletedRows } = await db.deleteFrom('sessions').where('id', 'in', old).executeTakeFirst();
      return Number(numDeletedRows);
    },
  };
}

/** A verdict on a session stands with its last turn. */
async function moved(
  tx: Tx,
  {
    name,
    from,
    to,
  }: {
    readonly name: string;
    readonly from: number | null;
    readonly to: { readonly id: number };
  },
): Promise<void> {
  if (from === null || from === to.id) return;
  const entries = await readEntries(tx, [from, to.id]);
  const [left, own] = [entries.get(from) ?? [], entries.get(to.id) ?? []];
  const said = left.find((entry) => entry.name === name);
  if (said !== undefined)
    await writeEntries(
      tx,
      from,
      left.filter((entry) => entry !== said),
    );
  if (said === undefined && !own.some((entry) => entry.name === name)) return;
  await writeEntries(tx, to.id, [...own.filter((entry) => entry.name !== name), ...(said === undefined ? [] : [said])]);
}
