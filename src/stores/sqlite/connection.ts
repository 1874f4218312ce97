/** SQLite in a thread of its own, as Kysely takes a database. */
import { closeSync, openSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { getCompileCacheDir } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { dirname, extname } from 'node:path';
import type { SQLInputValue } from 'node:sqlite';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
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
import { makeFolders } from '../../runtime/folders.ts';
import type { AddedExport } from '../../model/store/export-store.ts';
import type { IndexedTexts, IndexOptions, NewSpanPiece } from '../../model/store/store.ts';
import type { RefreshOptions } from '../../model/store/version-store.ts';
import type { RevisionFate } from '../../model/store/replay-store.ts';
import type { Batch, RevisionBatch } from '../sql/batch.ts';
import { type NewClient } from '../sql/clients.ts';
import { beginText, database, openedId, type Answer, type Ask, type ThreadData } from './database.ts';
import type { Recent } from '../sql/recent-runs.ts';
import type { Scan, Scanned } from '../sql/scan.ts';
import type { Tables } from '../sql/tables.ts';

export interface Connection {
  readonly db: Kysely<Tables>;
  /** Resolves with the fate of each export, in their order. */
  write(batch: Batch): Promise<readonly AddedExport[]>;
  writePieces(pieces: readonly NewSpanPiece[]): Promise<void>;
  /** Resolves with the fate of each revision, in their order. */
  revise(batch: RevisionBatch): Promise<readonly RevisionFate[]>;
  scan<Of extends Scan['of']>(scan: Extract<Scan, { readonly of: Of }>): Promise<Scanned[Of]>;
  /** Sums one time again, in one transaction. */
  refresh(options: RefreshOptions): Promise<boolean>;
  /** Adds words to the index of texts, in one transaction. */
  indexTexts(options: IndexOptions): Promise<IndexedTexts>;
  /** Runs that were written behind a position, through whichever client of the thread. */
  recent(after: number | undefined): Promise<Recent>;
  /** For what has no rows and takes several steps. */
  exec(sql: string): Promise<void>;
  /** Copies the file while it is written. */
  backup(to: string): Promise<void>;
  /** For a client in another thread. Rejects where the connection has no thread of its own. */
  port(): Promise<MessagePort>;
}

/** Prompts and answers are nobody else's to read. */
const fileMode = 0o600;
const folderMode = 0o700;

export interface SqliteOptions {
  /** Default: true. Without a thread, questions are answered between two turns of the caller's: for tests under a manual clock. */
  readonly inThread?: boolean;
  /** Serialized database that the connection begins with in place of an empty one; without a thread only. For tests: they open many, and migrate one. */
  readonly image?: Uint8Array;
  /** A thread was started. */
  readonly onThread?: (thread: Worker) => void;
  /** SQLite refused because the disk is full. */
  readonly onDiskFull?: () => void;
  /** The thread that another one has started: asked for a port at first, and again when the port has closed. */
  readonly ports?: () => Promise<MessagePort>;
}

/** Rejects with a JuryError. */
export async function connected(file: string, options: SqliteOptions = {}): Promise<Connection> {
  try {
    if (file !== ':memory:') await ownersOnly(file);
    const thread = await threadOf(file, options);
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
      revise: (batch) => revised(db, thread, batch),
      async scan<Of extends Scan['of']>(scan: Extract<Scan, { readonly of: Of }>) {
        const answer = await thread.ask({ kind: 'scan', scan });
        if (answer.kind !== 'scanned') throw new Error('the thread of the store answered something else');
        return answer.rows as Scanned[Of];
      },
      // Holds the connection: no transaction of several questions is open meanwhile.
      refresh: (options) =>
        db.connection().execute(async () => {
          const answer = await thread.ask({ kind: 'refresh', options });
          return answer.kind === 'refreshed' && answer.more;
        }),
      indexTexts: (options) =>
        db.connection().execute(async () => {
          const answer = await thread.ask({ kind: 'index', options });
          if (answer.kind !== 'indexed') throw new Error('the thread of the store answered something else');
          return answer.texts;
        }),
      async recent(after) {
        const answer = await thread.ask({ kind: 'recent', after });
        if (answer.kind !== 'recent') throw new Error('the thread of the store answered something else');
        return answer.recent;
      },
      exec: async (sql) => void (await thread.ask({ kind: 'exec', sql })),
      backup: async (to) => void (await thread.ask({ kind: 'backup', to })),
      async port() {
        if (thread.port === undefined) throw new Error('the connection has no thread of its own');
        return await thread.port();
      },
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
export async function ownersOnly(file: string): Promise<void> {
  await makeFolders(dirname(file), {
    make: async (path) => await mkdir(path, folderMode),
    isFolder: async (path) => (await stat(path).catch(() => undefined))?.isDirectory() === true,
    parentOf: dirname,
    sleep: async (ms, signal) => await sleep(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined),
  });
  closeSync(openSync(file, 'a', fileMode));
}

type Answered = Exclude<Answer, { readonly kind: 'failed' }>;
type Question = Ask extends infer One ? (One extends Ask ? Omit<One, 'id'> : never) : never;

interface SqliteThread {
  /** Rejects with what SQLite says. */
  ask(question: Question): Promise<Answered>;
  /** For another client. Absent where there is no thread, or another client has started it. */
  port?(): Promise<MessagePort>;
  stop(): Promise<void>;
}

async function threadOf(file: string, options: SqliteOptions): Promise<SqliteThread> {
  if (options.ports !== undefined) return sqliteClient(file, options.ports, options);
  return await (options.inThread === false ? sqliteHere(file, options) : sqliteThread(file, options));
}

interface Waiting {
  readonly resolve: (answer: Answered) => void;
  readonly reject: (error: Error) => void;
}

async function sqliteHere(file: string, { image }: SqliteOptions): Promise<SqliteThread> {
  const { answer } = database(file, image);
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

/** Questions that wait for their answers. */
interface Questions {
  /** Rejects with what SQLite says. */
  ask(ask: Ask, send: (ask: Ask) => void): Promise<Answered>;
  answered(answer: Answer): void;
  /** Nobody will answer. */
  lost(error: Error): void;
  waiting(): number;
}

function questions(file: string, { onDiskFull }: SqliteOptions): Questions {
  const waiting = new Map<number, Waiting>();

  function failure({ message, isDiskFull }: Extract<Answer, { readonly kind: 'failed' }>): Error {
    if (!isDiskFull) return new Error(message);
    onDiskFull?.();
    return Object.assign(new Error(diskFullText(dirname(file))), { code: 'ENOSPC' });
  }

  return {
    ask: (ask, send) =>
      new Promise((resolve, reject) => {
        waiting.set(ask.id, { resolve, reject });
        send(ask);
      }),
    answered(answer) {
      const one = waiting.get(answer.id);
      waiting.delete(answer.id);
      if (answer.kind === 'failed') one?.reject(failure(answer));
      else one?.resolve(answer);
    },
    lost(error) {
      for (const [id, one] of waiting) {
        waiting.delete(id);
        one.reject(error);
      }
    },
    waiting: () => waiting.size,
  };
}

const threadEnded = 'the thread of the store has ended';

/** Rejects when the file cannot be opened. A thread that dies has its questions rejected, and the next one starts it anew. */
async function sqliteThread(file: string, options: SqliteOptions): Promise<SqliteThread> {
  const asked = questions(file, options);
  let worker: Promise<Worker> | undefined;
  let lastId = openedId;
  let stopped = false;

  function askThread(of: Worker, ask: Ask): Promise<Answered> {
    // It keeps the process only while it has something to do.
    of.ref();
    return asked.ask(ask, () => (ask.id === openedId ? undefined : of.postMessage(ask)));
  }

  function started(): Promise<Worker> {
    const data: ThreadData = { file };
    // As sources and as built files the two stand side by side.
    const cache = getCompileCacheDir();
    const made = new Worker(new URL(`./thread${extname(import.meta.url)}`, import.meta.url), {
      workerData: data,
      name: 'tracejury-store',
      // Node hands a thread this variable, and not a cache that the program turned on. The cache keeps each version in a folder below its own.
      env: cache === undefined ? process.env : { ...process.env, NODE_COMPILE_CACHE: dirname(cache) },
    });
    options.onThread?.(made);
    made.on('message', (answer: Answer) => {
      asked.answered(answer);
      if (asked.waiting() === 0) made.unref();
    });
    const gone = (error = new Error(threadEnded)): void => {
      worker = undefined;
      asked.lost(error);
    };
    made.on('error', gone);
    made.on('exit', () => gone());
    return askThread(made, { id: openedId, kind: 'close' }).then(() => made);
  }

  async function running(): Promise<Worker> {
    if (stopped) throw new Error('the store is closed');
    // A file is opened again; what lay in memory went with its thread.
    if (worker === undefined && file === ':memory:') throw new Error(`${threadEnded}, and what it held in memory is gone`);
    return await (worker ??= started());
  }

  const ask = async (question: Question): Promise<Answered> => await askThread(await running(), { ...question, id: ++lastId });

  worker = started();
  await worker.catch(async (error: unknown) => {
    stopped = true;
    throw error;
  });
  return {
    ask,
    async port() {
      const thread = await running();
      const { port1, port2 } = new MessageChannel();
      thread.postMessage({ kind: 'client', port: port1 } satisfies NewClient, [port1]);
      return port2;
    },
    async stop() {
      if (stopped) return;
      await ask({ kind: 'close' }).catch(() => undefined);
      stopped = true;
      await (await worker?.catch(() => undefined))?.terminate();
    },
  };
}

/** A client of a thread that another one has started. A port that closes has its questions rejected, and the next one asks for another port. */
function sqliteClient(file: string, ports: () => Promise<MessagePort>, options: SqliteOptions): SqliteThread {
  const asked = questions(file, options);
  let port: Promise<MessagePort> | undefined;
  let lastId = openedId;
  let stopped = false;

  async function opened(): Promise<MessagePort> {
    const given = await ports();
    given.on('message', asked.answered);
    given.on('close', () => {
      port = undefined;
      asked.lost(new Error(threadEnded));
    });
    return given;
  }

  return {
    async ask(question) {
      if (stopped) throw new Error('the store is closed');
      port ??= opened();
      const to = await port.catch((error: unknown) => {
        port = undefined;
        throw error;
      });
      return await asked.ask({ ...question, id: ++lastId }, (ask) => to.postMessage(ask));
    },
    async stop() {
      stopped = true;
      (await port?.catch(() => undefined))?.close();
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
      await run(beginText);
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

async function revised(db: Kysely<Tables>, thread: SqliteThread, batch: RevisionBatch): Promise<readonly RevisionFate[]> {
  return await db.connection().execute(async () => {
    const answer = await thread.ask({ kind: 'revise', batch });
    return answer.kind === 'revised' ? answer.fates : [];
  });
}

async function piecesWritten(db: Kysely<Tables>, thread: SqliteThread, pieces: readonly NewSpanPiece[]): Promise<void> {
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
