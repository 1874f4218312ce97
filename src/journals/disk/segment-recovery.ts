/** Finds the log again: each segment names the one before it and where that one ended, from the newest to the oldest that is needed. */
import { join } from 'node:path';
import type { JournalMetrics } from '../journal-metrics.ts';
import type { Position } from '../journal.ts';
import { writeAll, type FileLayer, type LayerFile } from './file-system.ts';
import { frameBytes, grain } from './frame.ts';
import { headAt, type FrameSource, frames, hasTraces } from './frame-scanner.ts';
import { readExactly, readPages } from './read-pages.ts';
import { dataFrom, dataTo, newerHeader, offsetOf, pageBytes, positionAt, segmentBytesMin, type SegmentHeader } from './segment-header.ts';
import { damagedMax, type FoundSegments, type Segment } from './segments.ts';
import { damagedEnding, isSlotName, openSlot, removeSlot, setSlotAside, unfinished, type Slot } from './segment-files.ts';

/** Read at one time where a whole file is looked through. */
const pieceBytes = 1024 * 1024;

interface FindOptions {
  readonly files: FileLayer;
  readonly folder: string;
  readonly segmentBytes: number;
  readonly segmentsMax: number;
  /** Nothing below is needed. */
  readonly checkpoint: Position;
  /** Records below were durable by the checkpoint's file; 0 when it does not know. */
  readonly durableEnd: Position;
  readonly metrics: JournalMetrics;
}

interface Described {
  readonly slot: Slot;
  readonly header: SegmentHeader;
  /** The last page holds the header too, as from before the first record on. */
  readonly isWhole: boolean;
}

interface Live {
  readonly live: readonly Segment[];
  /** Records are lost. */
  readonly lost: boolean;
  /** Holds nothing that can be read, and held something. */
  readonly damaged?: Slot;
}

export async function findSegments(options: FindOptions): Promise<FoundSegments> {
  const { files, folder, checkpoint, durableEnd } = options;
  const names = await files.list(folder);
  for (const name of names) if (name.endsWith(unfinished)) await files.remove(join(folder, name));
  const slots: Slot[] = [];
  try {
    for (const name of names.filter(isSlotName).sort()) slots.push(await openSlot(files, folder, name));
    const described: Described[] = [];
    for (const slot of slots) {
      const header = await headerOf(slot);
      if (header !== undefined) described.push({ slot, ...header });
    }
    const known = new Set(described.map(({ slot }) => slot));
    const { live, lost, damaged } = await liveOf(described, options);
    const needed = new Set(live.map(({ slot }) => slot));
    const broken: Slot[] = damaged === undefined ? [] : [damaged];
    for (const slot of slots) if (!known.has(slot) && (await heldRecords(slot))) broken.push(slot);
    if (broken.length > 0 && !lost) reportUnknown(live, options);
    const keptAside = await setAside(
      broken,
      names.filter((name) => name.endsWith(damagedEnding)),
      options,
    );
    const free = await usable(
      slots.filter((slot) => !needed.has(slot) && !broken.includes(slot)),
      live.length,
      options,
    );
    return {
      live,
      free,
      keptAside,
      nextEpoch: Math.max(0, ...described.map(({ header }) => header.epoch)) + 1,
      // A file may have been cut short: its positions are not given again all the same.
      nextBase: Math.max(
        checkpoint,
        durableEnd,
        ...described.map(({ slot, header }) => Math.ceil(positionAt(header.base, Math.max(slot.bytes, options.segmentBytes)))),
      ) as Position,
    };
  } catch (error) {
    await Promise.all(slots.map(({ file }) => file.close().catch(() => undefined)));
    throw error;
  }
}

/** An error of the disk is not taken for an empty page: what could not be read must not be used anew. */
async function headerOf({ file, bytes }: Slot): Promise<Omit<Described, 'slot'> | undefined> {
  const [first, last] = [Buffer.alloc(pageBytes), Buffer.alloc(pageBytes)];
  if (bytes > 0) await file.read(first, 0);
  if (bytes >= segmentBytesMin) await file.read(last, bytes - pageBytes);
  const header = newerHeader([first, last]);
  return header === undefined ? undefined : { header, isWhole: newerHeader([last])?.epoch === header.epoch };
}

/** A file without a header that was never used holds zeros behind its first page; a finished file is never short. */
async function heldRecords({ file, bytes }: Slot): Promise<boolean> {
  if (bytes < segmentBytesMin) return true;
  const [piece, zeros] = [Buffer.alloc(pieceBytes), Buffer.alloc(pieceBytes)];
  for (let at = dataFrom; at < bytes; at += pieceBytes) {
    await readPages(file, piece, at);
    const size = Math.min(pieceBytes, bytes - at);
    if (piece.compare(zeros, 0, size, 0, size) !== 0) return true;
  }
  return false;
}

/** The number of records in a segment without headers is unknown: at least one is counted. */
function reportUnknown(live: readonly Segment[], { checkpoint, metrics }: FindOptions): void {
  const newest = live.at(-1);
  const from = newest === undefined ? checkpoint : positionAt(newest.base, newest.end);
  metrics.corrupt(from, (from + 1) as Position);
}

async function liveOf(described: readonly Described[], options: FindOptions): Promise<Live> {
  const { checkpoint, metrics } = options;
  const live: Segment[] = [];
  let after: SegmentHeader['previous'] | undefined;
  let lost = false;
  let damaged: Slot | undefined;
  const newestFirst = [...described].sort((a, b) => b.header.epoch - a.header.epoch);
  if (newestFirst.length === 0 && options.durableEnd > checkpoint) {
    metrics.corrupt(checkpoint, options.durableEnd);
    return { live: [], lost: true };
  }
  for (const one of newestFirst) {
    const { header } = one;
    if (after !== undefined && after.end <= checkpoint) break;
    // One that the log does not lead to was given up before anything in it was acknowledged.
    if (after !== undefined && header.epoch > after.epoch) continue;
    const follows = after === undefined || header.epoch === after.epoch;
    const segment = follows && after !== undefined ? sealedSegment(one, after.end) : await unsealedSegment(one, options, after?.end);
    if (after === undefined) lost = segment.damaged || Math.max(checkpoint, positionAt(segment.base, segment.end)) < options.durableEnd;
    if (!follows) {
      lost = true;
      metrics.corrupt(positionAt(segment.base, segment.end), after?.end ?? header.base);
    }
    if (live.length > 0 || segment.end > dataFrom) live.unshift(segment);
    else if (segment.damaged) damaged = one.slot;
    after = header.previous;
  }
  const oldest = live[0];
  if (
    oldest !== undefined &&
    after !== undefined &&
    after.epoch > 0 &&
    after.end > checkpoint &&
    !described.some(({ header }) => header.epoch <= after.epoch)
  ) {
    lost = true;
    metrics.corrupt(checkpoint, after.end);
  }
  return {
    live: live.filter((segment) => positionAt(segment.base, segment.end) > checkpoint),
    lost,
    ...(damaged === undefined ? {} : { damaged }),
  };
}

function sealedSegment({ slot, header }: Described, sealedAt: Position): Segment {
  return {
    file: slot.file,
    generation: header.generation,
    base: header.base,
    slot,
    epoch: header.epoch,
    end: offsetOf(header.base, sealedAt),
    state: 'sealed',
    countedTo: 0,
    damaged: false,
  };
}

/**
 * No later segment has the end of its records. Missing records there are damage where the end was written down, or where the file is cut or its last page
 * is gone, which no crash does once there are records; otherwise a crash tore a group that was never acknowledged.
 */
async function unsealedSegment(
  { slot, header, isWhole }: Described,
  { segmentBytes, checkpoint, durableEnd, metrics }: FindOptions,
  lostTo: Position | undefined,
): Promise<Segment> {
  const source = { file: slot.file, generation: header.generation, base: header.base };
  const isCut = !isWhole && slot.bytes !== segmentBytes;
  const to = isCut ? Math.max(dataFrom, slot.bytes - (slot.bytes % grain)) : dataTo(slot.bytes);
  const { end, lastGroup, torn } = await tailOf(source, to);
  await renew(slot.file, lastGroup, end);
  const position = positionAt(header.base, end);
  const isShort = isCut && (end === dataFrom || end + grain > to);
  const isMissed = lostTo !== undefined || Math.max(position, checkpoint) < durableEnd;
  const damaged = isShort || (torn && (isMissed || !isWhole));
  // Records that a later segment misses are reported with it.
  if ((damaged || isMissed) && lostTo === undefined)
    metrics.corrupt(position, Math.max(durableEnd, position + (await frameGrains(source, end, slot.bytes))) as Position);
  else if (torn && !isMissed) metrics.torn(position);
  return { ...source, slot, epoch: header.epoch, end, state: 'sealed', countedTo: 0, damaged };
}

/** Records of the frame that begins at the offset, by its head; at least one. */
async function frameGrains(source: FrameSource, offset: number, bytes: number): Promise<number> {
  const head = offset < bytes ? await headAt(source, offset) : undefined;
  return head === undefined ? 1 : frameBytes(head.payloadBytes) / grain;
}

/**
 * The last group may be only in the caches, and after a failed sync no other sync would bring it to the disk: it is written once more. From
 * here on a crash that takes it away would be damage.
 */
async function renew(file: LayerFile, from: number, to: number): Promise<void> {
  if (from === to) return;
  const bytes = Buffer.alloc(to - from);
  await readExactly(file, bytes, from);
  await writeAll(file, [bytes], from);
}

/** Gives the names of all that are kept. A file that cannot be renamed keeps its name. */
async function setAside(
  broken: readonly Slot[],
  kept: readonly string[],
  { files, folder, metrics }: FindOptions,
): Promise<readonly string[]> {
  const names = new Set(kept);
  for (const slot of broken) {
    if (names.size >= damagedMax) {
      metrics.setAside(slot.name, slot.bytes, 'not_kept');
      await removeSlot(files, folder, slot);
      continue;
    }
    const name = await setSlotAside(files, folder, slot, names);
    names.add(name);
    metrics.setAside(name, slot.bytes, 'kept');
  }
  return [...names];
}

/** Files of another size, and those beyond the bound, are given back. */
async function usable(
  slots: readonly Slot[],
  needed: number,
  { files, folder, segmentBytes, segmentsMax }: FindOptions,
): Promise<readonly Slot[]> {
  const fitting = slots.filter(({ bytes }) => bytes === segmentBytes);
  const free = fitting.slice(0, Math.max(0, segmentsMax - needed));
  for (const slot of slots) if (!free.includes(slot)) await removeSlot(files, folder, slot);
  return free;
}

/** The end of the records of the newest segment: nothing behind it marks it. */
interface Tail {
  /** Offset behind the last record. */
  readonly end: number;
  /** Offset of the last group: what lies before it is known to be durable. */
  readonly lastGroup: number;
  /** A group that was never acknowledged had come to the disk in part, and was cut off. */
  readonly torn: boolean;
}

/**
 * Groups are written one after another, each when the one before is durable, and each frame names the beginning of its group. So a hole is
 * damage when a later group stands behind it, and the torn end of the last group when none does. `to`: offset behind which there are no records.
 */
async function tailOf(source: FrameSource, to: number): Promise<Tail> {
  const stretches: { readonly from: number; to: number }[] = [];
  let durableBelow = positionAt(source.base, dataFrom);
  for await (const { offset, bytes, group } of frames(source, dataFrom, to)) {
    const last = stretches.at(-1);
    if (last?.to === offset) last.to += bytes;
    else stretches.push({ from: offset, to: offset + bytes });
    durableBelow = Math.max(durableBelow, group) as Position;
  }
  let end = dataFrom;
  for (const stretch of stretches) {
    if (stretch.from > end && positionAt(source.base, end) >= durableBelow) break;
    end = stretch.to;
  }
  return { end, lastGroup: Math.min(end, offsetOf(source.base, durableBelow)), torn: await hasTraces(source, end, to) };
}
