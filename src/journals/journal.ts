/**
 * The contract of a journal: a log of request bodies as they were received. What `append` acknowledged is there after a crash and is read
 * again until it is committed; a record may be read more than once, so whoever replays must not mind.
 */
import type { Brand, Tenant } from '../model/ids.ts';
import type { Received } from '../model/ingest.ts';
import type { Clock, Sleep } from '../model/clock.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { FileLayer } from './disk/file-system.ts';

/** A place in the log. Later records have greater positions; the distance between two says nothing. */
export type Position = Brand<number, 'Position'>;

export interface JournalRecord extends Pick<Received, 'contentType' | 'contentEncoding' | 'body'> {
  /** `done`: which traces need no replay; `forwarded`: which requests have gone on. Both are written by whoever replays. */
  readonly kind: 'traces' | 'logs' | 'done' | 'forwarded';
  /** It was there before, and was written again at the end. */
  readonly isCopy?: true;
  /** Of a copy: where it stood first, so that the order in which requests arrived is known. Copies of older releases lack it. */
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
  /** What was there at the start and is not committed. Asking for the next entry says that the last one was survived. Iterate once. */
  readonly entries: AsyncIterable<JournalEntry>;
  /** What was read again is worked, not only read: a process that dies before has not finished. */
  finish(): Promise<void>;
  /** The host stops before that, of its own will: no record is to blame. */
  leave(): Promise<void>;
}

/** Everything may be called at any time, also while a replay is under way. */
export interface Journal {
  /**
   * Resolves when the record is durable, or at once with a refusal. Never rejects. `reserve`: may take the last room of a full journal, for
   * records that free more than they take; without it a full journal could never be worked off.
   */
  append(record: JournalRecord, from?: 'reserve'): Promise<Appended>;
  /** What is durable now, from a position that this journal gave, in order. What is committed may be gone. */
  read(from: Position): AsyncIterable<JournalEntry>;
  /** One record. Undefined: it is committed and gone, or damaged, or no record begins there. */
  at(position: Position): Promise<JournalRecord | undefined>;
  /** Nothing below is needed any more. Returns at once; a crash shortly after may bring some of it back. A lower position than before changes nothing. */
  commit(below: Position): void;
  recover(): Recovery;
  /** Where a replay would begin. */
  oldest(): Position;
  /** Above every durable record, and not above any later one. `commit(end())`: nothing is needed. */
  end(): Position;
  /** Bytes that cannot be used for new records yet: what one old position pins counts whole. */
  bytesUsed(): number;
  readonly bytesMax: number;
  /** The disk is full, as far as the last attempt says. */
  isDiskFull(): boolean;
  /** On a full disk: tries, when it is time, whether there is room again. Called regularly; never rejects. */
  tryRoom(): Promise<void>;
  /** Refuses new records, waits for those under way, then releases. May be called twice. */
  stop(): Promise<void>;
}

/** The part of a logger that journals use. */
interface JournalLogger {
  warn(fields: { readonly [field: string]: unknown }, message: string): void;
}

/** What every journal is built from. */
export interface JournalSettings {
  /** Where it lies. `memory` has no use for it. */
  readonly folder: string;
  /** Bytes of all records that are not committed, with what belongs to them. */
  readonly bytesMax: number;
  /** Of these, where they lie in memory. `disk` has no use for it. */
  readonly memoryBytesMax?: number;
  /** A file of the log. No record may be larger than about this. */
  readonly segmentBytes?: number;
  /** Bytes that may wait for the disk at one time, in memory. */
  readonly waitingBytesMax?: number;
  /** Bytes that one sync makes durable. */
  readonly groupBytesMax?: number;
  /** Bytes of bodies that are set aside. */
  readonly quarantineBytesMax?: number;
}

export interface JournalDeps {
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  readonly sleep: Sleep;
  readonly logger: JournalLogger;
  /** So many bytes that nobody can guess. */
  readonly randomBytes: (count: number) => Buffer;
  /** Absent: the files of this machine. `memory` has no use for it. */
  readonly files?: FileLayer;
}
