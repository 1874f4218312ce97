/** Reads one run, the decisions of a trace, and figures over many runs. */
import { sql, type Kysely } from 'kysely';
import type { RunKey } from '../../model/agent-trace.ts';
import type { SpanId, Tenant, TraceId } from '../../model/ids.ts';
import { readContent } from '../blob-codec.ts';
import type { RollupKind, RollupQuery, Rollups } from '../../model/store/rollup-store.ts';
import type { ContentGone, StoredDecision, StoredRun, SummaryQuery, SummaryRow, ToolQuery, ToolRow } from '../../model/store/store.ts';
import { annotationsOf } from './annotations.ts';
import { countSpans } from './spans.ts';
import type { Connection } from './connection.ts';
import { readEntries } from './run-entries.ts';
import { labelsOf, listed, runRow, type Entries, type ListedRun } from './run-list.ts';
import { readRunRevisions } from './run-revisions.ts';
import type { Tables } from './tables.ts';

type Db = Kysely<Tables>;

/** Runs of one trace that are read. */
const runsOfTraceMax = 1_000;
const rowsMax = 10_000;

export async function readRun(db: Db, { tenant, traceId, spanId }: RunKey): Promise<StoredRun | undefined> {
  const row = await db
    .selectFrom('runs')
    .leftJoin('blocks as c', 'c.id', 'runs.content_block')
    .select(listed.map((column) => `runs.${column}` as const))
    .select(['runs.content_gone', 'runs.task', sql<string | null>`block_text(c.body, runs.content_at, runs.content_length)`.as('content')])
    .where('tenant', '=', tenant)
    .where('trace_id', '=', traceId)
    .where('span_id', '=', spanId)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const [entries, labels, spans, annotations, revisions] = await Promise.all([
    readEntries(db, [row.id]),
    labelsOf(db, [row.id]),
    countSpans(db, tenant, traceId),
    annotationsOf(db, row.id),
    row.revision > 1 ? readRunRevisions(db, row.id) : [],
  ]);
  return {
    ...runRow(row, entries),
    labels: labels.get(row.id) ?? [],
    content: row.content === null ? undefined : readContent(row.content),
    contentGone: (row.content_gone ?? undefined) as ContentGone | undefined,
    spans,
    ...(row.task === null ? {} : { task: row.task }),
    ...(revisions.length === 0 ? {} : { revisions }),
    decisions: decisionsOf(row, entries),
    annotations,
  };
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

export async function readRollups<Kind extends RollupKind>(
  { scan }: Pick<Connection, 'scan'>,
  kind: Kind,
  query: RollupQuery,
): Promise<Rollups<Kind>> {
  return await scan({ of: 'rollups', query: { ...query, kind } });
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
