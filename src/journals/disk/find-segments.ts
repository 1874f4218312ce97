/** Finds the log again: each segment names the one before it and where that one ended, from the newest to the oldest that is needed. */
import { join } from 'node:path';
import type { JournalAccount } from '../account.ts';
import type { Position } from '../journal.ts';
import { writeAll, type FileLayer, type LayerFile } from './file-layer.ts';
import { readExactly } from './read-pages.ts';
import { dataFrom, newerHeader, offsetOf, pageBytes, positionAt, segmentBytesMin, type SegmentHeader } from './segment-header.ts';
import type { FoundSegments, Segment } from './segments.ts';
import { isSlotName, openSlot, removeSlot, unfinished, type Slot } from './slots.ts';
import { tailOf } from './tail.ts';

export interface FindOptions {
  readonly files: FileLayer;
  readonly folder: string;
  readonly segmentBytes: number;
  readonly segmentsMax: number;
  /** Nothing below is needed. */
  readonly mark: Position;
  readonly account: JournalAccount;
}

/** A segment whose records are missed but whose headers are gone; never used again, for somebody may be able to read it. */
const damaged = '.damaged';

interface Described {
  readonly slot: Slot;
  readonly header: SegmentHeader;
}

export async function findSegments(options: FindOptions): Promise<FoundSegments> {
  const { files, folder, mark } = options;
  const names = await files.list(folder);
  for (const name of names) if (name.endsWith(unfinished)) await files.remove(join(folder, name));
  const slots: Slot[] = [];
  try {
    for (const name of names.filter(isSlotName).sort()) slots.push(await openSlot(files, folder, name));
    const described: Described[] = [];
    for (const slot of slots) {
      const header = await headerOf(slot);
      if (header !== undefined) described.push({ slot, header });
    }
    const { live, lost } = await liveOf(described, options);
    const known = new Set(described.map(({ slot }) => slot));
    const needed = new Set(live.map(({ slot }) => slot));
    if (lost) for (const slot of slots.filter((one) => !known.has(one))) await setAside(slot, options);
    const free = await usable(slots.filter((slot) => !needed.has(slot) && (known.has(slot) || !lost)), live.length, options);
    return {
      live,
      free,
      nextEpoch: Math.max(0, ...described.map(({ header }) => header.epoch)) + 1,
      // A file may have been cut short: its positions are not given again all the same.
      nextBase: Math.max(mark, ...described.map(({ slot, header }) => Math.ceil(positionAt(header.base, Math.max(slot.bytes, options.segmentBytes))))) as Position,
    };
  } catch (error) {
    await Promise.all(slots.map(({ file }) => file.close().catch(() => undefined)));
    throw error;
  }
}

/** An error of the disk is not taken for an empty page: what could not be read must not be used anew. */
async function headerOf({ file, bytes }: Slot): Promise<SegmentHeader | undefined> {
  if (bytes < segmentBytesMin) return undefined;
  const pages = [Buffer.alloc(pageBytes), Buffer.alloc(pageBytes)];
  for (const [at, page] of pages.entries()) await file.read(page, at === 0 ? 0 : bytes - pageBytes);
  return newerHeader(pages);
}

async function liveOf(described: readonly Described[], { mark, account }: FindOptions): Promise<{ readonly live: readonly Segment[]; readonly lost: boolean }> {
  const live: Segment[] = [];
  let after: SegmentHeader['previous'] | undefined;
  let lost = false;
  for (const { slot, header } of [...described].sort((a, b) => b.header.epoch - a.header.epoch)) {
    if (after !== undefined && after.end <= mark) break;
    // One that the log does not lead to was given up before anything in it was acknowledged.
    if (after !== undefined && header.epoch > after.epoch) continue;
    const follows = after === undefined || header.epoch === after.epoch;
    const segment = await segmentOf({ slot, header }, follows ? after?.end : undefined, account);
    if (!follows) {
      lost = true;
      account.corrupt(positionAt(segment.base, segment.end), after?.end ?? header.base);
    }
    if (live.length > 0 || segment.end > dataFrom) live.unshift(segment);
    after = header.previous;
  }
  const oldest = live[0];
  if (oldest !== undefined && after !== undefined && after.epoch > 0 && after.end > mark && !described.some(({ header }) => header.epoch <= after.epoch)) {
    lost = true;
    account.corrupt(mark, after.end);
  }
  return { live: live.filter((segment) => positionAt(segment.base, segment.end) > mark), lost };
}

async function segmentOf({ slot, header }: Described, sealedAt: Position | undefined, account: JournalAccount): Promise<Segment> {
  const source = { file: slot.file, life: header.life, base: header.base };
  if (sealedAt !== undefined) return { ...source, slot, epoch: header.epoch, end: offsetOf(header.base, sealedAt), state: 'sealed', countedTo: 0 };
  const { end, lastGroup, torn } = await tailOf(source, slot.bytes);
  await renew(slot.file, lastGroup, end);
  if (torn) account.torn(positionAt(header.base, end));
  return { ...source, slot, epoch: header.epoch, end, state: 'sealed', countedTo: 0 };
}

/**
 * The last group may stand in the caches only, and after a failed sync no other sync would bring it to the disk: it is written once more. From
 * here on a crash that takes it away would be damage.
 */
async function renew(file: LayerFile, from: number, to: number): Promise<void> {
  if (from === to) return;
  const bytes = Buffer.alloc(to - from);
  await readExactly(file, bytes, from);
  await writeAll(file, [bytes], from);
}

async function setAside({ name, file }: Slot, { files, folder }: FindOptions): Promise<void> {
  await file.close();
  await files.rename(join(folder, name), join(folder, name + damaged));
}

/** Files of another size, and those beyond the bound, are given back. */
async function usable(slots: readonly Slot[], needed: number, { files, folder, segmentBytes, segmentsMax }: FindOptions): Promise<readonly Slot[]> {
  const fitting = slots.filter(({ bytes }) => bytes === segmentBytes);
  const free = fitting.slice(0, Math.max(0, segmentsMax - needed));
  for (const slot of slots) if (!free.includes(slot)) await removeSlot(files, folder, slot);
  return free;
}
