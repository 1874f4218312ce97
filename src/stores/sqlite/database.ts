/** SQLite as one connection that answers questions in their order. */
import { rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { backup, DatabaseSync, type SQLInputValue, type StatementSync, type SQLOutputValue } from 'node:sqlite';
import { Kysely, SqliteDialect, type SqliteStatement, type Transaction } from 'kysely';
import { isDiskFull, mayBeDiskFull } from '../../model/errors.ts';
import type { Tables } from '../sql/tables.ts';
import { blockReader } from '../sql/blocks.ts';
import { recentRuns, type Recent } from '../sql/recent-runs.ts';
import { rows } from '../sql/rows.ts';
import { indexed } from '../sql/run-texts.ts';
import { scanned, type Scan, type Scanned } from '../sql/scan.ts';
import type { SqlRow, SqlValue, Statements } from '../sql/statements.ts';
import { writePieces } from '../sql/spans.ts';
import { refreshed } from '../sql/version-sums.ts';
import { writeBatch } from '../sql/write.ts';
import { trimOldest } from '../../runtime/lru.ts';
import type { AddedExport } from '../../model/store/export-store.ts';
import type { IndexedTexts, IndexOptions, NewSpanPiece } from '../../model/store/store.ts';
import type { RefreshOptions } from '../../model/store/version-store.ts';
import type { RevisionFate } from '../../model/store/replay-store.ts';
import type { Batch, RevisionBatch } from '../sql/batch.ts';
import { writeRevisions } from '../sql/revisions.ts';

/** Asked for in the order in which they are sent, each answered once. */
export type Ask =
  | { readonly id: number; readonly kind: 'query'; readonly sql: string; readonly parameters: readonly SQLInputValue[] }
  /** Until it is done, whatever rows it gives on the way. */
  | { readonly id: number; readonly kind: 'exec'; readonly sql: string }
  /** In one transaction. A batch as one question: were each of its statements one, it would take a turn of the service for each. */
  | { readonly id: number; readonly kind: 'write'; readonly batch: Batch }
  /** Likewise. */
  | { readonly id: number; readonly kind: 'pieces'; readonly pieces: readonly NewSpanPiece[] }
  /** Likewise. */
  | { readonly id: number; readonly kind: 'revise'; readonly batch: RevisionBatch }
  /** Counts over many runs, of which only the sums leave the thread. */
  | { readonly id: number; readonly kind: 'scan'; readonly scan: Scan }
  /** Sums by version. */
  | { readonly id: number; readonly kind: 'refresh'; readonly options: RefreshOptions }
  /** A step of the index of texts. */
  | { readonly id: number; readonly kind: 'index'; readonly options: IndexOptions }
  /** Runs that were written behind a position. */
  | { readonly id: number; readonly kind: 'recent'; readonly after: number | undefined }
  /** A copy of the file, page by page, while others write. */
  | { readonly id: number; readonly kind: 'backup'; readonly to: string }
  | { readonly id: number; readonly kind: 'close' };

export type Answer =
  | {
      readonly id: number;
      readonly kind: 'done';
      readonly rows: readonly { readonly [column: string]: SQLOutputValue }[];
      readonly changes: number | bigint;
      readonly lastRowId: number | bigint;
    }
  /** The fate of each export, in their order. */
  | { readonly id: number; readonly kind: 'written'; readonly exports: readonly AddedExport[] }
  /** The fate of each revision, in their order. */
  | { readonly id: number; readonly kind: 'revised'; readonly fates: readonly RevisionFate[] }
  | { readonly id: number; readonly kind: 'scanned'; readonly rows: Scanned[Scan['of']] }
  | { readonly id: number; readonly kind: 'refreshed'; readonly more: boolean }
  | { readonly id: number; readonly kind: 'indexed'; readonly texts: IndexedTexts }
  | { readonly id: number; readonly kind: 'recent'; readonly recent: Recent }
  | { readonly id: number; readonly kind: 'failed'; readonly message: string; readonly isDiskFull: boolean };

/** Given to the thread when it starts. The answer with this id says whether the file could be opened. */
export interface ThreadData {
  readonly file: string;
}

export const openedId = 0;

/** Begins a transaction that writes. Another process waits for its end, or this one waits for the other. */
export const beginText = 'begin immediate';
/** How long another process may hold the file. */
const busyMs = 5_000;
/**
 * Trace ids are random: each run of a batch has its own pages in the indexes. With the two megabytes that SQLite takes by default these are written and read
 * again within one transaction.
 */
const cacheKib = 32 * 1024;
/** A page that changes again before it goes into the file goes there once. The log beside the file grows to about as many, of 4 KiB each. */
const checkpointPages = 8_000;
/** Prepared statements that are kept: the service has a few dozen forms. */
const statementsMax = 200;
const done = { kind: 'done', rows: [], changes: 0, lastRowId: 0 } as const;

type Content = Answer extends infer One ? (One extends Answer ? Omit<One, 'id'> : never) : never;

interface Statement {
  readonly prepared: StatementSync;
  readonly reads: boolean;
}

function opened(file: string, image: Uint8Array | undefined): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: busyMs, enableForeignKeyConstraints: true });
  if (image !== undefined) database.deserialize(image);
  // The way of giving space back must stand before the first table.
  database.exec(
    `pragma auto_vacuum = incremental; pragma journal_mode = wal; pragma synchronous = full; pragma temp_store = memory; pragma cache_size = -${cacheKib}; pragma wal_autocheckpoint = ${checkpointPages};`,
  );
  return database;
}

/** Statements are prepared once for each text. */
function statements(database: DatabaseSync): (sql: string) => Statement {
  const known = new Map<string, Statement>();
  let last: { readonly sql: string; readonly statement: Statement } | undefined;
  return (sql) => {
    if (last?.sql === sql) return last.statement;
    const statement = known.get(sql) ?? prepared(database, sql);
    // The one that was used last goes to the end; the first is the one that was used longest ago.
    known.delete(sql);
    known.set(sql, statement);
    trimOldest(known, statementsMax);
    last = { sql, statement };
    return statement;
  };
}

function prepared(database: DatabaseSync, sql: string): Statement {
  const statement = database.prepare(sql);
  return { prepared: statement, reads: statement.columns().length > 0 };
}

/** Rows of one page: enough that waiting for each page costs nothing beside reading its rows. */
const rowsPerPage = 500;

function statementsOf(database: DatabaseSync, statement: (sql: string) => Statement): Statements {
  return {
    all: async (text, values = []) => statement(text).prepared.all(...values) as readonly SqlRow[],
    first: async (text, values = []) => statement(text).prepared.get(...values) as SqlRow | undefined,
    add: async (text, values) => Number(statement(text).prepared.run(...values).lastInsertRowid),
    run: async (text, values = []) => Number(statement(text).prepared.run(...values).changes),
    async *lists(text, values = []) {
      // A statement of its own: the kept one gives objects, and others may use it before the last page.
      const own = database.prepare(text);
      own.setReturnArrays(true);
      let page: (readonly SqlValue[])[] = [];
      for (const row of own.iterate(...values) as Iterable<unknown> as Iterable<readonly SqlValue[]>) {
        if (page.push(row) < rowsPerPage) continue;
        yield page;
        page = [];
      }
      if (page.length > 0) yield page;
    },
  };
}

/** As Kysely takes a statement. */
function adapted({ prepared: statement, reads }: Statement): SqliteStatement {
  return {
    reader: reads,
    all: (parameters) => statement.all(...(parameters as SQLInputValue[])),
    run: (parameters) => statement.run(...(parameters as SQLInputValue[])),
    iterate: (parameters) => statement.iterate(...(parameters as SQLInputValue[])) as IterableIterator<unknown>,
  };
}

export interface Database {
  /** Never rejects: a failure is an answer. */
  answer(ask: Ask): Promise<Answer>;
}

/** Throws what SQLite says when the file cannot be opened. `image`: a serialized database, which takes the place of an empty one. */
export function database(file: string, image?: Uint8Array): Database {
  const connection = opened(file, image);
  connection.function('block_text', blockReader());
  const statement = statements(connection);
  const db = new Kysely<Tables>({
    dialect: new SqliteDialect({ database: { prepare: (sql) => adapted(statement(sql)), close: () => connection.close() } }),
  });
  const on = statementsOf(connection, statement);
  const to = rows(on);
  const recent = recentRuns();
  /** Each question waits for the one before it. */
  let last: Promise<unknown> = Promise.resolve();

  /** It holds the lock from its beginning: one that reads first would fail when another process writes meanwhile. */
  async function inTransaction<Result>(work: (tx: Transaction<Tables>) => Promise<Result>): Promise<Result> {
    return await db.connection().execute(async (one) => {
      connection.exec(beginText);
      try {
        const result = await work(one as unknown as Transaction<Tables>);
        connection.exec('commit');
        return result;
      } catch (error) {
        // SQLite ends some transactions itself.
        if (connection.isTransaction) connection.exec('rollback');
        throw error;
      }
    });
  }

  /** A transaction whose runs are the ones that were written last. */
  async function inWrite<Result>(work: (tx: Transaction<Tables>) => Promise<Result>): Promise<Result> {
    const result = await inTransaction(work);
    recent.add(to.touched());
    return result;
  }

  async function answered(ask: Exclude<Ask, { readonly kind: 'backup' }>): Promise<Content> {
    switch (ask.kind) {
      case 'query': {
        const { prepared: ready, reads } = statement(ask.sql);
        if (reads) return { ...done, rows: ready.all(...ask.parameters) };
        const { changes, lastInsertRowid } = ready.run(...ask.parameters);
        return { ...done, changes, lastRowId: lastInsertRowid };
      }
      case 'write':
        try {
          return { kind: 'written', exports: await inWrite((tx) => writeBatch(tx, to, ask.batch)) };
        } catch (error) {
          to.forget();
          throw error;
        }
      case 'revise':
        try {
          return { kind: 'revised', fates: await inWrite((tx) => writeRevisions(tx, to, ask.batch)) };
        } catch (error) {
          to.forget();
          throw error;
        }
      case 'scan':
        return { kind: 'scanned', rows: await scanned(on, ask.scan) };
      case 'refresh':
        return { kind: 'refreshed', more: await inTransaction(async () => refreshed(on, ask.options)) };
      case 'recent':
        return { kind: 'recent', recent: recent.since(ask.after) };
      case 'index':
        return { kind: 'indexed', texts: await inTransaction(async () => indexed(on, ask.options)) };
      case 'pieces': {
        const { pieces } = ask;
        await inTransaction(async () => writePieces(to, pieces));
        return done;
      }
      case 'exec':
        connection.exec(ask.sql);
        return done;
      default:
        connection.close();
        return done;
    }
  }

  return {
    answer(ask) {
      const content = ask.kind === 'backup' ? copied(file, ask.to) : last.then(() => answered(ask));
      if (ask.kind !== 'backup') last = content.catch(() => undefined);
      return content.then(
        (answer) => ({ id: ask.id, ...answer }),
        (error: unknown) => failed(ask.id, error, file),
      );
    },
  };
}

/** From a connection of its own that stays at one point in time: a copy cannot be made from one that is writing, and begins anew when another one writes. */
async function copied(file: string, to: string): Promise<Content> {
  const source = new DatabaseSync(file, { timeout: busyMs, readOnly: true });
  try {
    source.exec('begin; select count(*) from sqlite_master;');
    await backup(source, to);
    return done;
  } finally {
    source.close();
  }
}

/** `roomFault`: what a write of one's own into the folder meets, for what SQLite does not say. */
export function failed(id: number, error: unknown, file: string, roomFault: (folder: string) => unknown = writeFault): Answer {
  return {
    id,
    kind: 'failed',
    message: error instanceof Error ? error.message : 'unknown error',
    isDiskFull: isDiskFull(error) || (file !== ':memory:' && mayBeDiskFull(error) && isDiskFull(roomFault(dirname(file)))),
  };
}

/** More than the frame of a page that SQLite had no room for. */
const probeBytes = 65_536;

/** Undefined: the folder takes a file. The probe goes again. */
export function writeFault(folder: string): unknown {
  const probe = join(folder, `.room-${process.pid}`);
  try {
    writeFileSync(probe, new Uint8Array(probeBytes), { flush: true });
    return undefined;
  } catch (error) {
    return error;
  } finally {
    rmSync(probe, { force: true });
  }
}
