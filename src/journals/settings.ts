/** What every journal is built from. */
import type { Clock, Sleep } from '../model/clock.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { FileLayer } from './disk/file-system.ts';
import type { JournalLogger } from './journal.ts';

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
