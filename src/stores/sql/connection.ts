/** A store's questions, as Kysely takes a database; whatever thread answers them. */
import type { MessagePort } from 'node:worker_threads';
import { CompiledQuery, Kysely, type DatabaseConnection, type Dialect, type Driver, type KyselyPlugin } from 'kysely';
import type { AddedExport } from '../../model/store/export-store.ts';
import type { IndexedTexts, IndexOptions, NewSpanPiece } from '../../model/store/store.ts';
import type { RefreshOptions } from '../../model/store/version-store.ts';
import type { RevisionFate } from '../../model/store/replay-store.ts';
import { beginText, type Answer, type Ask } from './answers.ts';
import type { Batch, RevisionBatch } from './batch.ts';
import type { Recent } from './recent-runs.ts';
import type { Scan, Scanned } from './scan.ts';
import type { SqlValue } from './statements.ts';
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
  /** Runs that were written behind a position, through whichever client of the thread. */
  recent(after: number | undefined): Promise<Recent>;
  /** For what has no rows and takes several steps. */
  exec(sql: string): Promise<void>;
  /** Copies the file while it is written. */
  backup(to: string): Promise<void>;
  /** Ends the connection, whether or not it was used. */
  stop(): Promise<void>;
  /** For a client in another thread. Rejects where the connection has no thread of its own. */
  port(): Promise<MessagePort>;
}

export type Answered = Exclude<Answer, { readonly kind: 'failed' }>;
export type Question = Ask extends infer One ? (One extends Ask ? Omit<One, 'id'> : never) : never;

export interface SqlThread {
  /** Rejects with what SQLite says. */
  ask(question: Question): Promise<Answered>;
  /** For another client. Absent where there is no thread, or another client has started it. */
  port?(): Promise<MessagePort>;
  stop(): Promise<void>;
}

/** The questions of a store, over whatever answers them. */
export function connectionOn(
  thread: SqlThread,
  { plugins = [], ...engine }: Omit<Dialect, 'createDriver'> & { readonly plugins?: KyselyPlugin[] },
): Connection {
  const db = new Kysely<Tables>({ dialect: { createDriver: () => driver(thread), ...engine }, plugins });
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
    async stop() {
      await db.destroy();
      await thread.stop();
    },
    async port() {
      if (thread.port === undefined) throw new Error('the connection has no thread of its own');
      return await thread.port();
    },
  };
}

function driver(thread: SqlThread): Driver {
  const connection: DatabaseConnection = {
    async executeQuery<Row>({ sql, parameters }: CompiledQuery) {
      const answer = await thread.ask({ kind: 'query', sql, parameters: parameters.map(alone) as readonly SqlValue[] });
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
async function written(db: Kysely<Tables>, thread: SqlThread, batch: Batch): Promise<readonly AddedExport[]> {
  return await db.connection().execute(async () => {
    const answer = await thread.ask({ kind: 'write', batch });
    return answer.kind === 'written' ? answer.exports : [];
  });
}

async function revised(db: Kysely<Tables>, thread: SqlThread, batch: RevisionBatch): Promise<readonly RevisionFate[]> {
  return await db.connection().execute(async () => {
    const answer = await thread.ask({ kind: 'revise', batch });
    return answer.kind === 'revised' ? answer.fates : [];
  });
}

async function piecesWritten(db: Kysely<Tables>, thread: SqlThread, pieces: readonly NewSpanPiece[]): Promise<void> {
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
