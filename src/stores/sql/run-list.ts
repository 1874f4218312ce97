/**
 * Lists of runs, newest first. A list goes along the index that answers most of its filter. A filter that no index answers examines a bounded
 * number of runs for each page.
 */
import { sql, type Kysely, type RawBuilder, type Selectable } from 'kysely';
import type { RunStatus } from '../../model/agent-trace.ts';
import type { SpanId, Tenant, TraceId } from '../../model/ids.ts';
import {
  examinedMax,
  type RecentPage,
  type RecentQuery,
  rowLabelsMax,
  type RunFilter,
  type RunLabel,
  type RunPage,
  type RunPlace,
  type RunQuery,
  type RunRow,
  type StoredVerdict,
} from '../../model/store/store.ts';
import type { ReplayPage, ReplayQuery, ReplayRun } from '../../model/store/replay-store.ts';
import type { EntryVerdict, RunEntry } from '../run-record.ts';
import type { IssueId } from '../../model/store/issue-store.ts';
import type { Connection } from './connection.ts';
import { numberOf } from './issue-writes.ts';
import { globOf, readMarks, type KnownMark } from './marks.ts';
import { listedColumns, oneOf } from './rows.ts';
import { readEntries } from './run-entries.ts';
import { textQuery } from './run-texts.ts';
import type { Tables } from './tables.ts';

type Db = Kysely<Tables>;
export type ListedRun = Pick<Selectable<Tables['runs']>, (typeof listed)[number]>;
export type Entries = ReadonlyMap<number, readonly RunEntry[]>;

export const listed = ['id', ...listedColumns, 'user_id', 'environment', 'input_tokens', 'output_tokens', 'cost_usd', 'excerpt'] as const;

/** Rows with such an annotation are read by their ids when there are no more. */
const candidatesMax = 2_000;

export async function readRuns(db: Db, query: RunQuery): Promise<RunPage> {
  const { rows, entries, next, searchedTo } = await readListed(db, query);
  const unindexed = query.text === undefined ? undefined : await unindexedRuns(db);
  const labels = await labelsOf(
    db,
    rows.map(({ id }) => id),
  );
  return { runs: rows.map((row) => ({ ...runRow(row, entries), labels: labels.get(row.id) ?? [] })), next, searchedTo, unindexed };
}

/** Runs whose texts are read for one answer about the last writes. */
const textsReadMax = 50;

export async function readRecent(
  { db, recent, scan }: Pick<Connection, 'db' | 'recent' | 'scan'>,
  { after, limit, text, ...filter }: RecentQuery,
): Promise<RecentPage> {
  const { ids, position, forgotten } = await recent(after);
  if (ids.length === 0) return { runs: [], position, leftOut: forgotten };
  const wanted = await wantedRuns(db, filter);
  const matching = new Set(
    (await db.selectFrom('runs').select('id').where('runs.id', 'in', oneOf(ids)).where(wanted('runs', 'id')).execute()).map(({ id }) => id),
  );
  const ordered = ids.filter((id) => matching.has(id));
  // Their words are not in the index yet.
  const read = text === undefined ? ordered : ordered.slice(-textsReadMax);
  const found = text === undefined || read.length === 0 ? read : await scan({ of: 'texts', query: { ids: read, text } });
  const order = found.slice(-limit);
  const rows = new Map((await db.selectFrom('runs').select(listed).where('id', 'in', oneOf(order)).execute()).map((row) => [row.id, row]));
  const [entries, labels] = await Promise.all([readEntries(db, order), labelsOf(db, order)]);
  const runs = order.flatMap((id) => {
    const row = rows.get(id);
    return row === undefined ? [] : [{ ...runRow(row, entries), labels: labels.get(id) ?? [] }];
  });
  return { runs, position, leftOut: forgotten + ordered.length - read.length + found.length - order.length };
}

/** As `readRuns`, with what identifies the evaluator of each verdict. */
export async function readReplayRuns(db: Db, { filter, limit, after }: ReplayQuery): Promise<ReplayPage> {
  const { rows, entries, next } = await readListed(db, { ...filter, limit, ...(after === undefined ? {} : { after }) });
  const verdicts = (id: number): ReplayRun['verdicts'] =>
    (entries.get(id) ?? []).flatMap(({ name, verdict }) => (verdict === undefined ? [] : [{ name, ...verdict }]));
  return {
    runs: rows.map((row) => ({
      ...runRow(row, new Map()),
      place: { startedAt: row.started_us, id: row.id },
      verdicts: verdicts(row.id),
    })),
    next,
  };
}

export async function countRuns(db: Db, filter: RunFilter): Promise<number> {
  const wanted = await wantedRuns(db, filter);
  const { runs } = await db
    .selectFrom('runs')
    .select(({ fn }) => fn.countAll<number>().as('runs'))
    .where(wanted('runs', indexOf(filter)))
    .executeTakeFirstOrThrow();
  return runs;
}

interface Listed {
  readonly rows: readonly ListedRun[];
  readonly entries: Entries;
  readonly next: RunPage['next'];
  readonly searchedTo: RunPage['searchedTo'];
}

async function readListed(db: Db, { after, limit, examine = examinedMax, ...filter }: RunQuery): Promise<Listed> {
  const wanted = await wantedRuns(db, filter);
  const ofIssue = await runsOfIssue(db, filter, after);
  const few = ofIssue?.ids ?? (await annotatedRuns(db, filter)) ?? (await runsWithText(db, filter));
  const index = few === undefined ? indexOf(filter) : 'id';
  const examined = { filter, index, after, examine };
  const floor = ofIssue?.floor ?? (isAnswered(filter, index) ? undefined : await examinedTo(db, examined));
  const start = startColumn(index);
  const rows = await db
    .selectFrom('runs')
    .select(listed)
    .where(wanted('runs', index, filter.text === undefined ? undefined : await idsOf(db, few, examined)))
    .$if(few !== undefined, (select) => select.where('runs.id', 'in', oneOf(few ?? [])))
    .where(between(start, { after, floor }))
    .orderBy(start, 'desc')
    .orderBy(sql`runs.id`, 'desc')
    .limit(limit + 1)
    .execute();
  const page = rows.slice(0, limit);
  const entries = await readEntries(
    db,
    page.map(({ id }) => id),
  );
  const last = page.at(-1);
  const isFull = rows.length > limit && last !== undefined;
  return {
    rows: page,
    entries,
    next: isFull ? { startedAt: last.started_us, id: last.id } : floor,
    searchedTo: isFull ? undefined : floor?.startedAt,
  };
}

/** The index that a list follows. Runs of one trace are few; `id` means a list of runs. */
type Index = 'id' | 'trace_id' | 'session_id' | 'task' | 'status' | 'agent' | 'start';

export function indexOf({ traceId, sessionId, task, status, agent }: RunFilter): Index {
  if (traceId !== undefined) return 'trace_id';
  if (sessionId !== undefined) return 'session_id';
  if (task !== undefined) return 'task';
  // Most runs are ok and have no entry.
  if (status !== undefined && status !== 'ok') return 'status';
  return agent !== undefined ? 'agent' : 'start';
}

/** Conditions beside which a list along this index examines runs that it leaves out. */
const answered: { readonly [index in Index]: readonly (keyof RunFilter)[] | undefined } = {
  id: undefined,
  trace_id: undefined,
  session_id: ['sessionId', 'from', 'to'],
  task: ['task', 'from', 'to'],
  status: ['status', 'from', 'to'],
  agent: ['agent', 'from', 'to'],
  start: ['from', 'to'],
};

/** True when the index by itself finds the runs, without a limit of examined ones. */
function isAnswered(filter: RunFilter, index: Index): boolean {
  const keys = answered[index];
  return keys === undefined || Object.entries(filter).every(([key, value]) => value === undefined || keys.some((known) => known === key));
}

/** The plus keeps SQLite from going along the start of all runs. */
function startColumn(index: Index): RawBuilder<number> {
  return index === 'id' || index === 'trace_id' ? sql<number>`+runs.started_us` : sql<number>`runs.started_us`;
}

export function between(
  start: RawBuilder<number>,
  { after, floor }: { readonly after: RunPlace | undefined; readonly floor: RunPlace | undefined },
): RawBuilder<boolean> {
  const parts = [
    ...(after === undefined ? [] : [sql`(${start}, runs.id) < (${after.startedAt}, ${after.id})`]),
    ...(floor === undefined ? [] : [sql`(${start}, runs.id) >= (${floor.startedAt}, ${floor.id})`]),
  ];
  return parts.length === 0 ? sql<boolean>`true` : sql<boolean>`(${sql.join(parts, sql` and `)})`;
}

interface Examined {
  readonly filter: RunFilter;
  readonly index: Index;
  readonly after: RunPlace | undefined;
  readonly examine: number;
}

/** The last run that a page examines, read only from the index; `undefined` when the runs end before. */
export async function examinedTo(db: Db, examined: Examined): Promise<RunPlace | undefined> {
  const row = await examinedRuns(db, examined)
    .limit(1)
    .offset(examined.examine - 1)
    .executeTakeFirst();
  return row === undefined ? undefined : { startedAt: row.started_us, id: row.id };
}

interface Ids {
  readonly from: number;
  readonly to: number;
}

/** The first and the last id of the rows that a page examines. */
async function idsOf(db: Db, few: readonly number[] | undefined, examined: Examined): Promise<Ids> {
  if (few !== undefined) return { from: Math.min(Number.MAX_SAFE_INTEGER, ...few), to: Math.max(0, ...few) };
  const row = await db
    .selectFrom(examinedRuns(db, examined).limit(examined.examine).as('examined'))
    .select(({ fn }) => [fn.min<number | null>('id').as('first'), fn.max<number | null>('id').as('last')])
    .executeTakeFirst();
  return { from: row?.first ?? 0, to: row?.last ?? 0 };
}

function examinedRuns(db: Db, { filter: { traceId, sessionId, task, status, agent, from, to }, index, after }: Examined) {
  const start = startColumn(index);
  return db
    .selectFrom('runs')
    .select(['id', 'started_us'])
    .$if(index === 'trace_id', (select) => select.where('trace_id', '=', traceId ?? ''))
    .$if(index === 'session_id', (select) => select.where('session_id', '=', sessionId ?? ''))
    .$if(index === 'task', (select) => select.where('task', '=', task ?? ''))
    .$if(index === 'status', (select) => select.where('status', '=', status ?? '').where(hasEntry('runs')))
    .$if(index === 'agent', (select) => select.where('agent', '=', agent ?? ''))
    .$if(from !== undefined, (select) => select.where('started_us', '>=', from ?? 0))
    .$if(to !== undefined, (select) => select.where('started_us', '<', to ?? 0))
    .where(between(start, { after, floor: undefined }))
    .orderBy(start, 'desc')
    .orderBy(sql`runs.id`, 'desc');
}

/** The condition for the rows of that name in a statement that goes along this index. `ids`: those of the rows, for a search by text. */
type WantedRuns = (alias: string, index: Index, ids?: Ids) => RawBuilder<boolean>;

const equalColumns = [
  ['tenant', 'tenant'],
  ['agent', 'agent'],
  ['service', 'service'],
  ['version', 'version'],
  ['model', 'model'],
  ['prompt', 'prompt'],
  ['userId', 'user_id'],
  ['environment', 'environment'],
  ['sessionId', 'session_id'],
  ['task', 'task'],
  ['traceId', 'trace_id'],
  ['status', 'status'],
] as const;

export async function wantedRuns(db: Db, filter: RunFilter): Promise<WantedRuns> {
  const marks = await marksOf(db, filter);
  const { from, to, annotated, text, tool, label, issue, minDuration, maxDuration, minCost, maxCost } = filter;
  return (alias, index, ids) => {
    const column = (name: string): RawBuilder<unknown> => sql.ref(`${alias}.${name}`);
    const took = sql`(${column('ended_us')} - ${column('started_us')})`;
    const parts = [
      sql`${column('part_of')} is null`,
      // The plus keeps SQLite to one index.
      ...equalColumns.flatMap(([key, name]) =>
        filter[key] === undefined ? [] : [name === index ? sql`${column(name)} = ${filter[key]}` : sql`+${column(name)} = ${filter[key]}`],
      ),
      ...(index === 'status' ? [hasEntry(alias)] : []),
      ...(from === undefined ? [] : [sql`${column('started_us')} >= ${from}`]),
      ...(to === undefined ? [] : [sql`${column('started_us')} < ${to}`]),
      ...(marks === undefined ? [] : [marks.length === 0 ? sql`false` : sql`glob(${globOf(marks)}, ${column('marks')})`]),
      ...(annotated === undefined
        ? []
        : [sql`${annotated ? sql`exists` : sql`not exists`} (select 1 from annotations a where a.run_id = ${column('id')})`]),
      ...(label === undefined ? [] : [sql`exists (select 1 from annotations a where a.run_id = ${column('id')} and ${hasLabel(label)})`]),
      ...(text === undefined ? [] : [sql`${column('id')} in (${textMatches(text, ids)})`]),
      // Names of tools are in the list as JSON writes them, after a bracket that no name can hold unescaped.
      ...(tool === undefined ? [] : [sql`instr(${column('tools')}, ${`[${JSON.stringify(tool)},`}) > 0`]),
      ...(issue === undefined ? [] : [sql`${column('id')} in (select run_id from issue_runs where issue = ${placeOfIssue(issue)})`]),
      ...(minDuration === undefined ? [] : [sql`${took} >= ${minDuration}`]),
      ...(maxDuration === undefined ? [] : [sql`${took} <= ${maxDuration}`]),
      ...(minCost === undefined ? [] : [sql`${column('cost_usd')} >= ${minCost}`]),
      ...(maxCost === undefined ? [] : [sql`${column('cost_usd')} <= ${maxCost}`]),
    ];
    return sql<boolean>`(${sql.join(parts, sql` and `)})`;
  };
}

/** The condition of the index `runs_by_status`, in its words: SQLite uses a partial index only where a statement has them. */
function hasEntry(alias: string): RawBuilder<boolean> {
  return sql<boolean>`${sql.ref(`${alias}.status`)} <> 'ok'`;
}

/** `undefined` when the filter names no verdict. */
async function marksOf(db: Db, { verdict, evaluator }: RunFilter): Promise<readonly KnownMark[] | undefined> {
  if (verdict === undefined && evaluator === undefined) return undefined;
  return (await readMarks(db)).filter(({ name, word }) => word !== null && (evaluator ?? name) === name && (verdict ?? word) === word);
}

/** Condition on an annotation `a`: the text is the label, or `name=label`. */
function hasLabel(text: string): RawBuilder<boolean> {
  const sign = text.indexOf('=');
  if (sign < 0) return sql<boolean>`a.label = ${text}`;
  return sql<boolean>`(a.label = ${text} or (a.label = ${text.slice(sign + 1)} and a.name = ${text.slice(0, sign)}))`;
}

/** The issue that has the runs of this one: itself, or the one that it was merged into. */
function placeOfIssue(issue: IssueId): RawBuilder<number> {
  const id = numberOf(issue);
  return sql<number>`coalesce((select merged_into from issues where id = ${id}), ${id})`;
}

/** The next runs of the issue. `floor`: the last of them when there are more. */
async function runsOfIssue(
  db: Db,
  { issue, traceId, from = 0, to = Number.MAX_SAFE_INTEGER }: RunFilter,
  after: RunPlace | undefined,
): Promise<{ readonly ids: readonly number[]; readonly floor: RunPlace | undefined } | undefined> {
  if (issue === undefined || traceId !== undefined) return undefined;
  const rows = await db
    .selectFrom('issue_runs')
    .select(['run_id as id', 'started_us as startedAt'])
    .where('issue', '=', placeOfIssue(issue))
    .where('started_us', '>=', from)
    .where('started_us', '<', to)
    .$if(after !== undefined, (select) => select.where(sql<boolean>`(started_us, run_id) < (${after?.startedAt}, ${after?.id})`))
    .orderBy('started_us', 'desc')
    .orderBy('run_id', 'desc')
    .limit(candidatesMax)
    .execute();
  return { ids: rows.map(({ id }) => id), floor: rows.length < candidatesMax ? undefined : rows.at(-1) };
}

/** Runs with such an annotation when they are few; `undefined` when they are many, or the filter names none. */
async function annotatedRuns(db: Db, { label, annotated, traceId }: RunFilter): Promise<readonly number[] | undefined> {
  if (traceId !== undefined || (label === undefined && annotated !== true)) return undefined;
  const which = label === undefined ? sql`true` : hasLabel(label);
  const { rows } = await sql<{ readonly id: number }>`
    select distinct a.run_id as id from annotations a where a.run_id is not null and ${which} limit ${candidatesMax + 1}`.execute(db);
  return rows.length > candidatesMax ? undefined : rows.map(({ id }) => id);
}

/** Row ids of the index. */
function textMatches(text: string, ids: Ids | undefined): RawBuilder<unknown> {
  const query = textQuery(text);
  if (query === undefined) return sql`select rowid from run_texts where false`;
  return ids === undefined
    ? sql`select rowid from run_texts(${query})`
    : sql`select rowid from run_texts(${query}) where rowid between ${ids.from} and ${ids.to}`;
}

/** Runs with these words when they are few; `undefined` when they are many, or the filter has no words. */
async function runsWithText(db: Db, { text, traceId }: RunFilter): Promise<readonly number[] | undefined> {
  if (text === undefined || traceId !== undefined) return undefined;
  const { rows } = await sql<{ readonly rowid: number }>`${textMatches(text, undefined)} limit ${candidatesMax + 1}`.execute(db);
  return rows.length > candidatesMax ? undefined : rows.map(({ rowid }) => rowid);
}

/** An upper bound of the runs that the index of texts has not reached. */
async function unindexedRuns(db: Db): Promise<number> {
  const { rows } = await sql<{ readonly runs: number }>`
    select coalesce(max(0, (select max(id) from runs) - newest_id), 0) + coalesce(max(0, oldest_id - (select min(id) from runs)), 0)
      + (select count(*) from run_texts_waiting) as runs from run_texts_state`.execute(db);
  return rows[0]?.runs ?? 0;
}

/** Rows are chosen by id. */
export async function labelsOf(db: Db, ids: readonly number[]): Promise<ReadonlyMap<number, readonly RunLabel[]>> {
  if (ids.length === 0) return new Map();
  const { rows } = await sql<RunLabel & { readonly id: number }>`
    select run_id as id, name, label from (
      select run_id, name, label, row_number() over (partition by run_id order by max(at_us) desc, name, label) as place
      from annotations where run_id in ${oneOf(ids)} and label is not null group by run_id, name, label) as placed
    where place <= ${rowLabelsMax} order by run_id, place`.execute(db);
  return new Map([...Map.groupBy(rows, ({ id }) => id)].map(([id, own]) => [id, own.map(({ name, label }) => ({ name, label }))]));
}

export function runRow(row: ListedRun, entries: Entries): Omit<RunRow, 'labels'> {
  return {
    tenant: row.tenant as Tenant,
    traceId: row.trace_id as TraceId,
    spanId: row.span_id as SpanId,
    agent: row.agent ?? undefined,
    service: row.service ?? undefined,
    version: row.version ?? undefined,
    sessionId: row.session_id ?? undefined,
    userId: row.user_id ?? undefined,
    environment: row.environment ?? undefined,
    model: row.model ?? undefined,
    startedAt: row.started_us,
    endedAt: row.ended_us,
    completeness: row.completeness,
    status: row.status as RunStatus,
    revision: row.revision,
    inputTokens: row.input_tokens ?? undefined,
    outputTokens: row.output_tokens ?? undefined,
    costUsd: row.cost_usd ?? undefined,
    excerpt: row.excerpt ?? undefined,
    partOf: row.part_of ?? undefined,
    verdicts: (entries.get(row.id) ?? []).flatMap(({ name, verdict }) => (verdict === undefined ? [] : [storedVerdict(name, verdict)])),
  };
}

function storedVerdict(name: string, { kind: _kind, optionsHash: _hash, ...verdict }: EntryVerdict): StoredVerdict {
  return { name, ...verdict };
}
