/** Issues in the transaction that writes runs: which issue each failure belongs to, and their sums by hour and version. */
import { sql, type Transaction } from 'kysely';
import { chunks } from '../../model/chunks.ts';
import { dayMicros } from '../../model/issue-days.ts';
import type { Tenant } from '../../model/ids.ts';
import { issueId, issuesPerAgentMax, issuesPerTenantMax, otherIssue, type IssueKey } from '../../model/store/issue-store.ts';
import type { RunFault } from '../../model/scored-run.ts';
import type { Micros } from '../../model/timestamp.ts';
import { oneOf } from './rows.ts';
import type { Tables } from './tables.ts';

type Tx = Transaction<Tables>;

export const hourMicros = 3_600_000_000;
/** Rows of one statement. Statements of every failure are texts: building them took longer than executing them. */
const rowsMax = 100;

/** The failures that a batch reports for one run. */
export interface FaultChange {
  readonly runId: number;
  /** True when the run was not in the store before. */
  readonly isNew: boolean;
  readonly tenant: string;
  readonly agent: string;
  readonly version: string;
  readonly startedAt: Micros;
  /** Empty without one. */
  readonly session: string;
  readonly sessionBefore: string;
  readonly faults: readonly RunFault[];
  /** True for an evaluator that has judged the run anew: its earlier failures do not count. */
  readonly isSaid: (evaluator: string) => boolean;
}

interface IssueRow {
  readonly issue: number;
  readonly runId: number;
  readonly startedAt: Micros;
  readonly version: string;
  readonly session: string;
}

/** A late span may change the start, the version and the session of a run. */
interface MovedRow {
  readonly from: IssueRow;
  readonly to: IssueRow;
}

/** In the transaction that writes the runs. A failure that a run no longer has leaves its issue. */
export async function writeFaults(tx: Tx, said: readonly FaultChange[]): Promise<void> {
  const changes = [...Map.groupBy(said, ({ runId }) => runId).values()].map((own) => own.reduce(folded));
  const placed = await placedIn(tx, changes);
  const before = await rowsOf(
    tx,
    changes.filter(({ isNew }) => !isNew).map(({ runId }) => runId),
  );
  const gone: IssueRow[] = [];
  const fresh: IssueRow[] = [];
  const moved: MovedRow[] = [];
  for (const change of changes) {
    const own = before.get(change.runId) ?? [];
    const wanted = placed.get(change) ?? new Set<number>();
    const { runId, startedAt, version, session, sessionBefore } = change;
    for (const one of own) {
      const row = { ...one, session: sessionBefore };
      if (change.isSaid(row.evaluator) && !wanted.has(row.issue)) gone.push(row);
      else if (row.startedAt !== startedAt || row.version !== version || row.session !== session)
        moved.push({ from: row, to: { issue: row.issue, runId, startedAt, version, session } });
    }
    const had = new Set(own.map(({ issue }) => issue));
    for (const issue of wanted) if (!had.has(issue)) fresh.push({ issue, runId, startedAt, version, session });
  }
  if (moved.length > 0) await move(tx, moved);
  // An issue that loses its last run and gets another one stays.
  if (fresh.length > 0) await give(tx, fresh);
  if (gone.length > 0) await take(tx, gone);
}

/** Two changes of one run, in their order. */
function folded(one: FaultChange, next: FaultChange): FaultChange {
  return {
    ...next,
    isNew: one.isNew,
    sessionBefore: one.sessionBefore,
    faults: [...one.faults.filter(({ name }) => !next.isSaid(name)), ...next.faults],
    isSaid: (evaluator) => one.isSaid(evaluator) || next.isSaid(evaluator),
  };
}

/** The issue of each failure. New issues are written without runs. */
async function placedIn(tx: Tx, changes: readonly FaultChange[]): Promise<ReadonlyMap<FaultChange, ReadonlySet<number>>> {
  const wanted = changes.flatMap((change) =>
    change.faults.map((fault) => {
      const key: IssueKey = { ...fault, tenant: change.tenant as Tenant, agent: change.agent };
      return { change, key, id: numberOf(issueId(key)) };
    }),
  );
  if (wanted.length === 0) return new Map();
  const places = await knownPlaces(
    tx,
    wanted.map(({ id }) => id),
  );
  const rooms = new Map<string, number>();
  const counted = async (of: string, count: () => Promise<number>): Promise<number> => {
    const issues = rooms.get(of) ?? (await count());
    rooms.set(of, issues + 1);
    return issues;
  };
  for (const { change, key, id } of wanted) {
    if (places.has(id)) continue;
    const { tenant, agent } = key;
    const hasRoom = (await counted(tenant, () => issuesOf(tx, { tenant }))) < issuesPerTenantMax;
    const isFew = (await counted(JSON.stringify([tenant, agent]), () => issuesOf(tx, { tenant, agent }))) < issuesPerAgentMax;
    const own = hasRoom && isFew ? key : { ...key, tool: '', signature: otherIssue, ...(hasRoom ? {} : { agent: '' }) };
    const ownId = numberOf(issueId(own));
    await addIssue(tx, ownId, own, change);
    places.set(id, (await knownPlaces(tx, [ownId])).get(ownId) ?? ownId);
  }
  const placed = new Map<FaultChange, Set<number>>();
  for (const { change, id } of wanted) placed.set(change, (placed.get(change) ?? new Set<number>()).add(places.get(id) ?? id));
  return placed;
}

/** Where the runs of an issue are counted: with itself, or with the one that it was merged into. */
async function knownPlaces(tx: Tx, ids: readonly number[]): Promise<Map<number, number>> {
  const rows = await tx
    .selectFrom('issues')
    .select(['id', 'merged_into'])
    .where('id', 'in', oneOf([...new Set(ids)]))
    .execute();
  return new Map(rows.map(({ id, merged_into: into }) => [id, into ?? id]));
}

async function issuesOf(tx: Tx, { tenant, agent }: Pick<IssueKey, 'tenant'> & Partial<IssueKey>): Promise<number> {
  const { issues } = await tx
    .selectFrom('issues')
    .select(({ fn }) => fn.countAll<number>().as('issues'))
    .where('tenant', '=', tenant)
    .$if(agent !== undefined, (select) => select.where('agent', '=', agent ?? ''))
    .executeTakeFirstOrThrow();
  return issues;
}

async function addIssue(tx: Tx, id: number, { tenant, agent, name, tool, signature }: IssueKey, run: FaultChange): Promise<void> {
  await tx
    .insertInto('issues')
    .values({
      id,
      tenant,
      agent,
      evaluator: name,
      tool,
      signature,
      state: 'open',
      changed_us: run.startedAt,
      person: '',
      note: '',
      fix: null,
      fix_version: null,
      until_us: null,
      until_runs: null,
      merged_into: null,
      is_told: 0,
      runs: 0,
      first_us: run.startedAt,
      last_us: run.startedAt,
      first_version: run.version,
      last_version: run.version,
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
}

async function rowsOf(
  tx: Tx,
  runIds: readonly number[],
): Promise<ReadonlyMap<number, readonly (Omit<IssueRow, 'session'> & { evaluator: string })[]>> {
  if (runIds.length === 0) return new Map();
  const rows = await tx
    .selectFrom('issue_runs as r')
    .innerJoin('issues as i', 'i.id', 'r.issue')
    .select(['r.issue', 'r.run_id as runId', 'r.started_us as startedAt', 'r.version', 'i.evaluator'])
    .where('r.run_id', 'in', oneOf(runIds))
    .execute();
  return Map.groupBy(rows, ({ runId }) => runId);
}

async function give(tx: Tx, rows: readonly IssueRow[]): Promise<void> {
  const added = rows.map(({ issue, runId, startedAt, version }) => sql`(${runId}, ${issue}, ${startedAt}, ${version})`);
  for (const some of chunks(added, rowsMax))
    await sql`insert into issue_runs (run_id, issue, started_us, version) values ${sql.join(some)} on conflict (run_id, issue) do nothing`.execute(
      tx,
    );
  await addHours(tx, rows, 1);
  const sessions = await addSessions(tx, rows);
  for (const [id, own] of Map.groupBy(rows, ({ issue }) => issue)) {
    const ordered = own.toSorted((one, other) => one.startedAt - other.startedAt);
    const [first, last] = [ordered[0], ordered.at(-1)];
    if (first === undefined || last === undefined) continue;
    const hour = hourOf(first.startedAt);
    await widen(tx, id, {
      runs: own.length,
      sessions: sessions.get(id) ?? 0,
      first,
      last,
      ...(hour === hourOf(last.startedAt) ? { hour } : {}),
    });
  }
}

async function move(tx: Tx, rows: readonly MovedRow[]): Promise<void> {
  for (const { to } of rows)
    await tx
      .updateTable('issue_runs')
      .set({ started_us: to.startedAt, version: to.version })
      .where('run_id', '=', to.runId)
      .where('issue', '=', to.issue)
      .execute();
  await addHours(
    tx,
    rows.map(({ to }) => to),
    1,
  );
  await addHours(
    tx,
    rows.map(({ from }) => from),
    -1,
  );
  await addSessions(
    tx,
    rows.map(({ to }) => to),
  );
  await dropSessions(
    tx,
    rows.map(({ from }) => from),
  );
  for (const [id, own] of Map.groupBy(rows, ({ to }) => to.issue))
    await setBounds(
      tx,
      id,
      own.flatMap(({ from, to }) => [from, to]),
    );
}

async function take(tx: Tx, rows: readonly IssueRow[]): Promise<void> {
  for (const { issue, runId } of rows) await tx.deleteFrom('issue_runs').where('run_id', '=', runId).where('issue', '=', issue).execute();
  await addHours(tx, rows, -1);
  await dropSessions(tx, rows);
  for (const [id, own] of Map.groupBy(rows, ({ issue }) => issue)) {
    await tx
      .updateTable('issues')
      .set((eb) => ({ runs: eb('runs', '-', own.length) }))
      .where('id', '=', id)
      .execute();
    await setBounds(tx, id, own);
    // No person has decided on it, no run has it, and none was merged into it.
    await tx
      .deleteFrom('issues')
      .where('id', '=', id)
      .where('runs', '<=', 0)
      .where('state', '=', 'open')
      .where('person', '=', '')
      .where(({ not, exists, selectFrom }) => not(exists(selectFrom('issues as m').select('m.id').where('m.merged_into', '=', id))))
      .execute();
  }
}

/** Gives the runs of an issue and their sums to another one, also those of runs that the store no longer has. A stored run of both counts once. */
export async function moveRuns(tx: Tx, from: number, to: number): Promise<void> {
  const isOfBoth = sql<boolean>`exists (select 1 from issue_runs as o where o.issue = ${to} and o.run_id = issue_runs.run_id)`;
  const { twice } = await tx
    .selectFrom('issue_runs')
    .select(({ fn }) => fn.countAll<number>().as('twice'))
    .where('issue', '=', from)
    .where(isOfBoth)
    .executeTakeFirstOrThrow();
  const hour = sql<number>`started_us - started_us % ${sql.lit(hourMicros)}`;
  await sql`insert into issue_hours (issue, at_us, version, runs)
    select ${to}, at_us, version, runs from issue_hours where issue = ${from}
    on conflict (issue, at_us, version) do update set runs = issue_hours.runs + excluded.runs`.execute(tx);
  await sql`insert into issue_hours (issue, at_us, version, runs)
    select ${to}, ${hour}, version, -count(*) from issue_runs where issue = ${from} and ${isOfBoth} group by 2, 3
    on conflict (issue, at_us, version) do update set runs = issue_hours.runs + excluded.runs`.execute(tx);
  await tx.deleteFrom('issue_hours').where('issue', '=', to).where('runs', '<=', 0).execute();
  await sql`insert into issue_runs (run_id, issue, started_us, version)
    select run_id, ${to}, started_us, version from issue_runs where issue = ${from}
    on conflict (run_id, issue) do nothing`.execute(tx);
  await tx.deleteFrom('issue_runs').where('issue', '=', from).execute();
  await tx.deleteFrom('issue_hours').where('issue', '=', from).execute();
  await sql`insert into issue_sessions (issue, session, at_us) select ${to}, session, at_us from issue_sessions where issue = ${from}
    on conflict (issue, session) do nothing`.execute(tx);
  await tx.deleteFrom('issue_sessions').where('issue', '=', from).execute();
  const { runs, first_us, first_version, last_us, last_version } = await tx
    .selectFrom('issues')
    .select(['runs', 'first_us', 'first_version', 'last_us', 'last_version'])
    .where('id', '=', from)
    .executeTakeFirstOrThrow();
  await tx.updateTable('issues').set({ runs: 0, recent_us: 0 }).where('id', '=', from).execute();
  await widen(tx, to, {
    runs: runs - twice,
    first: { startedAt: first_us, version: first_version },
    last: { startedAt: last_us, version: last_version },
  });
}

type Bound = Pick<IssueRow, 'startedAt' | 'version'>;

/** Adds runs to an issue. `first` and `last` are the bounds of these runs. `hour`: all of them began in it. */
async function widen(
  tx: Tx,
  id: number,
  {
    runs,
    sessions = 0,
    first,
    last,
    hour = -1,
  }: { readonly runs: number; readonly sessions?: number; readonly first: Bound; readonly last: Bound; readonly hour?: Micros },
): Promise<void> {
  const counted = sql`recent_us = ${hour}`;
  // Mostly the hour that was counted last.
  await sql`update issues set runs = runs + ${runs}, sessions = sessions + ${sessions},
    day_runs = case when ${counted} then day_runs + ${runs} else day_runs end, recent_us = case when ${counted} then recent_us else 0 end,
    first_version = case when first_us > ${first.startedAt} then ${first.version} else first_version end, first_us = min(first_us, ${first.startedAt}),
    last_version = case when last_us <= ${last.startedAt} then ${last.version} else last_version end, last_us = max(last_us, ${last.startedAt})
    where id = ${id}`.execute(tx);
}

/** The first or the last run has left. A first run that the store has forgotten is still the first. */
async function setBounds(tx: Tx, id: number, left: readonly Bound[]): Promise<void> {
  const bound = async (order: 'asc' | 'desc'): Promise<Pick<Tables['issue_runs'], 'started_us' | 'version'> | undefined> =>
    await tx
      .selectFrom('issue_runs')
      .select(['started_us', 'version'])
      .where('issue', '=', id)
      .orderBy('started_us', order)
      .limit(1)
      .executeTakeFirst();
  const [first, last] = [await bound('asc'), await bound('desc')];
  if (first === undefined || last === undefined) return;
  const starts = left.map(({ startedAt }) => startedAt);
  const [from, to] = [Math.min(...starts), Math.max(...starts)];
  const at = tx.updateTable('issues').where('id', '=', id);
  await at.set({ first_us: first.started_us, first_version: first.version }).where('first_us', '>=', from).execute();
  await at.set({ last_us: last.started_us, last_version: last.version }).where('last_us', '<=', to).execute();
}

async function addHours(tx: Tx, rows: readonly IssueRow[], sign: 1 | -1): Promise<void> {
  const keyed = Map.groupBy(rows, ({ issue, startedAt, version }) => JSON.stringify([issue, hourOf(startedAt), version]));
  const sums = [...keyed.values()].flatMap(([one, ...more]) =>
    one === undefined ? [] : [sql`(${one.issue}, ${hourOf(one.startedAt)}, ${one.version}, ${sign * (more.length + 1)})`],
  );
  for (const some of chunks(sums, rowsMax))
    await sql`insert into issue_hours (issue, at_us, version, runs) values ${sql.join(some)}
      on conflict (issue, at_us, version) do update set runs = issue_hours.runs + excluded.runs`.execute(tx);
  if (sign > 0) return;
  const touched = [...new Set(rows.map(({ issue }) => issue))];
  await tx.deleteFrom('issue_hours').where('issue', 'in', oneOf(touched)).where('runs', '<=', 0).execute();
  await tx.updateTable('issues').set({ recent_us: 0 }).where('id', 'in', oneOf(touched)).execute();
}

/** Resolves with the number of new sessions by issue. */
async function addSessions(tx: Tx, rows: readonly IssueRow[]): Promise<ReadonlyMap<number, number>> {
  const keyed = new Map(rows.flatMap((row) => (row.session === '' ? [] : [[`${row.issue} ${row.session}`, row] as const])));
  const added = [...keyed.values()].map(
    ({ issue, session, startedAt }) => sql`(${issue}, ${session}, ${startedAt - (startedAt % dayMicros)})`,
  );
  const sessions = new Map<number, number>();
  for (const some of chunks(added, rowsMax)) {
    const fresh = await sql<Pick<IssueRow, 'issue'>>`insert into issue_sessions (issue, session, at_us) values ${sql.join(some)}
      on conflict (issue, session) do nothing returning issue`.execute(tx);
    for (const { issue } of fresh.rows) sessions.set(issue, (sessions.get(issue) ?? 0) + 1);
  }
  return sessions;
}

/** Sessions without another run of the issue. */
async function dropSessions(tx: Tx, rows: readonly IssueRow[]): Promise<void> {
  for (const { issue, session } of rows)
    if (session !== '')
      await tx
        .deleteFrom('issue_sessions')
        .where('issue', '=', issue)
        .where('session', '=', session)
        .where(
          sql<boolean>`not exists (select 1 from runs where session_id = ${session}
            and exists (select 1 from issue_runs as r where r.run_id = runs.id and r.issue = ${issue}))`,
        )
        .execute();
}

export function hourOf(at: Micros): Micros {
  return at - (at % hourMicros);
}

export function numberOf(id: string): number {
  return Number.parseInt(id, 16);
}

export function textOf(id: number): string {
  return id.toString(16).padStart(12, '0');
}
