/** The embedded store: one SQLite file. */
import { sql, type Kysely, type ExpressionBuilder, type ExpressionWrapper, type SqlBool } from 'kysely';
import { JuryError } from '../../model/errors.ts';
import type { ReplayableStore } from '../../model/store/replay-store.ts';
import type { ContentGone, Pruned, Retention, StoreUsage } from '../../model/store/store.ts';
import { surplusRuns } from '../row-mapping.ts';
import { annotationStore } from '../sql/annotations.ts';
import { batchOf } from '../sql/batch.ts';
import { answerStore, batchStore } from '../sql/judge-answers.ts';
import { connected, ownersOnly, type Connection, type SqliteOptions } from './connection.ts';
import { datasetStore } from '../sql/datasets.ts';
import { driftStore } from '../sql/drift.ts';
import { experimentStore } from '../sql/experiments.ts';
import { processStore } from '../sql/processes.ts';
import { queueStore } from '../sql/queues.ts';
import { countedByName, exportersOf, exportStore, pruneExports } from '../sql/outbox.ts';
import { jobsOf, jobStore } from '../sql/judge-jobs.ts';
import { countGoneTurns, sessionStore, isUnjudged } from '../sql/sessions.ts';
import { spendStore } from '../sql/judge-spend.ts';
import { replayStore } from '../sql/replays.ts';
import { ruleMatchStore } from '../sql/rule-matches.ts';
import { migrated } from './migrations.ts';
import { readRecent, readRuns } from '../sql/run-list.ts';
import { readSessions } from '../sql/session-list.ts';
import { readDecisions, readRollups, readRun, readSummary, readTools } from '../sql/read.ts';
import { forgetSpans, readKnown, readPieces } from '../sql/spans.ts';
import type { Tables } from '../sql/tables.ts';
import { verdictRows } from '../sql/verdict-rows.ts';
import { notePruned, versionStore } from '../sql/versions.ts';

export interface SqliteStore extends ReplayableStore {
  /** For a store in another thread, on the same connection to the file. */
  port: Connection['port'];
}

/** `file`: a path, or `:memory:`. Rejects with a JuryError. */
export async function sqliteStore(file: string, options: SqliteOptions = {}): Promise<SqliteStore> {
  const connection = await connected(file, options);
  const { db } = connection;
  try {
    // The client that has started the thread has made the tables.
    if (options.ports === undefined) await migrated(db, file);
  } catch (error) {
    await db.destroy();
    throw error instanceof JuryError
      ? error
      : new JuryError('STORE_UNUSABLE', `${file} cannot be read: ${error instanceof Error ? error.message : 'unknown error'}.`, error);
  }
  let stopped: Promise<void> | undefined;
  return {
    isDurable: file !== ':memory:',
    async write(items, exports = []) {
      if (items.length === 0) return [];
      return (await connection.write(await batchOf(items, exports))).map((row) => (row === 'gone' ? undefined : row));
    },
    async writeSpans(pieces) {
      if (pieces.length > 0) await connection.writePieces(pieces);
    },
    spans: (tenant, traceId) => readPieces(db, tenant, traceId),
    known: (traces) => readKnown(db, traces),
    exports: exportStore(connection),
    annotations: annotationStore(db),
    verdicts: verdictRows(connection),
    judgeSpend: spendStore(db),
    judgeJobs: jobStore(db),
    judgeSessions: sessionStore(db),
    judgeAnswers: answerStore(db),
    judgeBatches: batchStore(db),
    judgeDrift: driftStore(db),
    versions: versionStore(connection),
    processes: processStore(db),
    datasets: datasetStore(db),
    experiments: experimentStore(db),
    queues: queueStore(db),
    ruleMatches: ruleMatchStore(db),
    replays: replayStore(connection),
    run: (key) => readRun(db, key),
    runs: (query) => readRuns(db, query),
    recent: (query) => readRecent(connection, query),
    sessions: (query) => readSessions(connection, query),
    worstTurns: (session) => connection.scan({ of: 'worst-turns', query: session }),
    decisions: (traceId) => readDecisions(db, traceId),
    summary: (query) => readSummary(connection, query),
    rollups: (kind, query) => readRollups(connection, kind, query),
    tools: (query) => readTools(connection, query),
    indexTexts: connection.indexTexts,
    usage: () => usageOf(db),
    prune: (limits) => pruned(connection, limits),
    async backup(to) {
      await ownersOnly(to);
      await connection.backup(to);
    },
    port: connection.port,
    stop: () => (stopped ??= db.destroy()),
  };
}

/** Pages given back to the file system in one step. */
const vacuumPages = 256;

async function pruned({ db, exec }: Connection, retention: Retention): Promise<Pruned> {
  const { runsBefore, contentBefore, bytesMax, stepRuns } = retention;
  const surplusOnes = await runsTooMany(db, bytesMax);
  const oldest = db.selectFrom('runs').select(['id', 'started_us', 'tenant', 'trace_id']).orderBy('started_us').orderBy('id');
  const gone = await (
    surplusOnes > 0
      ? oldest.limit(Math.min(stepRuns, surplusOnes))
      : oldest.where('started_us', '<', runsBefore).where(isNotAwaited(retention)).limit(stepRuns)
  ).execute();
  const goneIds = gone.map(({ id }) => id);
  // Rows that wait for a backend or a judge go with their run, and are counted.
  const [withRuns, jobs] = [await exportersOf(db, goneIds), await jobsOf(db, goneIds)];
  if (gone.length > 0) {
    await db.transaction().execute(async (tx) => {
      await countGoneTurns(tx, goneIds);
      await tx.deleteFrom('runs').where('id', 'in', goneIds).execute();
      await notePruned(tx, gone);
    });
  }
  const spans = await forgetSpans(db, { of: gone, before: contentBefore, piecesMax: stepRuns });
  const surplus = await pruneExports(db, retention);
  const emptied = await db
    .selectFrom('runs')
    .select('id')
    .where('content_block', 'is not', null)
    .where('started_us', '<', contentBefore)
    .orderBy('started_us')
    .limit(stepRuns)
    .execute();
  if (emptied.length > 0)
    await db
      .updateTable('runs')
      .set({ content_block: null, content_at: null, content_length: null, excerpt: null, content_gone: 'expired' satisfies ContentGone })
      .where(
        'id',
        'in',
        emptied.map(({ id }) => id),
      )
      .execute();
  await exec(`pragma incremental_vacuum(${vacuumPages})`);
  const isFullStep = spans >= stepRuns || [gone, emptied, surplus].some(({ length }) => length === stepRuns);
  return {
    runs: gone.length,
    contents: emptied.length,
    spans,
    exports: countedByName([...withRuns, ...surplus]),
    jobs,
    more: isFullStep || (gone.length > 0 && (await usedBytes(db)) > bytesMax),
  };
}

/** Ids only rise: what is between the first and the last of them is counted without a look at each row. */
async function runsTooMany(db: Kysely<Tables>, bytesMax: number): Promise<number> {
  const used = await usedBytes(db);
  if (used <= bytesMax) return 0;
  const { first, last } =
    (await db
      .selectFrom('runs')
      .select(({ fn }) => [fn.min<number | null>('id').as('first'), fn.max<number | null>('id').as('last')])
      .executeTakeFirst()) ?? {};
  return surplusRuns({ used, bytesMax, runs: (last ?? 0) - (first ?? 1) + 1 });
}

/** Of the pages that hold something. */
async function usedBytes(db: Kysely<Tables>): Promise<number> {
  const found = await sql<{
    readonly used: number;
  }>`select (p.page_count - f.freelist_count) * s.page_size as used from pragma_page_count p, pragma_freelist_count f, pragma_page_size s`.execute(
    db,
  );
  return found.rows[0]?.used ?? 0;
}

/** Each count reads an index alone. */
async function usageOf(db: Kysely<Tables>): Promise<StoreUsage> {
  const { runs } = await db
    .selectFrom('runs')
    .select(({ fn }) => fn.countAll<number>().as('runs'))
    .executeTakeFirstOrThrow();
  const { oldest } = await db
    .selectFrom('runs')
    .select(({ fn }) => fn.min<number | null>('started_us').as('oldest'))
    .executeTakeFirstOrThrow();
  return { bytes: await usedBytes(db), runs, oldestAt: oldest ?? undefined };
}

// Which runs stay although they are too old: those that somebody still waits for.

/** Of a run: no backend waits for its scores, and no judge is to be asked about it or its session. */
function isNotAwaited({ jobsBefore, turnsBefore }: Pick<Retention, 'jobsBefore' | 'turnsBefore'>) {
  return ({ and, exists, not, selectFrom }: ExpressionBuilder<Tables, 'runs'>): ExpressionWrapper<Tables, 'runs', SqlBool> =>
    and([
      not(
        exists(
          selectFrom('exports').select('exports.id').whereRef('exports.run_id', '=', 'runs.id').where('exports.state', '=', 'waiting'),
        ),
      ),
      not(
        exists(
          selectFrom('judge_jobs')
            .select('judge_jobs.id')
            .whereRef('judge_jobs.run_id', '=', 'runs.id')
            .where('judge_jobs.offered_us', '>=', jobsBefore),
        ),
      ),
      not(
        exists(
          selectFrom('session_turns as t')
            .innerJoin('sessions as s', 's.id', 't.session')
            .select('s.id')
            .whereRef('t.run_id', '=', 'runs.id')
            .where('t.noted_us', '>=', turnsBefore)
            .where(isUnjudged('s')),
        ),
      ),
    ]);
}
