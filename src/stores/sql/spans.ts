/** Spans in SQLite: pieces by trace. */
import type { Kysely } from 'kysely';
import type { SpanId, Tenant, TraceId } from '../../model/ids.ts';
import type { KnownTrace, NewSpanPiece, SpanPiece, TraceName } from '../../model/store/store.ts';
import type { Micros } from '../../model/timestamp.ts';
import { compressed } from '../compression.ts';
import type { Rows } from './rows.ts';
import type { Tables } from './tables.ts';

type Db = Kysely<Tables>;

/** Limit for all traces of one question. */
const knownRunsMax = 100_000;

/** In the transaction that is open. */
export async function writePieces(to: Rows, pieces: readonly NewSpanPiece[]): Promise<void> {
  for (const { tenant, traceId, joined, digest, startedAt, storedAt, spans, isWhole, isRedacted, body, isPlain } of pieces) {
    await to.piece({
      tenant,
      trace_id: traceId,
      digest,
      started_us: startedAt,
      stored_us: storedAt,
      spans,
      is_whole: isWhole ? 1 : 0,
      is_redacted: isRedacted ? 1 : 0,
      body: isPlain === true ? compressed(body) : body,
    });
    for (const part of joined) await to.joinedTrace({ tenant, trace_id: part, whole_id: traceId });
  }
}

export async function readPieces(db: Db, tenant: Tenant, traceId: TraceId): Promise<readonly SpanPiece[]> {
  const whole = await wholeOf(db, tenant, traceId);
  const [rows, joined] = await Promise.all([
    db.selectFrom('spans').selectAll().where('trace_id', '=', whole).where('tenant', '=', tenant).orderBy('id').execute(),
    db
      .selectFrom('joined_traces')
      .select('trace_id')
      .where('whole_id', '=', whole)
      .where('tenant', '=', tenant)
      .orderBy('trace_id')
      .execute(),
  ]);
  return rows.map((row) => ({
    tenant,
    traceId: whole,
    joined: joined.map(({ trace_id: id }) => id as TraceId),
    digest: row.digest,
    startedAt: row.started_us,
    storedAt: row.stored_us,
    spans: row.spans,
    isWhole: row.is_whole === 1,
    isRedacted: row.is_redacted === 1,
    body: row.body,
  }));
}

export async function readKnown(db: Db, traces: readonly TraceName[]): Promise<readonly KnownTrace[]> {
  const ids = traces.map(({ traceId }) => traceId);
  if (ids.length === 0) return [];
  const [runs, joined] = await Promise.all([
    db
      .selectFrom('runs')
      .select(['tenant', 'trace_id', 'span_id', 'revision', 'part_of'])
      .where('trace_id', 'in', ids)
      .orderBy('id')
      .limit(knownRunsMax)
      .execute(),
    db.selectFrom('joined_traces').select(['tenant', 'trace_id']).where('trace_id', 'in', ids).execute(),
  ]);
  const keyOf = (tenant: string, traceId: string): string => `${traceId}${tenant}`;
  const runsBy = Map.groupBy(runs, (row) => keyOf(row.tenant, row.trace_id));
  const parts = new Set(joined.map((row) => keyOf(row.tenant, row.trace_id)));
  return traces.flatMap(({ tenant, traceId }) => {
    const [own, isJoined] = [runsBy.get(keyOf(tenant, traceId)) ?? [], parts.has(keyOf(tenant, traceId))];
    return own.length === 0 && !isJoined
      ? []
      : [
          {
            tenant,
            traceId,
            isJoined,
            runs: own.map((row) => ({ spanId: row.span_id as SpanId, revision: row.revision, partOf: row.part_of ?? undefined })),
          },
        ];
  });
}

export async function countSpans(db: Db, tenant: Tenant, traceId: TraceId): Promise<number> {
  const whole = await wholeOf(db, tenant, traceId);
  const row = await db
    .selectFrom('spans')
    .select(({ fn }) => fn.sum<number | null>('spans').as('spans'))
    .where('trace_id', '=', whole)
    .where('tenant', '=', tenant)
    .executeTakeFirst();
  return row?.spans ?? 0;
}

/** The trace that the spans of this one are kept with. */
async function wholeOf(db: Db, tenant: Tenant, traceId: TraceId): Promise<TraceId> {
  const row = await db
    .selectFrom('joined_traces')
    .select('whole_id')
    .where('trace_id', '=', traceId)
    .where('tenant', '=', tenant)
    .executeTakeFirst();
  return (row?.whole_id ?? traceId) as TraceId;
}

export interface Forgetting {
  /** Runs that are gone. */
  readonly of: readonly { readonly tenant: string; readonly trace_id: string }[];
  readonly before: Micros;
  readonly piecesMax: number;
}

/** Gives the number of pieces that went. */
export async function forgetSpans(db: Db, { of, before, piecesMax }: Forgetting): Promise<number> {
  const old = await db
    .selectFrom('spans')
    .select(['id', 'tenant', 'trace_id'])
    .where('started_us', '<', before)
    .orderBy('started_us')
    .orderBy('id')
    .limit(piecesMax)
    .execute();
  const keyOf = (tenant: string, traceId: string): string => `${traceId}${tenant}`;
  const gone = new Set(of.map((run) => keyOf(run.tenant, run.trace_id)));
  const joined = await db
    .selectFrom('joined_traces')
    .selectAll()
    .where(
      'trace_id',
      'in',
      of.map((run) => run.trace_id),
    )
    .execute();
  for (const row of joined) if (gone.has(keyOf(row.tenant, row.trace_id))) gone.add(keyOf(row.tenant, row.whole_id));
  const traceIds = [...new Set([...of.map((run) => run.trace_id), ...joined.map((row) => row.whole_id)])];
  const own = await db.selectFrom('spans').select(['id', 'tenant', 'trace_id']).where('trace_id', 'in', traceIds).execute();
  const rows = [...old, ...own.filter((row) => gone.has(keyOf(row.tenant, row.trace_id)))];
  const ids = [...new Set(rows.map(({ id }) => id))];
  if (ids.length > 0) await db.deleteFrom('spans').where('id', 'in', ids).execute();
  // Where a trace has later pieces, the traces that were joined to it are found no more: what is left of it is old as well.
  const wholes = [...new Set(rows.map((row) => row.trace_id))];
  if (wholes.length > 0)
    await db
      .deleteFrom('joined_traces')
      .where('whole_id', 'in', wholes)
      .where('tenant', 'in', [...new Set(rows.map(({ tenant }) => tenant))])
      .execute();
  return ids.length;
}
