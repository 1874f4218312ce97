/** The part of a store that keeps items which backends have not taken. */
import type { ExportItem } from '../scored-run.ts';
import type { RunKey } from '../agent-trace.ts';
import type { Micros } from '../timestamp.ts';
import type { Lease } from './lease.ts';

/**
 * Rows of unsent items and dead letters. An exporter, run and part have one row, of the newest revision. Rows are deleted with their run.
 */
export interface ExportStore {
  /** Adds rows of written runs, all or none. Resolves with the fate of each, in order. */
  add(exports: readonly NewExport[]): Promise<readonly AddedExport[]>;
  /** Due rows, oldest first, without those in `except`. With a lease the process takes them, and leaves out those that another process holds. */
  due(query: {
    readonly exporter: string;
    readonly now: Micros;
    readonly limit: number;
    readonly except: readonly number[];
    readonly lease?: Lease | undefined;
  }): Promise<readonly WaitingExport[]>;
  /** Renews the lease of these rows. Resolves with those that the owner still holds. */
  renew(ids: readonly number[], lease: Lease): Promise<readonly number[]>;
  /** Applies all notes or none. Skips rows that no longer exist. */
  note(notes: ExportNotes): Promise<void>;
  list(query: ExportQuery): Promise<ExportPage>;
  /** Makes up to `limit` dead letters wait again, oldest first, with attempts reset. Resolves with their number. */
  retry(query: {
    readonly exporter?: string;
    readonly ids?: readonly number[];
    readonly now: Micros;
    readonly limit: number;
  }): Promise<number>;
  /** A number that differs from the last one when another process has written to the store in between. */
  otherWrites(): Promise<number>;
  /** Counts by exporter, sorted by name; they include exporters that have left the configuration. */
  counts(): Promise<readonly ExportCount[]>;
}

export interface NewExport {
  /** Name of the exporter's entry in the configuration. */
  readonly exporter: string;
  /** Part of the run: the verdicts of its rules, or the one of a judge. */
  readonly part: string;
  readonly item: ExportItem;
  /** When it was scored. */
  readonly offeredAt: Micros;
  /** Outcome before the row was written. `sent`: the row only replaces older revisions. Otherwise it is a dead letter. */
  readonly already?: 'sent' | { readonly attempts: number; readonly reason: string };
  /** Omitted when no other process has the store open. */
  readonly lease?: Lease | undefined;
}

/** Id of the row; `undefined` when a newer revision replaces it; `gone` when the store has deleted the run. */
export type AddedExport = number | 'gone' | undefined;

export interface WaitingExport {
  readonly id: number;
  readonly part: string;
  /** `undefined` when the row is unreadable. */
  readonly item: ExportItem | undefined;
  readonly attempts: number;
  readonly offeredAt: Micros;
}

export interface ExportNotes {
  /** Rows to delete. */
  readonly sent: readonly number[];
  readonly putBack: readonly { readonly id: number; readonly attempts: number; readonly dueAt: Micros }[];
  readonly dead: readonly { readonly id: number; readonly attempts: number; readonly reason: string }[];
}

export const exportStates = ['waiting', 'dead'] as const;
type ExportState = (typeof exportStates)[number];

export interface ExportQuery {
  readonly exporter?: string;
  readonly state?: ExportState;
  /** Rows to return, 1 to 200. */
  readonly limit: number;
  /** Continues after this row. */
  readonly after?: number;
}

export interface ExportPage {
  /** Oldest first. */
  readonly exports: readonly ExportRow[];
  /** `undefined` on the last page. */
  readonly next: number | undefined;
}

export interface ExportRow extends RunKey {
  readonly id: number;
  readonly exporter: string;
  readonly part: string;
  readonly revision: number;
  readonly state: ExportState;
  readonly attempts: number;
  readonly offeredAt: Micros;
  /** Earliest time of the next attempt. */
  readonly dueAt: Micros;
  /** Why the item was given up. */
  readonly reason: string | undefined;
}

export interface ExportCount {
  readonly exporter: string;
  readonly waiting: number;
  readonly dead: number;
  /** Time of the oldest waiting row. */
  readonly oldestAt: Micros | undefined;
}
