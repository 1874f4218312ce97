/** Annotations in SQLite: rows that hang on their run, or wait for it. */
import { sql, type Insertable, type Kysely, type Selectable, type Transaction } from 'kysely';
import {
  annotationId,
  annotationsPerTraceMax,
  annotationsWaitingMax,
  type AnnotatedRun,
  type Annotation,
  type AnnotationFate,
  type AnnotationStore,
  type AnnotatorKind,
  type IdentifiedAnnotation,
  storableText,
  type StoredAnnotation,
  traceOfAnnotation,
} from '../../model/store/annotation-store.ts';
import type { SpanId, Tenant, TraceId } from '../../model/ids.ts';
import { chunks as chunksOf } from '../../model/chunks.ts';
import { isJsonArray, isJsonObject, type JsonValue } from '../../model/json.ts';
import type { Micros } from '../../model/timestamp.ts';
import type { EntryVerdict } from '../run-record.ts';
import { chunks, oneOf } from './rows.ts';
import { readEntries } from './run-entries.ts';
import type { Tables } from './tables.ts';

type Db = Kysely<Tables>;
type Tx = Transaction<Tables>;
type Row = Insertable<Tables['annotations']>;

/** No token can have this name. */
const anyTenant = '*';

export function annotationStore(db: Db): AnnotationStore {
  return {
    async write(annotations, receivedAt) {
      return annotations.length === 0 ? [] : await db.transaction().execute((tx) => writeAnnotations(tx, annotations, receivedAt));
    },
    async remove(id) {
      const traceId = traceOfAnnotation(id);
      if (traceId === undefined) return false;
      return await db.transaction().execute(async (tx) => {
        const rows = await tx
          .selectFrom('annotations')
          .select(['id', 'trace_id', 'tenant', 'span_id', 'tool_call', 'name', 'annotator'])
          .where('trace_id', '=', traceId)
          .execute();
        const found = rows.find((row) => idOf(row) === id);
        if (found !== undefined) await tx.deleteFrom('annotations').where('id', '=', found.id).execute();
        return found !== undefined;
      });
    },
    waiting: () => countWaiting(db),
    async expire({ before, limit }) {
      const old = db
        .selectFrom('annotations')
        .select('id')
        .where('run_id', 'is', null)
        .where('received_us', '<', before)
        .orderBy('received_us')
        .orderBy('id')
        .limit(limit);
      const { numDeletedRows } = await db.deleteFrom('annotations').where('id', 'in', old).executeTakeFirst();
      return Number(numDeletedRows);
    },
    async onRuns({ from, to, name, agent, tenant: of, kinds, limit }) {
      const rows = await db
        .selectFrom('annotations as a')
        .innerJoin('runs as r', 'r.id', 'a.run_id')
        .select([
          'a.tool_call',
          'a.name',
          'a.annotator',
          'a.kind',
          'a.label',
          'a.score',
          'a.passed',
          'a.explanation',
          'a.at_us',
          'a.probability',
          'r.tenant',
          'r.trace_id',
          'r.span_id',
          'r.version',
          'r.session_id',
          'r.id as run',
        ])
        .where('r.started_us', '>=', from)
        .where('r.started_us', '<', to)
        .where('a.kind', 'in', kinds)
        .$if(name !== undefined, (select) => select.where('a.name', '=', name ?? ''))
        .$if(agent !== undefined, (select) => select.where('r.agent', '=', agent ?? ''))
        .$if(of !== undefined, (select) => select.where('r.tenant', '=', of ?? ''))
        .orderBy('r.started_us', 'desc')
        .orderBy('r.id', 'desc')
        .orderBy('a.name')
        .orderBy('a.annotator')
        .orderBy('a.tool_call')
        .limit(limit)
        .execute();
      const verdicts = await verdictsFor(db, rows);
      return rows.map(({ tenant, trace_id: traceId, span_id: spanId, version, session_id: sessionId, run, ...own }): AnnotatedRun => {
        const annotation = stored(own);
        const { verdict, parts } = verdicts.get(`${run} ${own.name}`) ?? { verdict: undefined, parts: undefined };
        const said = annotation.toolCall === undefined ? { verdict } : onCall(verdict, parts, annotation.toolCall);
        const key = { tenant: tenant as Tenant, traceId: traceId as TraceId, spanId: spanId as SpanId };
        const known = { ...(version === null ? {} : { agentVersion: version }), ...(sessionId === null ? {} : { sessionId }) };
        return { ...key, ...known, annotation, ...said };
      });
    },
  };
}

/** Runs whose verdicts are read together. */
const runsPerRead = 500;

interface AnnotatedVerdict {
  readonly verdict: AnnotatedRun['verdict'];
  readonly parts: JsonValue | undefined;
}

/** Verdicts of evaluators of the same names on these runs. */
async function verdictsFor(
  db: Db,
  rows: readonly { readonly run: number; readonly name: string }[],
): Promise<ReadonlyMap<string, AnnotatedVerdict>> {
  const names = Map.groupBy(rows, ({ run }) => run);
  const found = new Map<string, AnnotatedVerdict>();
  for (const runs of chunksOf([...names.keys()], runsPerRead))
    for (const [run, entries] of await readEntries(db, runs))
      for (const { name, verdict } of entries)
        if (verdict !== undefined && names.get(run)?.some((row) => row.name === name) === true)
          found.set(`${run} ${name}`, annotatedVerdict(verdict));
  return found;
}

function annotatedVerdict({
  evaluator,
  kind,
  version,
  verdict: word,
  label,
  sampleProbability,
  upstream,
  details,
}: EntryVerdict): AnnotatedVerdict {
  const { model, parts } = details;
  const drawn = { sampleProbability, ...(upstream === undefined ? {} : { upstream }) };
  return { verdict: { evaluator, kind, version, model: typeof model === 'string' ? model : undefined, word, label, ...drawn }, parts };
}

/** Annotations of one run, by name and annotator. */
export async function annotationsOf(db: Db, runId: number): Promise<readonly IdentifiedAnnotation[]> {
  return (
    await db
      .selectFrom('annotations')
      .select([
        'trace_id',
        'tenant',
        'span_id',
        'tool_call',
        'name',
        'annotator',
        'kind',
        'label',
        'score',
        'passed',
        'explanation',
        'at_us',
        'probability',
      ])
      .where('run_id', '=', runId)
      .orderBy('name')
      .orderBy('annotator')
      .orderBy('tool_call')
      .execute()
  ).map((row) => ({ id: idOf(row), ...stored(row) }));
}

function idOf({
  trace_id: traceId,
  tenant,
  span_id: spanId,
  tool_call: toolCall,
  name,
  annotator,
}: Pick<Selectable<Tables['annotations']>, 'trace_id' | 'tenant' | 'span_id' | 'tool_call' | 'name' | 'annotator'>): string {
  return annotationId({
    traceId: traceId as TraceId,
    tenant: tenant === anyTenant ? undefined : (tenant as Tenant),
    spanId: spanId === '' ? undefined : (spanId as SpanId),
    ...(toolCall === '' ? {} : { toolCall }),
    name,
    by: annotator,
  });
}

function stored(
  row: Pick<
    Selectable<Tables['annotations']>,
    'tool_call' | 'name' | 'annotator' | 'kind' | 'label' | 'score' | 'passed' | 'explanation' | 'at_us' | 'probability'
  >,
): StoredAnnotation {
  return {
    ...(row.tool_call === '' ? {} : { toolCall: row.tool_call }),
    name: row.name,
    by: row.annotator,
    kind: row.kind as AnnotatorKind,
    label: row.label ?? undefined,
    score: row.score ?? undefined,
    passed: row.passed === null ? undefined : row.passed === 1,
    explanation: row.explanation,
    at: row.at_us,
    ...(row.probability === null ? {} : { probability: row.probability }),
  };
}

/** Within a transaction of the caller. Resolves with the fate of each, in order. */
export async function writeAnnotations(tx: Tx, annotations: readonly Annotation[], receivedAt: Micros): Promise<readonly AnnotationFate[]> {
  if (annotations.length === 0) return [];
  const held = await countsByTrace(tx, annotations);
  const stored = await tracesWithRuns(tx, annotations);
  const waiting = await waitingByTenant(tx, annotations);
  const fates: (AnnotationFate | Row)[] = [];
  for (const annotation of annotations) {
    const tenant = annotation.tenant ?? anyTenant;
    const key = `${annotation.traceId} ${tenant}`;
    const own = held.get(key) ?? 0;
    const mayWait = !stored.has(key);
    const others = waiting.get(tenant) ?? 0;
    // A little too strict: what takes the place of another one is counted as well.
    if (own >= annotationsPerTraceMax) fates.push('too_many');
    else if (mayWait && others >= annotationsWaitingMax) fates.push('full');
    else {
      held.set(key, own + 1);
      if (mayWait) waiting.set(tenant, others + 1);
      fates.push(rowOf(annotation, receivedAt));
    }
  }
  const rows = fates.filter((fate) => typeof fate !== 'string');
  // One statement changes a row once.
  for (const distinct of roundsOf(rows)) for (const some of chunks(distinct)) await put(tx, some);
  await settleAnnotations(tx, [...new Set(annotations.map(({ traceId }) => traceId))]);
  const kept = new Map<string, Kept>();
  for (const some of chunks(rows)) for (const row of await keptOf(tx, some)) kept.set(keyText(row), row);
  return fates.map((fate) => (typeof fate === 'string' ? fate : fateOf(fate, kept.get(keyText(fate)))));
}

function rowOf(
  { tenant, traceId, spanId, toolCall, isNear, name, by, kind, label, score, passed, explanation, at, probability }: Annotation,
  receivedAt: Micros,
): Row {
  return {
    trace_id: traceId,
    tenant: tenant ?? anyTenant,
    span_id: spanId ?? '',
    tool_call: storableText(toolCall ?? ''),
    is_near: spanId === undefined || isNear === true ? 1 : 0,
    name: storableText(name),
    annotator: storableText(by),
    kind,
    label: label ?? null,
    score: score ?? null,
    passed: passed === undefined ? null : passed ? 1 : 0,
    explanation,
    at_us: at,
    received_us: receivedAt,
    run_id: null,
    probability: probability ?? null,
  };
}

/** Rows of one key go into rounds one after the other. */
function roundsOf(rows: readonly Row[]): readonly (readonly Row[])[] {
  const times = new Map<string, number>();
  const rounds: Row[][] = [];
  for (const row of rows) {
    const round = times.get(keyText(row)) ?? 0;
    times.set(keyText(row), round + 1);
    (rounds[round] ??= []).push(row);
  }
  return rounds;
}

async function put(tx: Tx, rows: readonly Row[]): Promise<void> {
  await tx
    .insertInto('annotations')
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .columns(['trace_id', 'tenant', 'span_id', 'tool_call', 'name', 'annotator'])
        .doUpdateSet(({ ref }) => ({
          is_near: ref('excluded.is_near'),
          kind: ref('excluded.kind'),
          label: ref('excluded.label'),
          score: ref('excluded.score'),
          passed: ref('excluded.passed'),
          explanation: ref('excluded.explanation'),
          at_us: ref('excluded.at_us'),
          received_us: ref('excluded.received_us'),
          probability: sql<number | null>`coalesce(excluded.probability, annotations.probability)`,
        }))
        .whereRef('excluded.at_us', '>=', 'annotations.at_us'),
    )
    .execute();
}

/** Hangs annotations on the runs that they are about, as far as these are there; of two that turn out to be the same one's on the same run the newer stays. */
export async function settleAnnotations(tx: Tx, traces: readonly string[]): Promise<void> {
  const some = (await tx.selectFrom('annotations').select('trace_id').distinct().where('trace_id', 'in', oneOf(traces)).execute()).map(
    (row) => row.trace_id,
  );
  if (some.length === 0) return;
  await sql`update annotations set run_id = (
      select r.id from runs r where r.trace_id = annotations.trace_id and annotations.tenant in (r.tenant, ${anyTenant}) and (annotations.is_near = 1 or r.span_id = annotations.span_id)
      order by r.span_id = annotations.span_id desc, r.part_of is not null, r.started_us, r.ended_us desc, r.id limit 1)
    where trace_id in ${oneOf(some)}`.execute(tx);
  // An annotation that replaces the label of a drawn run is one.
  await sql`update annotations set probability = (
      select max(b.probability) from annotations b where b.run_id = annotations.run_id and b.tool_call = annotations.tool_call and b.name = annotations.name and b.annotator = annotations.annotator)
    where trace_id in ${oneOf(some)} and run_id is not null and probability is null`.execute(tx);
  await sql`delete from annotations where trace_id in ${oneOf(some)} and run_id is not null and exists (
      select 1 from annotations b where b.run_id = annotations.run_id and b.tool_call = annotations.tool_call and b.name = annotations.name and b.annotator = annotations.annotator and (b.at_us, b.received_us, b.id) > (annotations.at_us, annotations.received_us, annotations.id))`.execute(
    tx,
  );
}

type Kept = Pick<
  Selectable<Tables['annotations']>,
  'trace_id' | 'tenant' | 'span_id' | 'tool_call' | 'name' | 'annotator' | 'run_id' | 'at_us'
>;

async function keptOf(tx: Tx, rows: readonly Row[]): Promise<readonly Kept[]> {
  const keys = sql.join(
    rows.map((row) => sql`(${row.trace_id}, ${row.tenant}, ${row.span_id}, ${row.tool_call}, ${row.name}, ${row.annotator})`),
  );
  return (
    await sql<Kept>`select trace_id, tenant, span_id, tool_call, name, annotator, run_id, at_us from annotations where (trace_id, tenant, span_id, tool_call, name, annotator) in (values ${keys})`.execute(
      tx,
    )
  ).rows;
}

function keyText(row: Pick<Row, 'trace_id' | 'tenant' | 'span_id' | 'tool_call' | 'name' | 'annotator'>): string {
  return JSON.stringify([row.trace_id, row.tenant, row.span_id, row.tool_call, row.name, row.annotator]);
}

function fateOf(row: Row, kept: Kept | undefined): AnnotationFate {
  if (kept === undefined || kept.at_us !== row.at_us) return 'outdated';
  return kept.run_id === null ? 'waiting' : 'attached';
}

/** By trace and tenant: who knows the id of another tenant's trace takes no room from it. */
async function countsByTrace(tx: Tx, annotations: readonly Annotation[]): Promise<Map<string, number>> {
  const ids = [...new Set(annotations.map(({ traceId }) => traceId))];
  const rows = await tx
    .selectFrom('annotations')
    .select(({ fn }) => ['trace_id', 'tenant', fn.countAll<number>().as('count')])
    .where('trace_id', 'in', ids)
    .groupBy(['trace_id', 'tenant'])
    .execute();
  return new Map(rows.map(({ trace_id: traceId, tenant, count }) => [`${traceId} ${tenant}`, count]));
}

/** Annotations of these runs wait for nothing, so they find room when no others do. Keyed by trace and tenant. */
async function tracesWithRuns(tx: Tx, annotations: readonly Annotation[]): Promise<ReadonlySet<string>> {
  const rows = await tx
    .selectFrom('runs')
    .select(['trace_id', 'tenant'])
    .distinct()
    .where('trace_id', 'in', [...new Set(annotations.map(({ traceId }) => traceId))])
    .execute();
  return new Set(rows.flatMap(({ trace_id: traceId, tenant }) => [`${traceId} ${tenant}`, `${traceId} ${anyTenant}`]));
}

async function waitingByTenant(tx: Tx, annotations: readonly Annotation[]): Promise<Map<string, number>> {
  const rows = await tx
    .selectFrom('annotations')
    .select(({ fn }) => ['tenant', fn.countAll<number>().as('count')])
    .where('run_id', 'is', null)
    .where('tenant', 'in', [...new Set(annotations.map(({ tenant }) => tenant ?? anyTenant))])
    .groupBy('tenant')
    .execute();
  return new Map(rows.map(({ tenant, count }) => [tenant, count]));
}

async function countWaiting(db: Db): Promise<number> {
  const { count } = await db
    .selectFrom('annotations')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('run_id', 'is', null)
    .executeTakeFirstOrThrow();
  return count;
}

/** `parts` as verdicts are stored; a call is known by its span or by the model's id of it. The verdict is undefined when the evaluator has none on it. */
export function onCall(
  verdict: AnnotatedRun['verdict'],
  parts: JsonValue | undefined,
  toolCall: string,
): Pick<AnnotatedRun, 'verdict' | 'part'> {
  const found = isJsonArray(parts ?? null)
    ? (parts as readonly JsonValue[]).filter(isJsonObject).find((part) => part['span_id'] === toolCall || part['call_id'] === toolCall)
    : undefined;
  const [index, passed] = [found?.['index'], found?.['passed']];
  if (verdict === undefined || typeof index !== 'number' || typeof passed !== 'boolean') return { verdict: undefined };
  const word = passed ? 'pass' : 'fail';
  return { verdict: { ...verdict, word, label: word }, part: index };
}
