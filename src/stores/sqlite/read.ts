/** Reading what was stored. Every list goes along an index and stops after a page. */
import { sql } from 'kysely';
import type { ExpressionBuilder, Kysely, Selectable } from 'kysely';
import type { RunKey } from '../../model/agent-trace.ts';
import type { SpanId, Tenant, TraceId } from '../../model/ids.ts';
import { isJsonArray, isJsonObject, parseJson } from '../../model/json.ts';
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
import type { VerdictWord } from '../../model/verdict.ts';
import { annotationsOf } from './annotations.ts';
import { countSpans } from './spans.ts';
import { listedColumns } from './rows.ts';
import type { Tables } from './tables.ts';

type Db = Kysely<Tables>;
type ListedRun = Omit<Selectable<Tables['runs']>, 'content' | 'content_gone'>;

const listed = ['id', ...listedColumns] as const satisfies readonly (keyof ListedRun)[];
/** Runs of one trace that are read. */
const runsOfTraceMax = 1_000;
const rowsMax = 10_000;

export async function readRun(db: Db, { tenant, traceId, spanId }: RunKey): Promise<StoredRun | undefined> {
  const row = await db
    .selectFrom('runs')
    .selectAll()
    .where('tenant', '=', tenant)
    .where('trace_id', '=', traceId)
    .where('span_id', '=', spanId)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const [verdicts, decisions, spans, annotations] = await Promise.all([
    verdictsOf(db, [row.id]),
    decisionsOf(db, [row]),
    countSpans(db, tenant, traceId),
    annotationsOf(db, row.id),
  ]);
  return {
    ...runRow(row, verdicts),
    content: row.content === null ? undefined : readContent(row.content),
    contentGone: (row.content_gone ?? undefined) as ContentGone | undefined,
    spans,
    decisions,
    annotations,
  };
}

export async function readRuns(db: Db, query: RunQuery): Promise<RunPage> {
  const rows = await (query.verdict === undefined && query.evaluator === undefined ? byRuns(db, query) : byEvaluations(db, query));
  const page = rows.slice(0, query.limit);
  const verdicts = await verdictsOf(
    db,
    page.map(({ id }) => id),
  );
  const last = page.at(-1);
  return {
    runs: page.map((row) => runRow(row, verdicts)),
    next: rows.length > query.limit && last !== undefined ? { startedAt: last.started_us, id: last.id } : undefined,
  };
}

function byRuns(db: Db, { after, limit, ...filter }: RunQuery): Promise<readonly ListedRun[]> {
  return db
    .selectFrom('runs')
    .select(listed)
    .where((eb) => eb.and(conditions(eb, filter)))
    .$if(after !== undefined, (select) => select.where(sql<boolean>`(started_us, id) < (${after?.startedAt ?? 0}, ${after?.id ?? 0})`))
    .orderBy('started_us', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute();
}

/** Goes along the verdicts, which know their run's start. A run with several such verdicts has several rows side by side and is listed once. */
function byEvaluations(db: Db, { after, limit, verdict, evaluator, ...filter }: RunQuery): Promise<readonly ListedRun[]> {
  return db
    .selectFrom('evaluations as e')
    .innerJoin('runs', 'runs.id', 'e.run_id')
    .select(listed.map((column) => `runs.${column}` as const))
    .$if(evaluator !== undefined, (select) => select.where('e.name', '=', evaluator ?? ''))
    .$if(verdict !== undefined, (select) => select.where('e.verdict', '=', verdict ?? ''))
    .$if(filter.agent !== undefined, (select) => select.where('e.agent', '=', filter.agent ?? ''))
    .$if(filter.from !== undefined, (select) => select.where('e.started_us', '>=', filter.from ?? 0))
    .$if(filter.to !== undefined, (select) => select.where('e.started_us', '<', filter.to ?? 0))
    .$if(after !== undefined, (select) =>
      select.where(sql<boolean>`(e.started_us, e.run_id) < (${after?.startedAt ?? 0}, ${after?.id ?? 0})`),
    )
    .where((eb) => eb.and(conditions(eb, filter)))
    .groupBy(['e.started_us', 'e.run_id'])
    .orderBy('e.started_us', 'desc')
    .orderBy('e.run_id', 'desc')
    .limit(limit + 1)
    .execute();
}

const columnOf = {
  tenant: 'runs.tenant',
  agent: 'runs.agent',
  service: 'runs.service',
  version: 'runs.version',
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

async function verdictsOf(db: Db, ids: readonly number[]): Promise<ReadonlyMap<number, readonly StoredVerdict[]>> {
  if (ids.length === 0) return new Map();
  const rows = await db.selectFrom('evaluations').selectAll().where('run_id', 'in', ids).orderBy('run_id').orderBy('name').execute();
  return new Map([...Map.groupBy(rows, (row) => row.run_id)].map(([id, own]) => [id, own.map(storedVerdict)]));
}

function storedVerdict(row: Selectable<Tables['evaluations']>): StoredVerdict {
  const evidence = parseJson(row.evidence);
  const details = parseJson(row.details);
  return {
    name: row.name,
    evaluator: row.evaluator,
    version: row.version,
    revision: row.revision,
    verdict: row.verdict as VerdictWord,
    score: row.score ?? undefined,
    label: row.label,
    explanation: row.explanation,
    reason: row.reason ?? undefined,
    evidence: isJsonArray(evidence) ? evidence.filter((one) => typeof one === 'string') : [],
    details: isJsonObject(details) ? details : {},
    sampleProbability: row.sample_probability,
  };
}

function runRow(row: ListedRun, verdicts: ReadonlyMap<number, readonly StoredVerdict[]>): RunRow {
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
    verdicts: verdicts.get(row.id) ?? [],
  };
}

export async function readDecisions(db: Db, traceId: TraceId): Promise<readonly StoredDecision[]> {
  return decisionsOf(
    db,
    await db
      .selectFrom('runs')
      .select(listed)
      .where('trace_id', '=', traceId)
      .orderBy('started_us')
      .orderBy('id')
      .limit(runsOfTraceMax)
      .execute(),
  );
}

async function decisionsOf(db: Db, runs: readonly ListedRun[]): Promise<readonly StoredDecision[]> {
  if (runs.length === 0) return [];
  const rows = await db
    .selectFrom('decisions')
    .selectAll()
    .where(
      'run_id',
      'in',
      runs.map(({ id }) => id),
    )
    .orderBy('name')
    .execute();
  const byRun = Map.groupBy(rows, (row) => row.run_id);
  return runs.flatMap(({ id, tenant, trace_id: traceId, span_id: spanId }) =>
    (byRun.get(id) ?? []).map(({ name, evaluator, revision, decision, reason, probability }) => ({
      tenant: tenant as Tenant,
      traceId: traceId as TraceId,
      spanId: spanId as SpanId,
      name,
      evaluator,
      revision,
      decision,
      reason: reason ?? undefined,
      probability: probability ?? undefined,
    })),
  );
}

/** Of rows that know their run. */
function ofTenant(tenant: Tenant | undefined) {
  return sql<boolean>`(select tenant from runs where runs.id = run_id) = ${tenant ?? ''}`;
}

export async function readSummary(
  db: Db,
  { from, to, agent, tenant, evaluator, bucketMicros }: SummaryQuery,
): Promise<readonly SummaryRow[]> {
  const bucket = sql<number>`started_us - started_us % ${sql.lit(bucketMicros)}`;
  const rows = await db
    .selectFrom('evaluations')
    .select(({ fn }) => [bucket.as('at'), 'name', 'verdict', fn.countAll<number>().as('count'), fn.avg<number | null>('score').as('score')])
    .where('started_us', '>=', from)
    .where('started_us', '<', to)
    .$if(agent !== undefined, (select) => select.where('agent', '=', agent ?? ''))
    .$if(evaluator !== undefined, (select) => select.where('name', '=', evaluator ?? ''))
    .$if(tenant !== undefined, (select) => select.where(ofTenant(tenant)))
    .groupBy(['at', 'name', 'verdict'])
    .orderBy('at')
    .orderBy('name')
    .orderBy('verdict')
    .limit(rowsMax)
    .execute();
  return rows.map(({ at, name, verdict, count, score }) => ({
    at,
    name,
    verdict: verdict as VerdictWord,
    count,
    score: score ?? undefined,
  }));
}

export async function readTools(db: Db, { from, to, agent, tenant }: ToolQuery): Promise<readonly ToolRow[]> {
  const ended = (word: string) => sql<number>`sum(ended = ${sql.lit(word)})`;
  const rows = await db
    .selectFrom('tool_calls')
    .select(({ fn }) => [
      'agent',
      'name',
      fn.countAll<number>().as('calls'),
      ended('failed').as('errors'),
      ended('not_executed').as('not_executed'),
      fn.avg<number | null>('took_us').as('took'),
    ])
    .where('started_us', '>=', from)
    .where('started_us', '<', to)
    .$if(agent !== undefined, (select) => select.where('agent', '=', agent ?? ''))
    .$if(tenant !== undefined, (select) => select.where(ofTenant(tenant)))
    .groupBy(['agent', 'name'])
    .orderBy('calls', 'desc')
    .orderBy('agent')
    .orderBy('name')
    .limit(rowsMax)
    .execute();
  return rows.map((row) => ({
    agent: row.agent ?? undefined,
    name: row.name,
    calls: row.calls,
    errors: row.errors,
    notExecuted: row.not_executed,
    tookMicros: row.took ?? undefined,
  }));
}
