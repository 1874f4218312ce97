/**
 * PostgreSQL as one connection that answers questions in their order, as the thread of SQLite does. All who write hold one lock from the beginning of
 * their transactions, so ids rise in the order of the commits and what two replicas do at the same time is as if one did it after the other.
 */
import {
  type CompiledQuery,
  HandleEmptyInListsPlugin,
  Kysely,
  replaceWithNoncontingentExpression,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type DatabaseConnection,
} from 'kysely';
import pg from 'pg';
import { answering, beginText, done, failedAnswer, type Database } from '../sql/answers.ts';
import { rowsPerPage, type SqlRow, type SqlValue, type Statements } from '../sql/statements.ts';
import type { Tables } from '../sql/tables.ts';
import { schemaName } from './database-name.ts';
import { migrated } from './migrations.ts';

/** Of the advisory lock of those who write; any number that other programs do not use. */
export const writeLock = 7_304_110_853;
/** How long a statement may take, and how long a transaction may do nothing: one that stalls would keep all others from writing. */
const statementMs = 60_000;
const idleMs = 15_000;
const connectMs = 10_000;
/** A connection executes them when it begins. Some poolers refuse the parameter `options`, and the URL may bring one. */
const settings = `set search_path = ${schemaName}; set statement_timeout = ${statementMs}; set idle_in_transaction_session_timeout = ${idleMs}; set jit = off; set bytea_output = hex`;
/** Statements that the server keeps prepared. */
const preparedMax = 500;

/** Numbers as SQLite gives them: 64-bit integers and sums are doubles, and what is true is 1. */
const parsers: { readonly [oid: number]: (text: string) => unknown } = {
  16: (text) => (text === 't' ? 1 : 0),
  17: (text) => new Uint8Array(Buffer.from(text.slice(2), 'hex')),
  20: Number,
  1700: Number,
};

const types: pg.CustomTypesConfig = {
  getTypeParser: (oid) => parsers[oid] ?? (pg.types.getTypeParser(oid, 'text') as (text: string) => unknown),
};

export interface Line {
  query(text: string, values?: readonly SqlValue[], asLists?: boolean): Promise<pg.QueryResult<SqlRow>>;
  begin(): Promise<void>;
  end(step: 'commit' | 'rollback'): Promise<void>;
  close(): Promise<void>;
}

/** One connection, made anew when it was lost. A transaction that was lost with it fails until it is rolled back. */
export function lineTo(url: string): Line {
  let client: pg.Client | undefined;
  let inTransaction = false;
  const names = new Map<string, string>();

  async function connected(): Promise<pg.Client> {
    if (client !== undefined) return client;
    if (inTransaction) throw new Error('the connection to PostgreSQL was lost within a transaction');
    const fresh = new pg.Client({
      connectionString: url,
      types,
      connectionTimeoutMillis: connectMs,
      application_name: 'tracejury',
      keepAlive: true,
    });
    fresh.on('error', () => {
      if (client === fresh) client = undefined;
    });
    await fresh.connect();
    await fresh.query(settings);
    names.clear();
    client = fresh;
    return fresh;
  }

  function nameOf(text: string): string | undefined {
    const known = names.get(text);
    if (known !== undefined || names.size >= preparedMax) return known;
    names.set(text, `s${names.size}`);
    return names.get(text);
  }

  async function query(text: string, values: readonly SqlValue[] = [], asLists = false): Promise<pg.QueryResult<SqlRow>> {
    const to = await connected();
    const name = values.length === 0 ? undefined : nameOf(text);
    try {
      return await to.query<SqlRow>({
        text,
        values: values.map(sendable),
        ...(name === undefined ? {} : { name }),
        ...(asLists ? { rowMode: 'array' } : {}),
      });
    } catch (error) {
      if (!isStalePlan(error)) throw error;
      drop();
      if (inTransaction) throw error;
      return await query(text, values, asLists);
    }
  }

  async function end(step: 'commit' | 'rollback'): Promise<void> {
    const [wasOpen, wasLost] = [inTransaction, client === undefined];
    inTransaction = false;
    if (step === 'rollback' && (wasLost || !wasOpen)) return;
    if (wasLost) throw new Error('the connection to PostgreSQL was lost within a transaction');
    try {
      const { command } = await query(step);
      // The server's answer to the commit of a transaction in which a statement has failed.
      if (step === 'commit' && command !== 'COMMIT') throw new Error('PostgreSQL has rolled the transaction back');
    } catch (error) {
      drop();
      throw error;
    }
  }

  /** The server ends a transaction with its connection, so the next one begins on a new connection. */
  function drop(): void {
    void client?.end().catch(() => undefined);
    client = undefined;
  }

  return {
    query,
    async begin() {
      // After the wait for the lock each statement sees what the one before has committed, whatever the default of the role is.
      await query('begin isolation level read committed');
      inTransaction = true;
      try {
        await query(`select pg_advisory_xact_lock(${writeLock})`);
      } catch (error) {
        await end('rollback').catch(() => undefined);
        throw error;
      }
    },
    end,
    async close() {
      await client?.end();
      client = undefined;
    },
  };
}

/** Another replica has added a column since the statement was prepared. A new connection prepares it anew. */
function isStalePlan(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '0A000' && error.message.startsWith('cached plan');
}

const longest = 2n ** 63n - 1n;

/** PostgreSQL refuses a zero in a text, and an infinite integer. */
function sendable(value: SqlValue): SqlValue {
  if (value === Infinity) return longest;
  if (value === -Infinity) return -longest;
  return typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\uFFFD') : value;
}

/** `?` becomes `$1`, `$2`, … */
function numbered(): (text: string) => string {
  const known = new Map<string, string>();
  return (text) => {
    let found = known.get(text);
    if (found !== undefined) return found;
    let at = 0;
    found = text.replaceAll('?', () => `$${++at}`);
    if (known.size < preparedMax) known.set(text, found);
    return found;
  };
}

function statementsOn(line: Line): Statements {
  const text = numbered();
  return {
    all: async (of, values) => (await line.query(text(of), values)).rows,
    first: async (of, values) => (await line.query(text(of), values)).rows[0],
    add: async (of, values) => Number((await line.query(`${text(of)} returning id`, values)).rows[0]?.['id']),
    run: async (of, values) => (await line.query(text(of), values)).rowCount ?? 0,
    async *lists(of, values) {
      const { rows } = await line.query(text(of), values, true);
      for (let at = 0; at < rows.length; at += rowsPerPage)
        yield rows.slice(at, at + rowsPerPage) as unknown as readonly (readonly SqlValue[])[];
    },
  };
}

const writes = /^\s*(insert|update|delete|with)\b/i;

/** Resolves when the tables are there. */
export async function postgresDatabase(url: string): Promise<Database> {
  const line = lineTo(url);
  await migrated(line);
  let ownTransaction = false;
  const connection: DatabaseConnection = {
    async executeQuery<Row>({ sql, parameters }: CompiledQuery) {
      const { rows, rowCount } = await line.query(sql, parameters as readonly SqlValue[]);
      return { rows: rows as readonly object[] as Row[], numAffectedRows: BigInt(rowCount ?? 0) };
    },
    streamQuery() {
      throw new Error('rows are read a page at a time');
    },
  };
  const answered = answering({
    statements: statementsOn(line),
    db: new Kysely<Tables>({
      dialect: {
        createDriver: () => ({
          async init() {},
          acquireConnection: async () => connection,
          beginTransaction: line.begin,
          commitTransaction: () => line.end('commit'),
          rollbackTransaction: () => line.end('rollback'),
          async releaseConnection() {},
          destroy: line.close,
        }),
        createQueryCompiler: () => new PostgresQueryCompiler(),
        createAdapter: () => new OneConnection(),
        createIntrospector: (of) => new PostgresIntrospector(of),
      },
      plugins,
    }),
    packed: (body) => body,
    async query(sql, parameters) {
      if (sql === beginText) {
        await line.begin();
        ownTransaction = true;
        return done;
      }
      if (sql === 'commit' || sql === 'rollback') {
        ownTransaction = false;
        await line.end(sql);
        return done;
      }
      const isAlone = !ownTransaction && writes.test(sql);
      if (isAlone) await line.begin();
      try {
        const { rows, rowCount } = await line.query(sql, parameters);
        if (isAlone) await line.end('commit');
        return { ...done, rows, changes: rowCount ?? 0 };
      } catch (error) {
        if (isAlone) await line.end('rollback');
        throw error;
      }
    },
    transaction: (step) => (step === 'begin' ? line.begin() : line.end(step)),
    exec: async (sql) => void (await line.query(sql)),
    close: line.close,
  });
  return {
    answer: (ask) =>
      (ask.kind === 'backup' ? Promise.reject(new Error('pg_dump copies the tables of PostgreSQL')) : answered(ask)).then(
        (answer) => ({ id: ask.id, ...answer }),
        (error: unknown) => failedAnswer(ask.id, error),
      ),
  };
}

/** PostgreSQL refuses an empty list behind `in`. */
export const plugins = [new HandleEmptyInListsPlugin({ strategy: replaceWithNoncontingentExpression })];

/** Questions wait for one another, as a transaction of several is not to be interrupted. */
export class OneConnection extends PostgresAdapter {
  override get supportsMultipleConnections(): boolean {
    return false;
  }
}
