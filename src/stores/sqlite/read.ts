/** Reading what was stored. Every list goes along an index and stops after a page. */
import { sql } from 'kysely';
import type { ExpressionBuilder, Kysely, Selectable } from 'kysely';
import type { RunKey } from '../../model/agent-trace.ts';
import type { SpanId, Tenant, TraceId } from '../../model/ids.ts';
import { readContent } from '../blob-codec.ts';
import type {
  ContentGone,
  RunFilter,
  RunPage,
  RunQuery,
  RunRow,
  StoredDecision,
  StoredRun,
  StoredVerdict,
  SummaryQuery,
  SummaryRow,
  ToolQuery,
  ToolRow,
} from '../../model/store/store.ts';
import type { ReplayPage, ReplayQuery, ReplayRun } from '../../model/store/replay-store.ts';
import type { EntryVerdict, RunEntry } from '../run-record.ts';
import { annotationsOf } from './annotations.ts';
import { countSpans } from './spans.ts';
import type { Connection } from './connection.ts';
import { hasMark, readMarks, type KnownMark } from './marks.ts';
import { listedColumns } from './rows.ts';
import { readEntries } from './run-entries.ts';
import type { Tables } from './tables.ts';

type Db = Kysely<Tables>;
type ListedRun = Pick<Selectable<Tables['runs']>, (typeof listed)[number]>;

const listed = ['id', ...listedColumns] as const;
/** Runs of one trace that are read. */
const runsOfTraceMax = 1_000;
const rowsMax = 10_000;

export async function readRun(db: Db, { tenant, traceId, spanId }: RunKey): Promise<StoredRun | undefined> {
  const row = await db
    .selectFrom('runs')
    .leftJoin('blocks as c', 'c.id', 'runs.content_block')
    .select(listed.map((column) => `runs.${column}` as const))
    .select(['runs.content_gone', sql<string | null>`block_text(c.body, runs.content_at, runs.content_length)`.as('content')])
    .where('tenant', '=', tenant)
    .where('trace_id', '=', traceId)
    .where('span_id', '=', spanId)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const [entries, spans, annotations] = await Promise.all([
    readEntries(db, [row.id]),
    countSpans(db, tenant, traceId),
    annotationsOf(db, row.id),
  ]);
  return {
    ...runRow(row, entries),
    content: row.content === null ? undefined : readContent(row.content),
    contentGone: (row.content_gone ?? undefined) as ContentGone | undefined,
    spans,
    decisions: decisionsOf(row, entries),
    annotations,
  };
}

export async function readRuns(db: Db, query: RunQuery): Promise<RunPage> {
  const { rows, entries, next } = await readListed(db, query);
  return { runs: rows.map((row) => runRow(row, entries)), next };
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

export async function countRuns(db: Db, { verdict, evaluator, ...filter }: RunFilter): Promise<number> {
  const marks = await marksOf(db, { verdict, evaluator });
  const { runs } = await db
    .selectFrom('runs')
    .select(({ fn }) => fn.countAll<number>().as('runs'))
    .where((eb) => eb.and([...conditions(eb, filter), ...(marks === undefined ? [] : [hasMark(eb, marks)])]))
    .executeTakeFirstOrThrow();
  return runs;
}

/** `undefined` when the filter names no verdict. */
async function marksOf(
  db: Db,
  { verdict, evaluator }: { readonly verdict: RunFilter['verdict'] | undefined; readonly evaluator: string | undefined },
): Promise<readonly KnownMark[] | undefined> {
  if (verdict === undefined && evaluator === undefined) return undefined;
  return (await readMarks(db)).filter(({ name, word }) => word !== null && (evaluator ?? name) === name && (verdict ?? word) === word);
}

/** Along the start of runs; which of them have a verdict is read from their marks. */
async function readListed(
  db: Db,
  { after, limit, verdict, evaluator, ...filter }: RunQuery,
): Promise<{ readonly rows: readonly ListedRun[]; readonly entries: Entries; readonly next: RunPage['next'] }> {
  const marks = await marksOf(db, { verdict, evaluator });
  const rows = await db
    .selectFrom('runs')
    .select(listed)
    .where((eb) => eb.and([...conditions(eb, filter), ...(marks === undefined ? [] : [hasMark(eb, marks)])]))
    .$if(after !== undefined, (select) => select.where(sql<boolean>`(started_us, id) < (${after?.startedAt ?? 0}, ${after?.id ?? 0})`))
    .orderBy('started_us', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute();
  const page = rows.slice(0, limit);
  const entries = await readEntries(
    db,
    page.map(({ id }) => id),
  );
  const last = page.at(-1);
  return {
    rows: page,
    entries,
    next: rows.length > limit && last !== undefined ? { startedAt: last.started_us, id: last.id } : undefined,
  };
}

const columnOf = {
  tenant: 'runs.tenant',
  agent: 'runs.agent',
  service: 'runs.service',
  version: 'runs.version',
  model: 'runs.model',
  prompt: 'runs.prompt',
  sessionId: 'runs.session_id',
  traceId: 'runs.trace_id',
} as const;

const annotated = sql<boolean>`(runs.id in (select run_id from annotations where run_id is not null))`;

function conditions(eb: ExpressionBuilder<Tables, 'runs'>, filter: RunFilter) {
  const equal = Object.entries(columnOf).flatMap(([key, column]) => {
    const value = filter[key as keyof typeof columnOf];
    return value === undefined ? [] : [eb(column, '=', value)];
  });
  return [
    eb('runs.part_of', 'is', null),
    ...equal,
    ...(filter.from === undefined ? [] : [eb('runs.started_us', '>=', filter.from)]),
    ...(filter.to === undefined ? [] : [eb('runs.started_us', '<', filter.to)]),
    ...(filter.annotated === undefined ? [] : [filter.annotated ? annotated : eb.not(annotated)]),
  ];
}

type Entries = ReadonlyMap<number, readonly RunEntry[]>;

function runRow(row: ListedRun, entries: Entries): RunRow {
  return {
    tenant: row.tenant as Tenant,
    traceId: row.trace_id as TraceId,
    spanId: row.span_id as SpanId,
    agent: row.agent ?? undefined,
    service: row.service ?? undefined,
    version: row.version ?? undefined,
    sessionId: row.session_id ?? undefined,
    model: row.model ?? undefined,
    startedAt: row.started_us,
    endedAt: row.ended_us,
    completeness: row.completeness,
    status: row.status,
    revision: row.revision,
    partOf: row.part_of ?? undefined,
    verdicts: (entries.get(row.id) ?? []).flatMap(({ name, verdict }) => (verdict === undefined ? [] : [storedVerdict(name, verdict)])),
  };
}

function storedVerdict(name: string, { kind: _kind, optionsHash: _hash, ...verdict }: EntryVerdict): StoredVerdict {
  return { name, ...verdict };
}

export async function readDecisions(db: Db, traceId: TraceId): Promise<readonly StoredDecision[]> {
  const runs = await db
    .selectFrom('runs')
    .select(listed)
    .where('trace_id', '=', traceId)
    .orderBy('started_us')
    .orderBy('id')
    .limit(runsOfTraceMax)
    .execute();
  const entries = await readEntries(
    db,
    runs.map(({ id }) => id),
  );
  return runs.flatMap((row) => decisionsOf(row, entries));
}

function decisionsOf({ id, tenant, trace_id: traceId, span_id: spanId }: ListedRun, entries: Entries): readonly StoredDecision[] {
  return (entries.get(id) ?? []).flatMap(({ name, decision }) =>
    decision === undefined
      ? []
      : [
          {
            tenant: tenant as Tenant,
            traceId: traceId as TraceId,
            spanId: spanId as SpanId,
            name,
            evaluator: decision.evaluator,
            revision: decision.revision,
            decision: decision.decision,
            reason: decision.reason,
            probability: decision.probability,
          },
        ],
  );
}

export async function readSummary({ scan }: Pick<Connection, 'scan'>, query: SummaryQuery): Promise<readonly SummaryRow[]> {
  const rows = await scan({ of: 'summary', query });
  return rows
    .toSorted(
      (one, other) =>
        one.at - other.at || byText(one.of ?? '', other.of ?? '') || byText(one.name, other.name) || byText(one.verdict, other.verdict),
    )
    .slice(0, rowsMax);
}

export async function readTools({ scan }: Pick<Connection, 'scan'>, query: ToolQuery): Promise<readonly ToolRow[]> {
  const rows = await scan({ of: 'tools', query });
  // Runs without an agent come first.
  return rows
    .toSorted(
      (one, other) =>
        other.calls - one.calls ||
        byText(one.agent ?? '', other.agent ?? '') ||
        byText(one.of ?? '', other.of ?? '') ||
        byText(one.name, other.name),
    )
    .slice(0, rowsMax);
}

function byText(one: string, other: string): number {
  return one < other ? -1 : one === other ? 0 : 1;
}
