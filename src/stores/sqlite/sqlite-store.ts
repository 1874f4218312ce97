/** The embedded store: one SQLite file. */
import { backup } from 'node:sqlite';
import { JuryError } from '../../model/errors.ts';
import type { ContentGone, Pruned, Retention, Store } from '../store.ts';
import { connected, ownersOnly, type Connection } from './connection.ts';
import { migrated } from './migrations.ts';
import { readDecisions, readRun, readRuns, readSummary, readTools } from './read.ts';
import { forgetSpans, readKnown, readPieces, writePieces } from './spans.ts';
import { writeItems } from './write.ts';

/** `file`: a path, or `:memory:`. Rejects with a JuryError. */
export async function sqliteStore(file: string): Promise<Store> {
  const connection = connected(file);
  const { db, raw } = connection;
  try {
    await migrated(db, file);
  } catch (error) {
    await db.destroy();
    throw error instanceof JuryError ? error : new JuryError('STORE_UNUSABLE', `${file} cannot be read: ${error instanceof Error ? error.message : 'unknown error'}.`, error);
  }
  let stopped: Promise<void> | undefined;
  return {
    async write(items) {
      if (items.length > 0) await db.transaction().execute((tx) => writeItems(tx, items));
    },
    async writeSpans(pieces) {
      if (pieces.length > 0) await db.transaction().execute((tx) => writePieces(tx, pieces));
    },
    spans: (tenant, traceId) => readPieces(db, tenant, traceId),
    known: (traces) => readKnown(db, traces),
    run: (key) => readRun(db, key),
    runs: (query) => readRuns(db, query),
    decisions: (traceId) => readDecisions(db, traceId),
    summary: (query) => readSummary(db, query),
    tools: (query) => readTools(db, query),
    prune: (limits) => pruned(connection, limits),
    async backup(to) {
      ownersOnly(to);
      await backup(raw, to);
    },
    stop: () => (stopped ??= db.destroy()),
  };
}

/** Pages given back to the file system in one step. */
const vacuumPages = 256;

async function pruned(connection: Connection, { runsBefore, contentBefore, bytesMax, stepRuns }: Retention): Promise<Pruned> {
  const { db, raw } = connection;
  const oldest = await db.selectFrom('runs').select(['id', 'started_us', 'tenant', 'trace_id']).orderBy('started_us').orderBy('id').limit(stepRuns).execute();
  const isTooMuch = usedBytes(connection) > bytesMax;
  const gone = oldest.filter(({ started_us: startedAt }) => isTooMuch || startedAt < runsBefore);
  if (gone.length > 0) await db.deleteFrom('runs').where('id', 'in', gone.map(({ id }) => id)).execute();
  const spans = await forgetSpans(db, { of: gone, before: contentBefore, piecesMax: stepRuns });
  const emptied = await db.selectFrom('runs').select('id').where('content', 'is not', null).where('started_us', '<', contentBefore).orderBy('started_us').limit(stepRuns).execute();
  if (emptied.length > 0) await db.updateTable('runs').set({ content: null, content_gone: 'expired' satisfies ContentGone }).where('id', 'in', emptied.map(({ id }) => id)).execute();
  raw.exec(`pragma incremental_vacuum(${vacuumPages})`);
  return { runs: gone.length, contents: emptied.length, spans, more: gone.length === stepRuns || emptied.length === stepRuns || spans >= stepRuns || (gone.length > 0 && usedBytes(connection) > bytesMax) };
}

/** Of the pages that hold something. */
function usedBytes({ raw }: Connection): number {
  const pragma = (name: string): number => Number(Object.values(raw.prepare(`pragma ${name}`).get() ?? {})[0] ?? 0);
  return (pragma('page_count') - pragma('freelist_count')) * pragma('page_size');
}
