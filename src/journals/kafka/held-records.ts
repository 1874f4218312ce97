/** The records of a topic that this process gathers: they are in memory until nothing needs them. */
import type { JournalRecord, Position } from '../journal.ts';
import type { HeldRecord, PartitionLog } from './partition-log.ts';

export interface HeldRecords {
  /** `key` is that of the record's trace, absent when it has several. */
  hold(log: PartitionLog, offset: number, record: JournalRecord, key?: string): Position;
  /** The partition that the newest record of the trace is in. */
  logOf(key: string): PartitionLog | undefined;
  at(position: Position): JournalRecord | undefined;
  /** Releases records below the position, and those above that are not needed. Records that may still be referred to stay. */
  commit(below: Position, isNeeded: (position: Position) => boolean): void;
  /** Releases the records of lost partitions. The returned function gives their positions. */
  drop(lost: ReadonlySet<PartitionLog>): (position: number) => boolean;
  /** Commits do not release the record until it is freed or its partition is lost. */
  pin(position: Position): void;
  free(position: Position): void;
  /** From this position on records may be referred to soon; undefined: from none. */
  keepFrom(position: Position | undefined): void;
  end(): Position;
  bytes(): number;
}

/** `released`: called with the partition of a record that is not needed. */
export function heldRecords(released: (log: PartitionLog) => void, used: (bytes: number) => void): HeldRecords {
  const held = new Map<Position, HeldRecord>();
  const newest = new Map<string, HeldRecord>();
  const pinned = new Set<Position>();
  let end = 0 as Position;
  let inHand: Position | undefined;
  let bytes = 0;

  function release(one: HeldRecord): void {
    held.delete(one.position);
    pinned.delete(one.position);
    if (one.key !== undefined && newest.get(one.key) === one) newest.delete(one.key);
    one.log.release(one.offset);
    bytes -= one.bytes;
    released(one.log);
  }

  return {
    hold(log, offset, record, key) {
      const position = end;
      end = (end + 1) as Position;
      const one: HeldRecord = { log, offset, position, record, key, bytes: record.body.length };
      held.set(position, one);
      if (key !== undefined) newest.set(key, one);
      log.hold(offset);
      bytes += record.body.length;
      used(bytes);
      return position;
    },
    logOf: (key) => newest.get(key)?.log,
    at: (position) => held.get(position)?.record,
    commit(below, isNeeded) {
      for (const one of held.values()) {
        if (inHand !== undefined && one.position >= inHand) break;
        if (pinned.has(one.position) || (one.position >= below && isNeeded(one.position))) continue;
        release(one);
      }
      used(bytes);
    },
    drop(lost) {
      const gone = [...held.values()].filter(({ log }) => lost.has(log));
      const positions = new Set<number>(gone.map(({ position }) => position));
      for (const one of gone) release(one);
      used(bytes);
      return (position) => positions.has(position);
    },
    pin: (position) => void pinned.add(position),
    free: (position) => void pinned.delete(position),
    keepFrom(position) {
      inHand = position;
    },
    end: () => end,
    bytes: () => bytes,
  };
}
