/** The built-in SQLite of Node as Kysely takes a database. */
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { Kysely, SqliteDialect, type SqliteDatabase } from 'kysely';
import { JuryError } from '../../model/errors.ts';
import type { Tables } from './tables.ts';

export interface Connection {
  readonly db: Kysely<Tables>;
  /** For what Kysely has no words for. */
  readonly raw: DatabaseSync;
}

/** Prompts and answers are nobody else's to read. */
const fileMode = 0o600;
const folderMode = 0o700;
/** How long another process may hold the file. */
const busyMs = 5_000;
/** Prepared statements that are kept: the service has a few dozen forms. */
const statementsMax = 200;

export function connected(file: string): Connection {
  try {
    if (file !== ':memory:') ownersOnly(file);
    const raw = new DatabaseSync(file, { timeout: busyMs, enableForeignKeyConstraints: true });
    // The page size and the way of giving space back must stand before the first table.
    raw.exec('pragma auto_vacuum = incremental; pragma journal_mode = wal; pragma synchronous = full; pragma temp_store = memory;');
    return { raw, db: new Kysely<Tables>({ dialect: new SqliteDialect({ database: adapted(raw) }) }) };
  } catch (error) {
    throw new JuryError('STORE_UNUSABLE', `${file} cannot be opened as an SQLite database: ${error instanceof Error ? error.message : 'unknown error'}.`, error);
  }
}

/**
 * A file that is not there is made for its owner alone, and so are the folders that lead to it; SQLite gives the write-ahead log beside it the same
 * mode. What is there already keeps the rights that somebody gave it.
 */
export function ownersOnly(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: folderMode });
  closeSync(openSync(file, 'a', fileMode));
}

/** Statements are prepared once for each text. */
function adapted(raw: DatabaseSync): SqliteDatabase {
  const known = new Map<string, ReturnType<SqliteDatabase['prepare']>>();
  return {
    close: () => raw.close(),
    prepare(text) {
      const statement = known.get(text) ?? prepared(raw, text);
      // The one that was used last goes to the end; the first is the one that was used longest ago.
      known.delete(text);
      known.set(text, statement);
      const [oldest] = known.keys();
      if (known.size > statementsMax && oldest !== undefined) known.delete(oldest);
      return statement;
    },
  };
}

function prepared(raw: DatabaseSync, text: string): ReturnType<SqliteDatabase['prepare']> {
  const statement = raw.prepare(text);
  const reader = statement.columns().length > 0;
  return {
    reader,
    all: (parameters) => statement.all(...(parameters as SQLInputValue[])),
    run: (parameters) => statement.run(...(parameters as SQLInputValue[])),
    iterate: (parameters) => statement.iterate(...(parameters as SQLInputValue[])) as IterableIterator<unknown>,
  };
}
