/** A store's questions, as Kysely takes a database, from any thread. */
import { CompiledQuery, Kysely, type DatabaseConnection, type Dialect, type Driver, type KyselyPlugin, type QueryResult } from 'kysely';
import type { AddedExport } from '../../model/store/export-store.ts';
import type { IndexedTexts, IndexOptions, NewSpanPiece } from '../../model/store/store.ts';
import type { RefreshOptions } from '../../model/store/version-store.ts';
import type { RevisionFate } from '../../model/store/replay-store.ts';
import { beginText, type Answer, type Ask } from './answers.ts';
import type { Batch, RevisionBatch } from './batch.ts';
import type { Recent } from './recent-runs.ts';
import type { Scan, Scanned } from './scan.ts';
import { isReading, type SqlValue } from './statements.ts';
import type { Tables } from './tables.ts';

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
  /** Runs that were written behind a position, through any client of the thread. */
  recent(after: number | undefined): Promise<Recent>;
  /** For what has no rows and takes several steps. */
  exec(sql: string): Promise<void>;
  /** Copies the file while it is written. */
  backup(to: string): Promise<void>;
  /** Ends the connection, whether or not it was used. */
  stop(): Promise<void>;
}

export type Answered = Exclude<Answer, { readonly kind: 'failed' }>;
export type Question = Ask extends infer One ? (One extends Ask ? Omit<One, 'id'> : never) : never;

export interface SqlThread {
  /** Rejects with SQLite's error. */
  ask(question: Question): Promise<Answered>;
  stop(): Promise<void>;
}

interface ConnectionOptions extends Omit<Dialect, 'createDriver'> {
  readonly plugins?: KyselyPlugin[];
  /** True when questions that only read wait for no transaction. The adapter then supports several connections. */
  readonly readsBeside?: boolean;
}

/** The questions of a store, over any connection. */
export function connectionOn(thread: SqlThread, { plugins = [], readsBeside = false, ...engine }: ConnectionOptions): Connection {
  const turn = turns();
  const db = new Kysely<Tables>({
    dialect: { createDriver: () => (readsBeside ? driverBeside(thread, turn) : driver(thread)), ...engine },
    plugins,
  });
  /** No transaction of several questions is open meanwhile. */
  const alone: Alone = readsBeside ? (work) => inTurn(turn, work) : (work) => db.connection().execute(work);
  return {
    db,
    write: (batch) => written(alone, thread, batch),
    writePieces: (pieces) => piecesWritten(alone, thread, pieces),
    revise: (batch) => revised(alone, thread, batch),
    async scan<Of extends Scan['of']>(scan: Extract<Scan, { readonly of: Of }>) {
      const answer = await thread.ask({ kind: 'scan', scan });
      if (answer.kind !== 'scanned') throw new Error('the thread of the store answered something else');
      return answer.rows as Scanned[Of];
    },
    refresh: (options) =>
      alone(async () => {
        const answer = await thread.ask({ kind: 'refresh', options });
        return answer.kind === 'refreshed' && answer.more;
      }),
    indexTexts: (options) =>
      alone(async () => {
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
    async stop() {
      await db.destroy();
      await thread.stop();
    },
  };
}

type Alone = <Result>(work: () => Promise<Result>) => Promise<Result>;
/** Resolves when it is the caller's turn, with what ends the turn. */
type Turn = () => Promise<() => void>;

function turns(): Turn {
  let last: Promise<unknown> = Promise.resolve();
  return async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const before = last;
    last = promise;
    await before;
    return resolve;
  };
}

async function inTurn<Result>(turn: Turn, work: () => Promise<Result>): Promise<Result> {
  const end = await turn();
  try {
    return await work();
  } finally {
    end();
  }
}

async function executed<Row>(thread: SqlThread, { sql, parameters }: CompiledQuery, isFree?: boolean): Promise<QueryResult<Row>> {
  const answer = await thread.ask({ kind: 'query', sql, parameters: parameters.map(ownBytes) as readonly SqlValue[], isFree });
  if (answer.kind !== 'done') throw new Error('the thread of the store answered something else');
  const { rows, changes, lastRowId } = answer;
  return { rows: rows as readonly object[] as Row[], numAffectedRows: BigInt(changes), insertId: BigInt(lastRowId) };
}

function connectionBy(executeQuery: DatabaseConnection['executeQuery']): DatabaseConnection {
  return {
    executeQuery,
    streamQuery() {
      throw new Error('rows are read a page at a time');
    },
  };
}

function driver(thread: SqlThread): Driver {
  const connection = connectionBy((query) => executed(thread, query));
  return driverOf({
    acquire: () => connection,
    begin: (on) => run(on, beginText),
    end: (on, step) => run(on, step),
    destroy: thread.stop,
  });
}

/** Questions that write, and transactions, have their turns; others wait for nothing. */
function driverBeside(thread: SqlThread, turn: Turn): Driver {
  /** Ends the turn of a connection with a transaction. */
  const ends = new WeakMap<DatabaseConnection, () => void>();
  const ended = (on: DatabaseConnection): void => {
    ends.get(on)?.();
    ends.delete(on);
  };
  return driverOf({
    acquire() {
      const own: DatabaseConnection = connectionBy((query) => {
        if (ends.has(own)) return executed(thread, query);
        return isReading(query.sql) ? executed(thread, query, true) : inTurn(turn, () => executed(thread, query));
      });
      return own;
    },
    async begin(on) {
      ends.set(on, await turn());
      await run(on, beginText).catch((error: unknown) => {
        ended(on);
        throw error;
      });
    },
    async end(on, step) {
      try {
        await run(on, step);
      } catch (error) {
        // A rollback follows the commit that fails.
        if (step === 'rollback') ended(on);
        throw error;
      }
      ended(on);
    },
    destroy: thread.stop,
  });
}

async function run(on: DatabaseConnection, sql: string): Promise<void> {
  await on.executeQuery(CompiledQuery.raw(sql));
}

interface Steps {
  acquire(): DatabaseConnection;
  begin(on: DatabaseConnection): Promise<void>;
  end(on: DatabaseConnection, step: 'commit' | 'rollback'): Promise<void>;
  destroy(): Promise<void>;
}

function driverOf({ acquire, begin, end, destroy }: Steps): Driver {
  return {
    async init() {},
    acquireConnection: async () => acquire(),
    beginTransaction: begin,
    commitTransaction: (on) => end(on, 'commit'),
    rollbackTransaction: (on) => end(on, 'rollback'),
    async releaseConnection() {},
    destroy,
  };
}

async function written(inOwnTurn: Alone, thread: SqlThread, batch: Batch): Promise<readonly AddedExport[]> {
  return await inOwnTurn(async () => {
    const answer = await thread.ask({ kind: 'write', batch });
    return answer.kind === 'written' ? answer.exports : [];
  });
}

async function revised(inOwnTurn: Alone, thread: SqlThread, batch: RevisionBatch): Promise<readonly RevisionFate[]> {
  return await inOwnTurn(async () => {
    const answer = await thread.ask({ kind: 'revise', batch });
    return answer.kind === 'revised' ? answer.fates : [];
  });
}

async function piecesWritten(inOwnTurn: Alone, thread: SqlThread, pieces: readonly NewSpanPiece[]): Promise<void> {
  await inOwnTurn(
    async () => void (await thread.ask({ kind: 'pieces', pieces: pieces.map((piece) => ({ ...piece, body: ownBytes(piece.body) })) })),
  );
}

/** A Buffer may be a view of memory that is much larger or shared: all of that would go along. */
function ownBytes<Value>(value: Value): Value | Uint8Array {
  return value instanceof Uint8Array && value.byteLength !== value.buffer.byteLength ? new Uint8Array(value) : value;
}
