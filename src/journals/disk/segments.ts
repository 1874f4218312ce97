/** The log as a list of segments: which hold records, which is written to, which are free. */
import type { JournalMetrics } from '../journal-metrics.ts';
import type { Position } from '../journal.ts';
import { writeAll, type FileLayer } from './file-system.ts';
import { generationBytes } from './frame.ts';
import { type FrameSource } from './frame-scanner.ts';
import { dataFrom, headerPage, pageBytes, positionAt, type SegmentHeader } from './segment-header.ts';
import { makeSlot, newSlotName, removeSlot, setSlotAside, type Slot } from './segment-files.ts';

/** Damaged segments that are kept: a disk that damages more of them must not fill up with their files. */
export const damagedMax = 8;

export interface Segment extends FrameSource {
  readonly slot: Slot;
  readonly epoch: number;
  /** Offset behind the last durable record. */
  end: number;
  /** `retired`: a sync of it failed, so it is read but never written or synced again. `released`: it may hold other records by now. */
  state: 'open' | 'sealed' | 'retired' | 'released';
  /** Damage below this offset was counted already. */
  countedTo: number;
  /** Records of it are lost: its file is kept when the others are committed. */
  damaged: boolean;
}

/** State of the journal when it is opened. */
export interface FoundSegments {
  /** Oldest first. */
  readonly live: readonly Segment[];
  readonly free: readonly Slot[];
  readonly nextEpoch: number;
  readonly nextBase: Position;
  /** Names of damaged segments that are kept. */
  readonly keptAside: readonly string[];
}

interface SegmentsOptions {
  readonly files: FileLayer;
  readonly folder: string;
  readonly segmentBytes: number;
  readonly segmentsMax: number;
  readonly randomBytes: (count: number) => Buffer;
  readonly metrics: JournalMetrics;
  readonly found: FoundSegments;
}

export interface Segments {
  /** The segment that is written to; there is none after a start and after a failure. */
  open(): Segment | undefined;
  /** Seals the open one and opens another. `full`: the bound is reached. Rejects with the disk's error. */
  next(): Promise<Segment | 'full'>;
  retire(segment: Segment): Promise<void>;
  /** The oldest that holds records at or above the position. */
  holding(position: Position): Segment | undefined;
  /** Segments that hold nothing at or above the position. */
  releasable(below: Position): boolean;
  release(below: Position): Promise<void>;
  end(): Position;
  /** Behind the last durable record. */
  durableEnd(): Position;
  /** Segments that can still be begun. */
  spare(): number;
  bytesUsed(): number;
  /** Has a file ready, so that the next segment does not wait for one to be written. */
  prepare(): Promise<void>;
  close(): Promise<void>;
}

export function segments({ files, folder, segmentBytes, segmentsMax, randomBytes, metrics, found }: SegmentsOptions): Segments {
  const live = [...found.live];
  const free = [...found.free];
  const aside = new Set(found.keptAside);
  const names = new Set([...live.map(({ slot }) => slot.name), ...free.map(({ name }) => name)]);
  let { nextEpoch, nextBase } = found;
  let open: Segment | undefined;
  let preparing: Promise<void> | undefined;

  /** The name is taken while the file is made; a file that failed gives it back. */
  async function makeFree(): Promise<void> {
    const name = newSlotName(names);
    names.add(name);
    try {
      free.push(await makeSlot(files, folder, { name, bytes: segmentBytes }));
    } catch (error) {
      names.delete(name);
      throw error;
    } finally {
      preparing = undefined;
    }
  }

  async function prepare(): Promise<void> {
    if (free.length === 0 && names.size < segmentsMax) preparing ??= makeFree();
    await preparing;
  }

  async function remove(slot: Slot): Promise<void> {
    try {
      await removeSlot(files, folder, slot);
      // A file that could not be removed keeps its name, and its bytes count.
      names.delete(slot.name);
    } catch (error) {
      metrics.failed('a file of a segment could not be removed', error);
    }
  }

  /** Damaged, or given up, or of a wrong size: it is not used again. */
  async function giveUp({ slot, damaged }: Segment): Promise<void> {
    if (!damaged) return remove(slot);
    if (aside.size >= damagedMax) {
      metrics.setAside(slot.name, slot.bytes, 'not_kept');
      return remove(slot);
    }
    try {
      const name = await setSlotAside(files, folder, slot, aside);
      aside.add(name);
      names.delete(slot.name);
      metrics.setAside(name, slot.bytes, 'kept');
    } catch (error) {
      metrics.failed('a damaged segment could not be kept', error);
    }
  }

  async function activated(slot: Slot): Promise<Segment> {
    const last = live.at(-1);
    const header: SegmentHeader = {
      generation: randomBytes(generationBytes),
      epoch: nextEpoch++,
      base: nextBase,
      previous: { epoch: last?.epoch ?? 0, end: last === undefined ? nextBase : endOf(last) },
    };
    // The positions of this attempt are never assigned again, even if it fails.
    nextBase = positionAt(nextBase, slot.bytes);
    try {
      const page = headerPage(header);
      await writeAll(slot.file, [page], 0);
      await writeAll(slot.file, [page], slot.bytes - pageBytes);
    } catch (error) {
      await remove(slot);
      throw error;
    }
    return {
      slot,
      file: slot.file,
      generation: header.generation,
      epoch: header.epoch,
      base: header.base,
      end: dataFrom,
      state: 'open',
      countedTo: 0,
      damaged: false,
    };
  }

  return {
    open: () => open,
    async next() {
      if (free.length === 0) await prepare();
      const slot = free.shift();
      if (slot === undefined) return 'full';
      // Even if the attempt fails: a header that names the end of this one may have come to the disk.
      if (open !== undefined) open.state = 'sealed';
      open = undefined;
      open = await activated(slot);
      live.push(open);
      prepare().catch((error: unknown) => metrics.failed('a spare segment could not be made', error));
      return open;
    },
    async retire(segment) {
      if (open === segment) open = undefined;
      segment.state = 'retired';
      if (segment.end > dataFrom) return;
      live.splice(live.indexOf(segment), 1);
      segment.state = 'released';
      await remove(segment.slot);
    },
    holding: (position) => live.find((segment) => endOf(segment) > position),
    releasable: (below) => live[0] !== undefined && live[0] !== open && endOf(live[0]) <= below,
    async release(below) {
      for (let oldest = live[0]; oldest !== undefined && oldest !== open && endOf(oldest) <= below; oldest = live[0]) {
        live.shift();
        const again = oldest.state !== 'retired' && !oldest.damaged && oldest.slot.bytes === segmentBytes;
        oldest.state = 'released';
        if (again) free.push(oldest.slot);
        else await giveUp(oldest);
      }
    },
    end: () => (open === undefined ? nextBase : endOf(open)),
    durableEnd: () => live.reduce((end, segment) => Math.max(end, endOf(segment)) as Position, 0 as Position),
    spare: () => free.length + Math.max(0, segmentsMax - names.size) + (preparing === undefined ? 0 : 1),
    bytesUsed: () => live.reduce((sum, segment) => sum + (segment === open ? segment.end : segment.slot.bytes), 0),
    prepare,
    async close() {
      await preparing?.catch(() => undefined);
      // A reader finds the end, not damage.
      for (const segment of live) segment.state = 'released';
      await Promise.all([...live.map(({ slot }) => slot), ...free].map(({ file }) => file.close().catch(() => undefined)));
    },
  };
}

function endOf(segment: Segment): Position {
  return positionAt(segment.base, segment.end);
}
