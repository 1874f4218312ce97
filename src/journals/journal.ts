/**
 * The contract of a journal: a log of request bodies, unchanged. Records that `append` acknowledged are there after a crash and are read
 * again until committed. A record may be read more than once, so a replay must be idempotent.
 */
import type { Brand, Tenant } from '../model/ids.ts';
import type { Received } from '../model/ingest.ts';
import type { BundlePart } from '../otlp/cut/bundle.ts';
import type { SessionNote } from '../pipeline/assembly/session-tool-definitions.ts';
import type { FileLayer } from './disk/file-system.ts';
import type { Fence, JournalPartitionStore } from '../model/store/journal-partition-store.ts';
import type { Context } from '../telemetry/context.ts';

/** A place in the log. Later records have greater positions; the distance between two has no meaning. */
export type Position = Brand<number, 'Position'>;

export interface JournalRecord extends Pick<Received, 'contentType' | 'contentEncoding' | 'body' | 'bodyMemory'> {
  /** `done`: which traces need no replay; `forwarded`: which requests have gone on. The checkpointer writes both. */
  readonly kind: 'traces' | 'logs' | 'done' | 'forwarded';
  /** True when the record was moved up, that is, written again at the end. */
  readonly isCopy?: true;
  /** First position of a copy, which keeps the order of arrival. Copies of older releases lack it. */
  readonly origin?: Position;
  readonly tenant: Tenant;
  /** Milliseconds since the Unix epoch. */
  readonly receivedMs: number;
}

export interface JournalEntry {
  readonly position: Position;
  readonly record: JournalRecord;
}

/**
 * `full`: the byte bound is reached. `busy`: too many bytes wait for the disk. `too_large`: no segment can hold the record. `failed`: the disk
 * refused, now or a moment ago; `disk_full`: since it is full. `stopped`: after `stop`.
 */
export type JournalRefusal = 'full' | 'busy' | 'too_large' | 'failed' | 'disk_full' | 'stopped';

export type Appended =
  | { readonly kind: 'appended'; readonly position: Position }
  | { readonly kind: 'refused'; readonly reason: JournalRefusal };

/** The replay of what an earlier process left, watched: a record on which the process died twice is set aside and not given again. */
export interface Recovery {
  /**
   * Start-ups in a row that began a replay and did not finish it, this one included. Above 1 the host should work each record to its end,
   * verdicts and all, before it asks for the next one, so that a death is laid to the right record.
   */
  readonly starts: number;
  /** Uncommitted records at the start. Reading the next entry marks the last one as survived. Iterate once. */
  readonly entries: AsyncIterable<JournalEntry>;
  /** Called when all entries are scored and stored. A process that dies before has not finished the replay. */
  finish(): Promise<void>;
  /** Called when the host stops before that: no record is suspect. */
  leave(): Promise<void>;
}

/** Each method may be called at any time, also during a replay. */
export interface Journal {
  /**
   * Resolves when the record is durable, or at once with a refusal. Never rejects. `reserve`: may take the last room of a full journal, for
   * records that free more than they take; without it a full journal could never be worked off.
   */
  append(record: JournalRecord, from?: 'reserve'): Promise<Appended>;
  /** The durable records from a position of this journal on, in order. Committed ones may be gone. */
  read(from: Position): AsyncIterable<JournalEntry>;
  /** One record; `undefined` when it is committed or damaged, or when no record begins there. */
  at(position: Position): Promise<JournalRecord | undefined>;
  /**
   * Releases everything below. Returns at once; a crash shortly after may bring records back. A lower position than before changes nothing.
   * `isNeeded`: of requests above; a journal in memory releases the others as well.
   */
  commit(below: Position, isNeeded?: (position: Position) => boolean): void;
  recover(): Recovery;
  /** Position at which a replay begins. */
  oldest(): Position;
  /** Above every durable record, and not above any later one. `commit(end())`: nothing is needed. */
  end(): Position;
  /** Bytes that new records cannot use. A segment counts whole while one of its records is needed. */
  bytesUsed(): number;
  readonly bytesMax: number;
  /** True when the last write found the disk full. */
  isDiskFull(): boolean;
  /** Probes a full disk for room after a backoff. Called regularly; never rejects. */
  tryRoom(): Promise<void>;
  /** Refuses new records, waits for those under way, then releases. May be called twice. */
  stop(): Promise<void>;
  /** Present when several processes use the journal, each gathering a part of the records. When absent, the process that appends a record gathers it. */
  readonly shared?: SharedJournal;
}

/**
 * An item of a shared journal: a record to gather, the loss of records that another process gathers from now on, a trace that another
 * process joins with its own, or another process's note on the tools of a session.
 */
export type Arrival =
  | ({ readonly kind: 'entry' } & JournalEntry)
  | { readonly kind: 'claim'; readonly key: string }
  | { readonly kind: 'note'; readonly note: SessionNote }
  | { readonly kind: 'lost'; readonly isLost: (position: number) => boolean };

/** `heldShare`: of the memory for records that the journal holds; above 1 when it is used up. */
export type HasRoom = (heldShare: number) => boolean;

export interface SharedJournal {
  /** In order. The next one follows when the last is gathered. Records wait while there is no room for them. Iterate once; ends after `leave`. */
  arrivals(hasRoom: HasRoom): AsyncIterable<Arrival>;
  /** The right to write runs of the trace with this key. */
  fenceOf(key: string): Fence;
  /** True when this process joins the trace with this key to others of its tenant. It may be another one later. */
  joins(key: string): boolean;
  /**
   * Sends a part of the trace to the process that joins it. Resolves when it is durable there; rejects when it cannot be sent now. False when it is larger
   * than a record may be, so this process joins the trace from now on.
   */
  handOver(key: string, part: BundlePart): Promise<boolean>;
  /** Has the trace with this key handed over to this process, with everything that still comes for it. */
  claim(key: string): void;
  /** Tells the other processes of the tools of a session. It may be lost. */
  publish(note: SessionNote): void;
  /** True when this process gathers all records. */
  isAlone(): boolean;
  /** Why nothing can be read; `undefined` while the brokers answer. */
  fault(): string | undefined;
  /** Reads nothing more. Resolves when the last arrival is gathered. */
  leave(): Promise<void>;
  /** Stores the progress. Never rejects. */
  save(): Promise<void>;
}

/** The part of a logger that journals use. */
interface JournalLogger {
  warn(fields: { readonly [field: string]: unknown }, message: string): void;
}

/** Settings of every journal. */
export interface JournalSettings {
  /** Folder of the files. `memory` ignores it. */
  readonly folder: string;
  /** Bytes of all uncommitted records, with their headers. */
  readonly bytesMax: number;
  /** Likewise for a journal in memory. `disk` ignores it. */
  readonly memoryBytesMax?: number;
  /** A file of the log. No record may be larger than about this. */
  readonly segmentBytes?: number;
  /** Bytes that may wait for the disk at one time, in memory. */
  readonly waitingBytesMax?: number;
  /** Bytes that one sync makes durable. */
  readonly groupBytesMax?: number;
  /** Bytes of bodies in quarantine. */
  readonly quarantineBytesMax?: number;
  /** Most bytes of an inflated request. `disk` and `memory` keep bodies unchanged. */
  readonly inflatedBytesMax?: number;
}

export interface JournalDeps extends Context {
  readonly logger: JournalLogger;
  /** Random bytes of this length from a secure source. */
  readonly randomBytes: (count: number) => Buffer;
  /** Defaults to the files of this machine. `memory` ignores it. */
  readonly files?: FileLayer;
  /** Leases of the store, once it is open. Only shared journals use them. */
  readonly partitions?: () => JournalPartitionStore | undefined;
  /** The name under which this process owns partitions. */
  readonly owner?: string;
}
