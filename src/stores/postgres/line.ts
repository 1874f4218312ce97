/** A connection to PostgreSQL that is made anew when it was lost. */
import pg from 'pg';
import type { SqlRow, SqlValue } from '../sql/statements.ts';
import { schemaName } from './database-name.ts';
import type { HearingClient } from './run-news.ts';

/** Of the advisory lock of those who write; any number that other programs do not use. */
export const writeLock = 7_304_110_853;
/** How long a statement may take, and how long a transaction may do nothing: one that stalls would keep all others from writing. */
const statementMs = 60_000;
const idleMs = 15_000;
const connectMs = 10_000;
/** A connection executes them when it begins. Some poolers refuse the parameter `options`, and the URL may bring one. */
const settings = `set search_path = ${schemaName}; set statement_timeout = ${statementMs}; set idle_in_transaction_session_timeout = ${idleMs}; set jit = off; set bytea_output = hex`;
/** Statements that the server keeps prepared. */
export const preparedMax = 500;

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
  /** For this connection and each one that takes its place. */
  each(begun: (client: HearingClient) => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

/** One connection, made anew when it was lost. A transaction that was lost with it fails until it is rolled back. */
export function lineTo(url: string): Line {
  let client: pg.Client | undefined;
  let inTransaction = false;
  const names = new Map<string, string>();
  let begun: (client: HearingClient) => Promise<void> = async () => undefined;

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
    await begun(fresh).catch(async (error: unknown) => {
      await fresh.end().catch(() => undefined);
      throw error;
    });
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
    async each(work) {
      await work(await connected());
      begun = work;
    },
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
