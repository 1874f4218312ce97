/** A connection to PostgreSQL that is made anew when it was lost. */
import { Socket } from 'node:net';
import pg from 'pg';
import { backoffMs } from '../../runtime/retry.ts';
import type { SqlRow, SqlValue } from '../sql/statements.ts';
import { schemaName } from './database-name.ts';
import type { HearingClient } from './run-news.ts';

/** Key of the writers' advisory lock: any number that other programs do not use. */
export const writeLock = 7_304_110_853;
/** Longest time that a transaction may be idle: one that stalls would keep all others from writing. */
const idleMs = 15_000;
const connectMs = 10_000;
/** Between attempts to connect. */
const rests = { firstRestMs: 50, longestRestMs: 5_000 };

export interface LineOptions {
  /** Longest time of a statement. */
  readonly statementMs?: number;
  /** How much longer the answer may take, until the network counts as cut. */
  readonly answerMs?: number;
  /** True when the server refuses statements that write. */
  readonly readsOnly?: boolean;
}

/** A connection executes them when it begins. Some poolers refuse the parameter `options`, and the URL may bring one. */
function settings({ statementMs, readsOnly }: Required<LineOptions>): string {
  return `set search_path = ${schemaName}; set statement_timeout = ${statementMs}; set idle_in_transaction_session_timeout = ${idleMs}; set jit = off; set bytea_output = hex; set cursor_tuple_fraction = 1${
    readsOnly ? '; set default_transaction_read_only = on' : ''
  }`;
}

/** Statements that the server keeps prepared. */
export const preparedMax = 500;

/** The next release may add columns meanwhile. The server refuses a prepared statement that gives others than before, which would fail its transaction. */
const allColumns = /\b(?:select|returning) \*|\.\*/i;

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
  /** Begins a transaction with the lock of those who write. `statementMs`: how long each of its statements may take. */
  begin(statementMs?: number): Promise<void>;
  /** Begins a transaction whose statements all see the same rows. */
  beginReading(): Promise<void>;
  end(step: 'commit' | 'rollback'): Promise<void>;
  /** For this connection and each one that takes its place. */
  each(begun: (client: HearingClient) => Promise<void>): Promise<void>;
  /** Connects when the connection was lost. */
  connect(): Promise<void>;
  /** False when something in between assigns its own process ids, as connection poolers do. */
  isDirect(): Promise<boolean>;
  close(): Promise<void>;
}

interface Linked {
  readonly client: pg.Client;
  readonly socket: Socket;
  /** Names of prepared statements by their texts. */
  readonly names: Map<string, string>;
}

const lostText = 'the connection to PostgreSQL was lost within a transaction';

/** One connection, made anew when it was lost. A transaction that was lost with it fails until it is rolled back. */
export function lineTo(url: string, given: LineOptions = {}): Line {
  const options = { statementMs: 60_000, answerMs: 10_000, readsOnly: false, ...given };
  let linked: Linked | undefined;
  let connecting: Promise<Linked> | undefined;
  let inTransaction = false;
  let statementMs = options.statementMs;
  let begun: (client: HearingClient) => Promise<void> = async () => undefined;
  /** After failed attempts: their number, the last fault, and when the next attempt is due. */
  let failed: { readonly attempts: number; readonly error: unknown; readonly untilMs: number } | undefined;

  async function connected(): Promise<Linked> {
    if (linked !== undefined) return linked;
    if (inTransaction) throw new Error(lostText);
    if (failed !== undefined && performance.now() < failed.untilMs) throw failed.error;
    // All who ask meanwhile get the same connection.
    connecting ??= connectedAnew().finally(() => (connecting = undefined));
    return await connecting;
  }

  async function connectedAnew(): Promise<Linked> {
    const socket = new Socket();
    const client = new pg.Client({
      connectionString: url,
      types,
      connectionTimeoutMillis: connectMs,
      application_name: 'tracejury',
      keepAlive: true,
      stream: () => socket,
    });
    const fresh: Linked = { client, socket, names: new Map() };
    client.on('error', () => {
      if (linked === fresh) linked = undefined;
    });
    try {
      await client.connect();
      await client.query({ text: settings(options), ...within(options.answerMs) });
      await begun(client);
    } catch (error) {
      socket.destroy();
      const attempts = (failed?.attempts ?? 0) + 1;
      failed = { attempts, error, untilMs: performance.now() + backoffMs(attempts, { ...rests, random: Math.random }) };
      throw error;
    }
    failed = undefined;
    linked = fresh;
    return fresh;
  }

  async function query(text: string, values: readonly SqlValue[] = [], asLists = false): Promise<pg.QueryResult<SqlRow>> {
    const on = await connected();
    const name = values.length === 0 || allColumns.test(text) ? undefined : nameOf(on, text);
    try {
      return await on.client.query<SqlRow>({
        text,
        values: values.map(sendable),
        ...(name === undefined ? {} : { name }),
        ...(asLists ? { rowMode: 'array' } : {}),
        ...within(statementMs + options.answerMs),
      });
    } catch (error) {
      if (!isOfConnection(error, options)) throw error;
      if (linked === on) drop();
      if (inTransaction || !isStalePlan(error)) throw error;
      return await query(text, values, asLists);
    }
  }

  async function end(step: 'commit' | 'rollback'): Promise<void> {
    const [wasOpen, wasLost] = [inTransaction, linked === undefined];
    inTransaction = false;
    if (step === 'rollback' && (wasLost || !wasOpen)) return;
    if (wasLost) throw new Error(lostText);
    try {
      const { command } = await query(step);
      // The server's answer to the commit of a transaction in which a statement has failed.
      if (step === 'commit' && command !== 'COMMIT') throw new Error('PostgreSQL has rolled the transaction back');
    } catch (error) {
      drop();
      throw error;
    } finally {
      ({ statementMs } = options);
    }
  }

  /** The server ends a transaction with its connection, so the next one begins on a new connection. A cut network takes no farewell. */
  function drop(): void {
    linked?.socket.destroy();
    linked = undefined;
  }

  async function beginWith(text: string, then?: () => Promise<void>): Promise<void> {
    await query(text);
    inTransaction = true;
    try {
      await then?.();
    } catch (error) {
      await end('rollback').catch(() => undefined);
      throw error;
    }
  }

  return {
    query,
    // After the wait for the lock each statement sees what the one before has committed, regardless of the role's default.
    begin: (patienceMs) =>
      beginWith('begin isolation level read committed', async () => {
        if (patienceMs !== undefined) {
          await query(`set local statement_timeout = ${patienceMs}`);
          statementMs = patienceMs;
        }
        await query(`select pg_advisory_xact_lock(${writeLock})`);
      }),
    beginReading: () => beginWith('begin isolation level repeatable read read only'),
    end,
    async each(work) {
      await work((await connected()).client);
      begun = work;
    },
    async connect() {
      await connected();
    },
    async isDirect() {
      const { client } = await connected();
      const { rows } = await query('select pg_backend_pid() as pid');
      return rows[0]?.['pid'] === (client as pg.Client & { readonly processID: number }).processID;
    },
    async close() {
      if (linked === undefined) return;
      const { client, socket } = linked;
      linked = undefined;
      // A cut network takes no farewell either.
      const late = setTimeout(() => socket.destroy(), options.answerMs);
      await client.end();
      clearTimeout(late);
    },
  };
}

/** The client gives up then: a network that is cut brings no answer, and no error. */
function within(ms: number): { readonly query_timeout: number } {
  return { query_timeout: ms };
}

function nameOf({ names }: Linked, text: string): string | undefined {
  const known = names.get(text);
  if (known !== undefined || names.size >= preparedMax) return known;
  const name = `s${names.size}`;
  names.set(text, name);
  return name;
}

/** Another connection may do better: this one brought no answer, or its server takes no writes any more, or a prepared statement is stale. */
function isOfConnection(error: unknown, { readsOnly }: Required<LineOptions>): boolean {
  if (!(error instanceof pg.DatabaseError)) return true;
  return isStalePlan(error) || (error.code === '25006' && !readsOnly);
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
