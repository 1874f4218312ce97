/** Items that wait for backends, as rows beside their runs. */
import { type Kysely, type Selectable, type Transaction } from 'kysely';
import type { ExportItem } from '../../model/scored-run.ts';
import type { SpanId, Tenant, TraceId } from '../../model/ids.ts';
import { briefText } from '../compression.ts';
import type { AddedExport, ExportCount, ExportRow, ExportStore } from '../../model/store/export-store.ts';
import type { Retention } from '../../model/store/store.ts';
import { leaseEnd, mayTake } from './leases.ts';
import { chunks, type OutboxRow, type Rows, oneOf } from './rows.ts';
import type { Tables } from './tables.ts';
import { batchOf, type Batch, type BatchExport } from './batch.ts';
import { parsedExport } from '../blob-codec.ts';

type Db = Kysely<Tables>;

const dueColumns = ['id', 'part', 'attempts', 'offered_us', 'item'] as const;

/** `write`: one batch in a transaction. */
export function exportStore(
  { db, write }: { readonly db: Db; write(batch: Batch): Promise<readonly AddedExport[]> },
  otherWrites: ExportStore['otherWrites'],
): ExportStore {
  return {
    add: async (exports) => (exports.length === 0 ? [] : await write(await batchOf([], exports))),
    async due({ exporter, now, limit, except, lease }) {
      const wanted = db
        .selectFrom('exports')
        .where('exporter', '=', exporter)
        .where('state', '=', 'waiting')
        .where('due_us', '<=', now)
        .$if(except.length > 0, (select) => select.where('id', 'not in', except))
        .orderBy('id')
        .limit(limit);
      const rows =
        lease === undefined
          ? await wanted.select(dueColumns).execute()
          : await db
              .updateTable('exports')
              .set({ owner: lease.owner, leased_us: leaseEnd(lease) })
              .where('id', 'in', wanted.where(mayTake(lease)).select('id'))
              .returning(dueColumns)
              .execute();
      return rows
        .toSorted((one, other) => one.id - other.id)
        .map(({ id, part, attempts, offered_us: offeredAt, item }) => ({ id, part, attempts, offeredAt, item: readItem(item) }));
    },
    async renew(ids, lease) {
      const held: number[] = [];
      for (const some of chunks(ids)) {
        const rows = await db
          .updateTable('exports')
          .set({ leased_us: leaseEnd(lease) })
          .where('id', 'in', some)
          .where('owner', '=', lease.owner)
          .returning('id')
          .execute();
        held.push(...rows.map(({ id }) => id));
      }
      return held;
    },
    async note({ sent, putBack, dead }) {
      if (sent.length + putBack.length + dead.length === 0) return;
      await db.transaction().execute(async (tx) => {
        for (const some of chunks(sent)) await tx.deleteFrom('exports').where('id', 'in', some).execute();
        for (const { id, attempts, dueAt } of putBack)
          await tx.updateTable('exports').set({ attempts, due_us: dueAt }).where('id', '=', id).where('state', '=', 'waiting').execute();
        for (const { id, attempts, reason } of dead)
          await tx.updateTable('exports').set({ state: 'dead', attempts, reason }).where('id', '=', id).execute();
      });
    },
    async list({ exporter, state, limit, after }) {
      const rows = await db
        .selectFrom('exports as x')
        .innerJoin('runs', 'runs.id', 'x.run_id')
        .select([
          'x.id',
          'x.exporter',
          'x.part',
          'x.revision',
          'x.state',
          'x.attempts',
          'x.offered_us',
          'x.due_us',
          'x.reason',
          'runs.tenant',
          'runs.trace_id',
          'runs.span_id',
        ])
        .$if(exporter !== undefined, (select) => select.where('x.exporter', '=', exporter ?? ''))
        .$if(state !== undefined, (select) => select.where('x.state', '=', state ?? ''))
        .$if(after !== undefined, (select) => select.where('x.id', '>', after ?? 0))
        .orderBy('x.id')
        .limit(limit + 1)
        .execute();
      const page = rows.slice(0, limit);
      return { exports: page.map(exportRow), next: rows.length > limit ? page.at(-1)?.id : undefined };
    },
    async retry({ exporter, ids, now, limit }) {
      const dead = db
        .selectFrom('exports')
        .select('id')
        .where('state', '=', 'dead')
        .$if(exporter !== undefined, (select) => select.where('exporter', '=', exporter ?? ''))
        .$if(ids !== undefined, (select) => select.where('id', 'in', ids ?? []))
        .orderBy('id')
        .limit(limit);
      // An item given up for its age gets its time again.
      const { numUpdatedRows } = await db
        .updateTable('exports')
        .set({ state: 'waiting', attempts: 0, due_us: 0, reason: null, offered_us: now, owner: null, leased_us: null })
        .where('id', 'in', dead)
        .executeTakeFirst();
      return Number(numUpdatedRows);
    },
    otherWrites,
    counts: () => counts(db),
  };
}

function exportRow({
  id,
  exporter,
  part,
  revision,
  state,
  attempts,
  offered_us: offeredAt,
  due_us: dueAt,
  reason,
  tenant,
  trace_id: traceId,
  span_id: spanId,
}: Omit<Selectable<Tables['exports']>, 'item' | 'run_id' | 'owner' | 'leased_us'> &
  Pick<Selectable<Tables['runs']>, 'tenant' | 'trace_id' | 'span_id'>): ExportRow {
  return {
    id,
    exporter,
    part,
    revision,
    state: state === 'dead' ? 'dead' : 'waiting',
    attempts,
    offeredAt,
    dueAt,
    reason: reason ?? undefined,
    tenant: tenant as Tenant,
    traceId: traceId as TraceId,
    spanId: spanId as SpanId,
  };
}

function readItem(item: Uint8Array): ExportItem | undefined {
  try {
    return parsedExport(briefText(item));
  } catch {
    return undefined;
  }
}

async function counts(db: Db): Promise<readonly ExportCount[]> {
  const groups = await db
    .selectFrom('exports')
    .select(({ fn }) => ['exporter', 'state', fn.countAll<number>().as('count'), fn.min('id').as('first')])
    .groupBy(['exporter', 'state'])
    .orderBy('exporter')
    .execute();
  const oldest = new Map(
    (
      await db
        .selectFrom('exports')
        .select(['id', 'offered_us'])
        .where(
          'id',
          'in',
          groups.map(({ first }) => first),
        )
        .execute()
    ).map(({ id, offered_us: at }) => [id, at]),
  );
  return [...Map.groupBy(groups, ({ exporter }) => exporter)].map(([exporter, own]) => {
    const of = (state: string) => own.find((group) => group.state === state);
    const waiting = of('waiting');
    return {
      exporter,
      waiting: waiting?.count ?? 0,
      dead: of('dead')?.count ?? 0,
      oldestAt: waiting === undefined ? undefined : oldest.get(waiting.first),
    };
  });
}

/** The exporter of each row that belongs to one of these runs. */
export async function exportersOf(db: Db, runs: readonly number[]): Promise<readonly string[]> {
  return runs.length === 0
    ? []
    : (await db.selectFrom('exports').select('exporter').where('run_id', 'in', runs).execute()).map(({ exporter }) => exporter);
}

/** One step. Gives the exporter of each row that went. */
export async function pruneExports(db: Db, { exportsBefore, exportsMax, stepRuns }: Retention): Promise<readonly string[]> {
  const oldest = await db.selectFrom('exports').select(['id', 'exporter', 'offered_us']).orderBy('id').limit(stepRuns).execute();
  const old = oldest.filter(({ offered_us: at }) => at < exportsBefore);
  const rows = old.length > 0 ? old : await surplus(db, exportsMax, stepRuns);
  if (rows.length > 0)
    await db
      .deleteFrom('exports')
      .where(
        'id',
        'in',
        rows.map(({ id }) => id),
      )
      .execute();
  return rows.map(({ exporter }) => exporter);
}

async function surplus(db: Db, rowsMax: number, stepMax: number): Promise<readonly { readonly id: number; readonly exporter: string }[]> {
  const { count } = await db
    .selectFrom('exports')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  if (count <= rowsMax) return [];
  // The states in this order: items that no one asked for again go before items that still wait.
  return await db
    .selectFrom('exports')
    .select(['id', 'exporter'])
    .orderBy('state')
    .orderBy('id')
    .limit(Math.min(stepMax, count - rowsMax))
    .execute();
}

export function countedByName(names: readonly string[]): { readonly [name: string]: number } {
  return Object.fromEntries([...Map.groupBy(names, (name) => name)].map(([name, own]) => [name, own.length]));
}

type Tx = Transaction<Tables>;

interface RunExport extends BatchExport {
  /** `undefined` when the store does not have the run. */
  readonly runId: number | undefined;
}

type PlacedExport = RunExport & { readonly runId: number };

/** Within one transaction, which may write their runs too. Resolves with the fate of each, in their order. */
export async function writeExports(tx: Tx, to: Rows, exports: readonly RunExport[]): Promise<readonly AddedExport[]> {
  const newest = new Map<string, PlacedExport>();
  for (const one of exports) {
    if (!hasRun(one)) continue;
    const before = newest.get(keyText(one));
    if (before !== undefined && one.revision < before.revision) continue;
    // A newer revision has its own place in the order, as it does when a separate batch brings it.
    newest.delete(keyText(one));
    newest.set(keyText(one), one);
  }
  await giveWay(tx, newest);
  const ids = new Map<string, number>();
  for (const [key, one] of newest) if (one.already !== 'sent') ids.set(key, await to.exported(newRow(one)));
  return exports.map((one) => (!hasRun(one) ? 'gone' : newest.get(keyText(one)) === one ? ids.get(keyText(one)) : undefined));
}

function hasRun(one: RunExport): one is PlacedExport {
  return one.runId !== undefined;
}

function newRow({ runId, exporter, part, revision, item, offeredAt, already, lease }: PlacedExport): OutboxRow {
  const dead = typeof already === 'object' ? already : undefined;
  return {
    run_id: runId,
    exporter,
    part,
    revision,
    state: dead === undefined ? 'waiting' : 'dead',
    attempts: dead?.attempts ?? 0,
    offered_us: offeredAt,
    due_us: 0,
    reason: dead?.reason ?? null,
    item,
    lease,
  };
}

/** Rows of older revisions make room; where there is a newer one, nothing is written. */
async function giveWay(tx: Tx, newest: Map<string, PlacedExport>): Promise<void> {
  const runs = [...new Set([...newest.values()].map(({ runId }) => runId))];
  const rows = await tx
    .selectFrom('exports')
    .select(['id', 'run_id', 'exporter', 'part', 'revision'])
    .where('run_id', 'in', oneOf(runs))
    .execute();
  const older: number[] = [];
  for (const { id, run_id: runId, exporter, part, revision } of rows) {
    const key = keyText({ runId, exporter, part });
    const one = newest.get(key);
    if (one === undefined) continue;
    if (one.revision < revision) newest.delete(key);
    else older.push(id);
  }
  for (const some of chunks(older)) await tx.deleteFrom('exports').where('id', 'in', some).execute();
}

function keyText({ runId, exporter, part }: Pick<PlacedExport, 'runId' | 'exporter' | 'part'>): string {
  return `${runId} ${exporter} ${part}`;
}
