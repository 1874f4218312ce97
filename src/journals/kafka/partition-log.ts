/** The needed records of one partition, for as long as this process owns it. */
import type { Fence, PartitionProgress } from '../../model/store/journal-partition-store.ts';
import type { JournalRecord, Position } from '../journal.ts';

export interface HeldRecord {
  readonly log: PartitionLog;
  readonly offset: number;
  readonly position: Position;
  readonly record: JournalRecord;
  readonly key: string | undefined;
  readonly bytes: number;
}

export interface PartitionLog {
  readonly fence: Fence;
  /** The offset to read next. It passes over what earlier owners have done. */
  readonly next: () => number;
  /** True when the record is to be gathered. Records below `next` were read before, or are done. */
  read(offset: number): boolean;
  /** The record is needed until it has been released once for each hold. */
  hold(offset: number): void;
  release(offset: number): void;
  /** State that another owner needs to go on. */
  progress(): PartitionProgress;
}

/** Ranges of needed offsets. Records behind them are gathered again after a change of owners, which changes nothing in the store. */
const rangesMax = 1_000;

type Range = readonly [first: number, last: number];

export function partitionLog(fence: Fence, before: PartitionProgress): PartitionLog {
  const open = rangesIn(before.open);
  /** Number of holds of each offset. */
  const needed = new Map<number, number>();
  let next = wanted(before.next);

  /** The first offset from this one on that no earlier owner has done: in one of its open ranges, or behind what it has read. */
  function wanted(offset: number): number {
    if (offset >= before.read) return offset;
    const range = open.find(([, last]) => last >= offset);
    return range === undefined ? before.read : Math.min(before.read, Math.max(offset, range[0]));
  }

  return {
    fence,
    next: () => next,
    read(offset) {
      if (offset < next) return false;
      next = wanted(offset + 1);
      return wanted(offset) === offset;
    },
    hold: (offset) => void needed.set(offset, (needed.get(offset) ?? 0) + 1),
    release(offset) {
      const count = needed.get(offset) ?? 0;
      if (count > 1) needed.set(offset, count - 1);
      else needed.delete(offset);
    },
    progress() {
      const ranges: [number, number][] = [];
      let upTo = Math.max(next, before.read);
      const add = (first: number, last: number): boolean => {
        const range = ranges.at(-1);
        if (range !== undefined && range[1] >= first - 1) range[1] = Math.max(range[1], last);
        else if (ranges.length < rangesMax) ranges.push([first, last]);
        else upTo = first;
        return upTo > last;
      };
      // Offsets rise in the order of reading, and what an earlier owner left open stands behind them.
      for (const offset of needed.keys()) if (!add(offset, offset)) break;
      for (const [first, last] of open) if (last >= next && upTo > last && !add(Math.max(first, next), last)) break;
      const lowest = ranges[0]?.[0] ?? upTo;
      return { next: lowest, read: upTo, open: ranges.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join() };
    },
  };
}

/** Records below `offset` that are not done: an earlier owner needed them, or had not read them. */
export function needsBelow({ read, open }: PartitionProgress, offset: number): number {
  return rangesIn(open).reduce((sum, [first, last]) => sum + Math.max(0, Math.min(last + 1, offset) - first), Math.max(0, offset - read));
}

function rangesIn(text: string): readonly Range[] {
  return text
    .split(',')
    .filter((range) => range !== '')
    .map((range) => {
      const [first = 0, last = first] = range.split('-').map(Number);
      return [first, last];
    });
}
