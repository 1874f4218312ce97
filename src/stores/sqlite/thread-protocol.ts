/** What the service and the thread that has the file say to each other. */
import type { SQLInputValue, SQLOutputValue } from 'node:sqlite';
import type { SpanPiece } from '../../model/store/store.ts';
import type { Batch } from './batch.ts';

/** Asked for in the order in which they are sent, each answered once. */
export type Ask =
  | { readonly id: number; readonly kind: 'query'; readonly sql: string; readonly parameters: readonly SQLInputValue[] }
  /** Until it is done, whatever rows it gives on the way. */
  | { readonly id: number; readonly kind: 'exec'; readonly sql: string }
  /** In one transaction. A batch as one question: were each of its statements one, it would take a turn of the service for each. */
  | { readonly id: number; readonly kind: 'write'; readonly batch: Batch }
  /** Likewise. */
  | { readonly id: number; readonly kind: 'pieces'; readonly pieces: readonly SpanPiece[] }
  /** A copy of the file, page by page, while others write. */
  | { readonly id: number; readonly kind: 'backup'; readonly to: string }
  | { readonly id: number; readonly kind: 'close' };

export type Answer =
  | {
      readonly id: number;
      readonly kind: 'done';
      readonly rows: readonly { readonly [column: string]: SQLOutputValue }[];
      readonly changes: number | bigint;
      readonly lastRowId: number | bigint;
    }
  /** Rows of the exports, in their order. */
  | { readonly id: number; readonly kind: 'written'; readonly exports: readonly (number | undefined)[] }
  | { readonly id: number; readonly kind: 'failed'; readonly message: string; readonly isDiskFull: boolean };

/** Given to the thread when it starts. The answer with this id says whether the file could be opened. */
export interface ThreadData {
  readonly file: string;
}

export const openedId = 0;
