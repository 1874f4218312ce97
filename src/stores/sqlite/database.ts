/** SQLite as one connection that answers questions in their order. */
import { rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { backup, DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { Kysely, SqliteDialect, type SqliteStatement } from 'kysely';
import { isDiskFull, mayBeDiskFull, isValueRefused, valueRefused } from '../../model/errors.ts';
import { trimOldest } from '../../runtime/lru.ts';
import { compressed } from '../compression.ts';
import { answering, beginText, done, type Answer, type Content, type Database } from '../sql/answers.ts';
import { blockReader } from '../sql/blocks.ts';
import { rowsPerPage, type SqlValue, type Statements } from '../sql/statements.ts';
import type { Tables } from '../sql/tables.ts';

/** Longest time that another process may hold the file. */
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

interface Statement {
  readonly prepared: StatementSync;
  readonly reads: boolean;
}

function opened(file: string, image?: Uint8Array, first = ''): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: busyMs, enableForeignKeyConstraints: true });
  if (image !== undefined) database.deserialize(image);
  // The one process on a file counts by the clock that it was given.
  database.function('lease_clock', { deterministic: true }, (now) => now);
  // The way of giving space back must stand before the first table.
  database.exec(
    `${first}pragma auto_vacuum = incremental; pragma journal_mode = wal; pragma synchronous = full; pragma temp_store = memory; pragma cache_size = -${cacheKib}; pragma wal_autocheckpoint = ${checkpointPages};`,
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

function statementsOf(database: DatabaseSync, statement: (sql: string) => Statement): Statements {
  return {
    all: async (text, values = []) => statement(text).prepared.all(...values),
    first: async (text, values = []) => statement(text).prepared.get(...values),
    add: async (text, values) => Number(statement(text).prepared.run(...values).lastInsertRowid),
    run: async (text, values = []) => Number(statement(text).prepared.run(...values).changes),
    async *lists(text, values = []) {
      // A separate statement: the kept one gives objects, and others may use it before the last page.
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

/** Longest time that another process may take to close a file. */
const exclusiveMs = 500;

/** No other process has the file open until this one closes it. Throws SQLite's error: error 5 while another one has it. */
export function exclusive(file: string): { readonly connection: DatabaseSync; readonly statements: Statements } {
  const connection = opened(file, undefined, `pragma busy_timeout = ${exclusiveMs}; pragma locking_mode = exclusive; `);
  return { connection, statements: statementsOf(connection, statements(connection)) };
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

/** Builds and executes queries on a connection. */
export function builderOn(connection: DatabaseSync, statement = statements(connection)): Kysely<Tables> {
  return new Kysely<Tables>({
    dialect: new SqliteDialect({ database: { prepare: (sql) => adapted(statement(sql)), close: () => connection.close() } }),
  });
}

/** Throws SQLite's error when the file cannot be opened. `image`: a serialized database, which takes the place of an empty one. */
export function database(file: string, image?: Uint8Array): Database {
  const connection = opened(file, image);
  connection.function('block_text', blockReader());
  const statement = statements(connection);
  const answered = answering({
    statements: statementsOf(connection, statement),
    db: builderOn(connection, statement),
    packed: compressed,
    async query(sql, parameters) {
      const { prepared: ready, reads } = statement(sql);
      if (reads) return { ...done, rows: ready.all(...parameters) };
      const { changes, lastInsertRowid } = ready.run(...parameters);
      return { ...done, changes, lastRowId: lastInsertRowid };
    },
    async transaction(step) {
      // SQLite ends some transactions itself.
      if (step !== 'rollback' || connection.isTransaction) connection.exec(step === 'begin' ? beginText : step);
    },
    exec: async (sql) => connection.exec(sql),
    close: async () => connection.close(),
  });
  return {
    answer: (ask) =>
      (ask.kind === 'backup' ? copied(file, ask.to) : answered(ask)).then(
        (answer) => ({ id: ask.id, ...answer }),
        (error: unknown) => failed(ask.id, error, file),
      ),
  };
}

/** Copies through a separate connection that stays at one point in time: a copy cannot be made from one that is writing, and begins anew when another one writes. */
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
    code: isValueRefused(error) ? valueRefused : undefined,
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
