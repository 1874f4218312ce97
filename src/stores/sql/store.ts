/** The store over a connection of any engine. */
import { type Kysely, type ExpressionBuilder, type ExpressionWrapper, type SqlBool } from 'kysely';
import type { ReplayableStore } from '../../model/store/replay-store.ts';
import type { ContentGone, Pruned, Retention, StoreUsage } from '../../model/store/store.ts';
import { surplusRuns } from '../row-mapping.ts';
import { annotationStore } from './annotations.ts';
import { batchOf } from './batch.ts';
import { answerStore, batchStore } from './judge-answers.ts';
import type { Connection } from './connection.ts';
import { datasetStore } from './datasets.ts';
import { driftStore } from './drift.ts';
import { experimentStore } from './experiments.ts';
import { processStore } from './processes.ts';
import { queueStore } from './queues.ts';
import { countedByName, exportersOf, exportStore, pruneExports } from './outbox.ts';
import { issueStore, pruneIssues } from './issues.ts';
import { jobsOf, jobStore } from './judge-jobs.ts';
import { countGoneTurns, sessionStore, isUnjudged } from './sessions.ts';
import { signInStore } from './sign-ins.ts';
import { spendStore } from './judge-spend.ts';
import { journalPartitionStore } from './journal-partitions.ts';
import { replayStore } from './replays.ts';
import { replicaStore } from './replicas.ts';
import { ruleMatchStore } from './rule-matches.ts';
import { readRecent, readRuns } from './run-list.ts';
import { readSessions } from './session-list.ts';
import { readDecisions, readRollups, readRun, readSummary, readTools } from './read.ts';
import { forgetSpans, readKnown, readPieces } from './spans.ts';
import type { Tables } from './tables.ts';
import { verdictRows } from './verdict-rows.ts';
import { notePruned, versionStore } from './versions.ts';

/** Operations that each engine does in its way. */
export interface Upkeep {
  readonly isDurable: boolean;
  /** True when other processes may write to the store at the same time. */
  readonly isShared: boolean;
  /** Bytes that the store takes. */
  usedBytes(): Promise<number>;
  /** Bytes of only the rows: they become fewer with each row that goes. */
  liveBytes(): Promise<number>;
  /** Gives some of the room of deleted rows back. */
  giveBack(): Promise<void>;
  /** Another number when another process has written since. */
  otherWrites(): Promise<number>;
}

export function sqlStore(connection: Connection, upkeep: Upkeep): Omit<ReplayableStore, 'backup'> {
  const { db } = connection;
  let stopped: Promise<void> | undefined;
  return {
    isDurable: upkeep.isDurable,
    async write(items, exports = []) {
      if (items.length === 0) return [];
      return (await connection.write(await batchOf(items, exports))).map((row) => (row === 'gone' ? undefined : row));
    },
    async writeSpans(pieces) {
      if (pieces.length > 0) await connection.writePieces(pieces);
    },
    spans: (tenant, traceId) => readPieces(db, tenant, traceId),
    known: (traces) => readKnown(db, traces),
    exports: exportStore(connection, upkeep.otherWrites),
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
    issues: issueStore(db),
    journalPartitions: journalPartitionStore(db),
    replays: replayStore(connection),
    replicas: replicaStore(db, upkeep),
    signIns: signInStore(db),
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
    usage: () => usageOf(db, upkeep),
    prune: (limits) => pruned(db, upkeep, limits),
    stop: () => (stopped ??= connection.stop()),
  };
}

async function pruned(db: Kysely<Tables>, { liveBytes: used, giveBack }: Upkeep, retention: Retention): Promise<Pruned> {
  const { runsBefore, contentBefore, bytesMax, stepRuns } = retention;
  const surplusOnes = await runsTooMany(db, await used(), bytesMax);
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
  await pruneIssues(db, runsBefore);
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
  await giveBack();
  const isFullStep = spans >= stepRuns || [gone, emptied, surplus].some(({ length }) => length === stepRuns);
  return {
    runs: gone.length,
    contents: emptied.length,
    spans,
    exports: countedByName([...withRuns, ...surplus]),
    jobs,
    more: isFullStep || (gone.length > 0 && (await used()) > bytesMax),
  };
}

/** Ids only rise: what is between the first and the last of them is counted without a look at each row. */
async function runsTooMany(db: Kysely<Tables>, used: number, bytesMax: number): Promise<number> {
  if (used <= bytesMax) return 0;
  const { first, last } =
    (await db
      .selectFrom('runs')
      .select(({ fn }) => [fn.min<number | null>('id').as('first'), fn.max<number | null>('id').as('last')])
      .executeTakeFirst()) ?? {};
  return surplusRuns({ used, bytesMax, runs: (last ?? 0) - (first ?? 1) + 1 });
}

/** Each count reads only an index. */
async function usageOf(db: Kysely<Tables>, { usedBytes: used }: Upkeep): Promise<StoreUsage> {
  const { runs } = await db
    .selectFrom('runs')
    .select(({ fn }) => fn.countAll<number>().as('runs'))
    .executeTakeFirstOrThrow();
  const { oldest } = await db
    .selectFrom('runs')
    .select(({ fn }) => fn.min<number | null>('started_us').as('oldest'))
    .executeTakeFirstOrThrow();
  return { bytes: await used(), runs, oldestAt: oldest ?? undefined };
}

// Runs that stay although they are too old, because something still waits for them.

/** True for a run when no backend waits for its scores, and no judge is to be asked about it or its session. */
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
