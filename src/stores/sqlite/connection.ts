/** SQLite in a thread of its own, as Kysely takes a database. */
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname, extname } from 'node:path';
import type { SQLInputValue } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import {
  CompiledQuery,
  Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type DatabaseConnection,
  type Driver,
} from 'kysely';
import { JuryError, diskFullText } from '../../model/errors.ts';
import type { AddedExport } from '../../model/store/export-store.ts';
import type { SpanPiece } from '../../model/store/store.ts';
import type { Batch } from './batch.ts';
import { database, openedId, type Answer, type Ask, type ThreadData } from './database.ts';
import type { Tables } from './tables.ts';

export interface Connection {
  readonly db: Kysely<Tables>;
  /** Resolves with the fate of each export, in their order. */
  write(batch: Batch): Promise<readonly AddedExport[]>;
  writePieces(pieces: readonly SpanPiece[]): Promise<void>;
  /** For what has no rows and takes several steps. */
  exec(sql: string): Promise<void>;
  /** Copies the file while it is written. */
  backup(to: string): Promise<void>;
}

/** Prompts and answers are nobody else's to read. */
const fileMode = 0o600;
const folderMode = 0o700;

export interface SqliteOptions {
  /** Default: true. Without a thread, questions are answered between two turns of the caller's: for tests under a manual clock. */
  readonly inThread?: boolean;
  /** A thread was started. */
  readonly onThread?: (thread: Worker) => void;
  /** SQLite refused because the disk is full. */
  readonly onDiskFull?: () => void;
}

/** Rejects with a JuryError. */
export async function connected(file: string, options: SqliteOptions = {}): Promise<Connection> {
  try {
    if (file !== ':memory:') ownersOnly(file);
    const thread = await (options.inThread === false ? sqliteHere(file) : sqliteThread(file, options));
    const db = new Kysely<Tables>({
      dialect: {
        createDriver: () => driver(thread),
        createQueryCompiler: () => new SqliteQueryCompiler(),
        createAdapter: () => new SqliteAdapter(),
        createIntrospector: (of) => new SqliteIntrospector(of),
      },
    });
    return {
      db,
      write: (batch) => written(db, thread, batch),
      writePieces: (pieces) => piecesWritten(db, thread, pieces),
      exec: async (sql) => void (await thread.ask({ kind: 'exec', sql })),
      backup: async (to) => void (await thread.ask({ kind: 'backup', to })),
    };
  } catch (error) {
    throw new JuryError(
      'STORE_UNUSABLE',
      `${file} cannot be opened as an SQLite database: ${error instanceof Error ? error.message : 'unknown error'}.`,
      error,
    );
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

type Answered = Exclude<Answer, { readonly kind: 'failed' }>;
type Question = Ask extends infer One ? (One extends Ask ? Omit<One, 'id'> : never) : never;

interface SqliteThread {
  /** Rejects with what SQLite says. */
  ask(question: Question): Promise<Answered>;
  stop(): Promise<void>;
}

interface Waiting {
  readonly resolve: (answer: Answered) => void;
  readonly reject: (error: Error) => void;
}

async function sqliteHere(file: string): Promise<SqliteThread> {
  const { answer } = database(file);
  let isOpen = true;
  async function ask(question: Question): Promise<Answered> {
    if (!isOpen) throw new Error('the store is closed');
    const given = await answer({ ...question, id: openedId });
    if (given.kind === 'failed') throw new Error(given.message);
    return given;
  }
  return {
    ask,
    async stop() {
      if (!isOpen) return;
      await ask({ kind: 'close' });
      isOpen = false;
    },
  };
}

/** Rejects when the file cannot be opened. A thread that dies has its questions rejected, and the next one starts it anew. */
async function sqliteThread(file: string, { onThread, onDiskFull }: SqliteOptions): Promise<SqliteThread> {
  let worker: Promise<Worker> | undefined;
  const waiting = new Map<number, Waiting>();
  let lastId = openedId;
  let stopped = false;

  function asked(of: Worker, ask: Ask): Promise<Answered> {
    return new Promise((resolve, reject) => {
      waiting.set(ask.id, { resolve, reject });
      // It keeps the process only while it has something to do.
      of.ref();
      if (ask.id !== openedId) of.postMessage(ask);
    });
  }

  function failure({ message, isDiskFull }: Extract<Answer, { readonly kind: 'failed' }>): Error {
    if (!isDiskFull) return new Error(message);
    onDiskFull?.();
    return Object.assign(new Error(diskFullText(dirname(file))), { code: 'ENOSPC' });
  }

  function started(): Promise<Worker> {
    const data: ThreadData = { file };
    // As sources and as built files the two stand side by side.
    const made = new Worker(new URL(`./thread${extname(import.meta.url)}`, import.meta.url), { workerData: data, name: 'tracejury-store' });
    onThread?.(made);
    made.on('message', (answer: Answer) => {
      const one = waiting.get(answer.id);
      waiting.delete(answer.id);
      if (waiting.size === 0) made.unref();
      if (answer.kind === 'failed') one?.reject(failure(answer));
      else one?.resolve(answer);
    });
    const gone = (error?: Error): void => {
      worker = undefined;
      for (const [id, one] of waiting) {
        waiting.delete(id);
        one.reject(error ?? new Error('the thread of the store has ended'));
      }
    };
    made.on('error', gone);
    made.on('exit', () => gone());
    return asked(made, { id: openedId, kind: 'close' }).then(() => made);
  }

  async function ask(question: Question): Promise<Answered> {
    if (stopped) throw new Error('the store is closed');
    // A file is opened again; what lay in memory went with its thread.
    if (worker === undefined && file === ':memory:')
      throw new Error('the thread of the store has ended, and what it held in memory is gone');
    worker ??= started();
    return await asked(await worker, { ...question, id: ++lastId });
  }

  worker = started();
  await worker.catch(async (error: unknown) => {
    stopped = true;
    throw error;
  });
  return {
    ask,
    async stop() {
      if (stopped) return;
      await ask({ kind: 'close' }).catch(() => undefined);
      stopped = true;
      await (await worker?.catch(() => undefined))?.terminate();
    },
  };
}

function driver(thread: SqliteThread): Driver {
  const connection: DatabaseConnection = {
    async executeQuery<Row>({ sql, parameters }: CompiledQuery) {
      const answer = await thread.ask({ kind: 'query', sql, parameters: parameters.map(alone) as SQLInputValue[] });
      if (answer.kind !== 'done') throw new Error('the thread of the store answered something else');
      const { rows, changes, lastRowId } = answer;
      return { rows: rows as readonly object[] as Row[], numAffectedRows: BigInt(changes), insertId: BigInt(lastRowId) };
    },
    streamQuery() {
      throw new Error('rows are read a page at a time');
    },
  };
  const run = (sql: string): Promise<unknown> => connection.executeQuery(CompiledQuery.raw(sql));
  return {
    async init() {},
    acquireConnection: async () => connection,
    async beginTransaction() {
      await run('begin');
    },
    async commitTransaction() {
      await run('commit');
    },
    async rollbackTransaction() {
      await run('rollback');
    },
    async releaseConnection() {},
    destroy: thread.stop,
  };
}

/** Holds the connection meanwhile: a transaction of several questions is not to be interrupted. */
async function written(db: Kysely<Tables>, thread: SqliteThread, batch: Batch): Promise<readonly AddedExport[]> {
  return await db.connection().execute(async () => {
    const answer = await thread.ask({ kind: 'write', batch });
    return answer.kind === 'written' ? answer.exports : [];
  });
}

async function piecesWritten(db: Kysely<Tables>, thread: SqliteThread, pieces: readonly SpanPiece[]): Promise<void> {
  await db
    .connection()
    .execute(
      async () => void (await thread.ask({ kind: 'pieces', pieces: pieces.map((piece) => ({ ...piece, body: alone(piece.body) })) })),
    );
}

/** A Buffer may lie in memory that is much larger, or that it shares with others: all of that would go along. */
function alone<Value>(value: Value): Value | Uint8Array {
  return value instanceof Uint8Array && value.byteLength !== value.buffer.byteLength ? new Uint8Array(value) : value;
}
