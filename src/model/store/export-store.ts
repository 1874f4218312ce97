/** The part of a store that keeps what backends have not taken. */
import type { ExportItem } from '../scored-run.ts';
import type { RunKey } from '../agent-trace.ts';
import type { Micros } from '../timestamp.ts';

/**
 * What exporters have not sent yet, or have given up. Of one exporter, run and part there is one row, that of the newest revision. Rows go with their
 * run.
 */
export interface ExportStore {
  /** Adds rows of runs that are written already, all or none. Resolves with the fate of each, in their order. */
  add(exports: readonly NewExport[]): Promise<readonly AddedExport[]>;
  /** Oldest first, of those that wait and whose time has come, without the rows that are named. */
  due(query: {
    readonly exporter: string;
    readonly now: Micros;
    readonly limit: number;
    readonly except: readonly number[];
  }): Promise<readonly WaitingExport[]>;
  /** All or none. Rows that are not there any more are passed over. */
  note(notes: ExportNotes): Promise<void>;
  list(query: ExportQuery): Promise<ExportPage>;
  /** Dead letters wait again, from the first attempt on; the oldest first, so many at most. Gives how many. */
  retry(query: {
    readonly exporter?: string;
    readonly ids?: readonly number[];
    readonly now: Micros;
    readonly limit: number;
  }): Promise<number>;
  /** By exporter, in the order of their names; also of those that no configuration names any more. */
  counts(): Promise<readonly ExportCount[]>;
}

export interface NewExport {
  /** Name of the exporter's entry in the configuration. */
  readonly exporter: string;
  /** Which of the things that are sent of a run: the verdicts of its rules, or that of a judge. */
  readonly part: string;
  readonly item: ExportItem;
  /** When it was scored. */
  readonly offeredAt: Micros;
  /** What has become of it already: sent, it only takes the place of older revisions; dead, it does not wait. */
  readonly already?: 'sent' | { readonly attempts: number; readonly reason: string };
}

/** Id of the row; `undefined` when a newer revision takes its place; `gone` when the store has let go of the run. */
export type AddedExport = number | 'gone' | undefined;

export interface WaitingExport {
  readonly id: number;
  readonly part: string;
  /** Undefined: what stands there cannot be read. */
  readonly item: ExportItem | undefined;
  readonly attempts: number;
  readonly offeredAt: Micros;
}

export interface ExportNotes {
  /** Rows of these are deleted. */
  readonly sent: readonly number[];
  readonly putBack: readonly { readonly id: number; readonly attempts: number; readonly dueAt: Micros }[];
  readonly dead: readonly { readonly id: number; readonly attempts: number; readonly reason: string }[];
}

export const exportStates = ['waiting', 'dead'] as const;
type ExportState = (typeof exportStates)[number];

export interface ExportQuery {
  readonly exporter?: string;
  readonly state?: ExportState;
  /** 1..200. */
  readonly limit: number;
  /** Goes on behind this row. */
  readonly after?: number;
}

export interface ExportPage {
  /** Oldest first. */
  readonly exports: readonly ExportRow[];
  /** Undefined: there are no more. */
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
  /** Not before this time is it tried again. */
  readonly dueAt: Micros;
  /** Why it was given up. */
  readonly reason: string | undefined;
}

export interface ExportCount {
  readonly exporter: string;
  readonly waiting: number;
  readonly dead: number;
  /** Of those that wait. */
  readonly oldestAt: Micros | undefined;
}
