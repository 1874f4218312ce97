/** Questions to a store's thread and its answers: statements, and work of several statements in one transaction. The same for each engine. */
import type { Kysely, Transaction } from 'kysely';
import type { AddedExport } from '../../model/store/export-store.ts';
import type { RevisionFate } from '../../model/store/replay-store.ts';
import type { IndexedTexts, IndexOptions, NewSpanPiece } from '../../model/store/store.ts';
import type { RefreshOptions } from '../../model/store/version-store.ts';
import type { Batch, RevisionBatch } from './batch.ts';
import { recentRuns, type Recent, type RecentRuns } from './recent-runs.ts';
import { writeRevisions } from './revisions.ts';
import { rows } from './rows.ts';
import { indexed } from './run-texts.ts';
import { scanned, type Scan, type Scanned } from './scan.ts';
import { writePieces } from './spans.ts';
import type { SqlRow, SqlValue, Statements } from './statements.ts';
import type { Tables } from './tables.ts';
import { refreshed } from './version-sums.ts';
import { writeBatch } from './write.ts';

/** Asked for in the order in which they are sent, each answered once. */
export type Ask =
  /** `isFree`: it only reads, and belongs to no transaction. */
  | {
      readonly id: number;
      readonly kind: 'query';
      readonly sql: string;
      readonly parameters: readonly SqlValue[];
      readonly isFree?: boolean | undefined;
    }
  /** Runs until it is done, and ignores rows that it gives on the way. */
  | { readonly id: number; readonly kind: 'exec'; readonly sql: string }
  /** In one transaction. A batch as one question: were each of its statements one, it would take a turn of the service for each. */
  | { readonly id: number; readonly kind: 'write'; readonly batch: Batch }
  /** Likewise. */
  | { readonly id: number; readonly kind: 'pieces'; readonly pieces: readonly NewSpanPiece[] }
  /** Likewise. */
  | { readonly id: number; readonly kind: 'revise'; readonly batch: RevisionBatch }
  /** Counts over many runs; only the sums leave the thread. */
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
      readonly rows: readonly SqlRow[];
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
  /** `code`: as the database or the system names the fault. */
  | {
      readonly id: number;
      readonly kind: 'failed';
      readonly message: string;
      readonly isDiskFull: boolean;
      readonly code?: string | undefined;
    };

export const openedId = 0;

/** The answer that describes a fault to another thread. */
export function failedAnswer(id: number, error: unknown): Answer {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return { id, kind: 'failed', message: faultText(error), isDiskFull: false, code: typeof code === 'string' ? code : undefined };
}

/** A host with several addresses fails with an error for each of them, and without a message. */
export function faultText(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(faultText).join(', ');
  return error instanceof Error ? error.message : 'unknown error';
}

/** Begins a transaction that writes. Another process waits for its end, or this one waits for the other. */
export const beginText = 'begin immediate';

export const done = { kind: 'done', rows: [], changes: 0, lastRowId: 0 } as const;

export type Content = Answer extends infer One ? (One extends Answer ? Omit<One, 'id'> : never) : never;
type Done = Extract<Content, { readonly kind: 'done' }>;

/** Runs that were written last, by all processes on the store. */
export interface AnnouncedRuns extends Pick<RecentRuns, 'since'> {
  /** Within the transaction that writes the runs. Processes hear of them when it commits, this one too. */
  announce(ids: readonly number[]): Promise<void>;
}

/** One connection to a database. Its questions wait for one another. */
export interface Engine {
  readonly statements: Statements;
  /** On the same connection. */
  readonly db: Kysely<Tables>;
  /** Texts of a block as the engine keeps them. */
  readonly packed: (body: Uint8Array) => Uint8Array;
  query(sql: string, parameters: readonly SqlValue[]): Promise<Done>;
  /** Absent when no other process writes, and the runs of this one are kept here. */
  readonly recent?: AnnouncedRuns;
  /** `begin` takes the lock of those who write from its beginning: a transaction that reads first would fail when another process writes meanwhile. */
  transaction(step: 'begin' | 'commit' | 'rollback'): Promise<void>;
  /** True when others write meanwhile, and the statements of one scan are to see the same rows. */
  readonly scansInTransactions?: boolean;
  exec(sql: string): Promise<void>;
  close(): Promise<void>;
}

export interface Database {
  /** True when the question neither writes nor belongs to a transaction, so it waits for no other one. */
  isFree?(ask: Ask): boolean;
  /** Never rejects: a failure is an answer. */
  answer(ask: Ask): Promise<Answer>;
}

/** Answers one question after the other. Rejects with the engine's error. */
export function answering(engine: Engine): (ask: Exclude<Ask, { readonly kind: 'backup' }>) => Promise<Content> {
  const { db, statements: on } = engine;
  const to = rows(on, engine.packed);
  const own = recentRuns();
  /** Each question waits for the one before it. */
  let last: Promise<unknown> = Promise.resolve();

  async function inTransaction<Result>(work: (tx: Transaction<Tables>) => Promise<Result>): Promise<Result> {
    return await db.connection().execute(async (one) => {
      await engine.transaction('begin');
      try {
        const result = await work(one as unknown as Transaction<Tables>);
        await engine.transaction('commit');
        return result;
      } catch (error) {
        await engine.transaction('rollback');
        throw error;
      }
    });
  }

  /** A transaction whose runs are the ones that were written last. */
  async function inWrite<Result>(work: (tx: Transaction<Tables>) => Promise<Result>): Promise<Result> {
    try {
      let written: readonly number[] = [];
      const result = await inTransaction(async (tx) => {
        const made = await work(tx);
        written = to.touched();
        await engine.recent?.announce(written);
        return made;
      });
      own.add(written);
      return result;
    } catch (error) {
      to.forget();
      throw error;
    }
  }

  const scan = (wanted: Scan) => async (): Promise<Scanned[Scan['of']]> => await scanned(on, wanted);

  async function answered(ask: Exclude<Ask, { readonly kind: 'backup' }>): Promise<Content> {
    switch (ask.kind) {
      case 'query':
        return await engine.query(ask.sql, ask.parameters);
      case 'write':
        return { kind: 'written', exports: await inWrite((tx) => writeBatch(tx, to, ask.batch)) };
      case 'revise':
        return { kind: 'revised', fates: await inWrite((tx) => writeRevisions(tx, to, ask.batch)) };
      case 'scan':
        return { kind: 'scanned', rows: await (engine.scansInTransactions === true ? inTransaction(scan(ask.scan)) : scan(ask.scan)()) };
      case 'refresh':
        return { kind: 'refreshed', more: await inTransaction(() => refreshed(on, ask.options)) };
      case 'recent':
        return { kind: 'recent', recent: (engine.recent ?? own).since(ask.after) };
      case 'index':
        return { kind: 'indexed', texts: await inTransaction(() => indexed(on, ask.options)) };
      case 'pieces':
        await inTransaction(() => writePieces(to, ask.pieces));
        return done;
      case 'exec':
        await engine.exec(ask.sql);
        return done;
      default:
        await engine.close();
        return done;
    }
  }

  return (ask) => {
    const content = last.then(() => answered(ask));
    last = content.catch(() => undefined);
    return content;
  };
}
