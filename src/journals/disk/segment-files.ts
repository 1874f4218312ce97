/** The files of the log. Each is written with zeros once and then used again and again, so that appending allocates nothing. */
import { join } from 'node:path';
import { writeAll, type FileLayer, type LayerFile } from './file-system.ts';

/** One file of any content. */
export interface Slot {
  readonly name: string;
  readonly file: LayerFile;
  readonly bytes: number;
}

/** Ending of the name of a segment. */
export const segmentEnding = '.segment';
/** Under this ending a file is not finished. */
export const unfinished = '.new';
/** Behind the name of a segment that is damaged: it is never used again, for a person may be able to read it. */
export const damagedEnding = '.damaged';
const pieceBytes = 1024 * 1024;

export async function makeSlot(
  files: FileLayer,
  folder: string,
  { name, bytes }: { readonly name: string; readonly bytes: number },
): Promise<Slot> {
  const path = join(folder, name);
  const file = await files.open(path + unfinished, 'new');
  try {
    const zeros = Buffer.alloc(Math.min(pieceBytes, bytes));
    for (let at = 0; at < bytes; at += zeros.length) await writeAll(file, [zeros.subarray(0, bytes - at)], at);
    await file.datasync();
    await files.rename(path + unfinished, path);
    await files.syncFolder(folder);
    await file.close();
  } catch (error) {
    await file.close().catch(() => undefined);
    // On a full disk it holds the very bytes that are missed.
    await files.remove(path + unfinished).catch(() => undefined);
    throw error;
  }
  return openSlot(files, folder, name);
}

/** Data written to it is on the disk when the write is over. */
export async function openSlot(files: FileLayer, folder: string, name: string): Promise<Slot> {
  const file = await files.open(join(folder, name), 'through');
  try {
    return { name, file, bytes: await file.size() };
  } catch (error) {
    await file.close().catch(() => undefined);
    throw error;
  }
}

/** The name may come back after a loss of power: what it holds is recognised as old then. */
export async function removeSlot(files: FileLayer, folder: string, { name, file }: Slot): Promise<void> {
  await file.close();
  await files.remove(join(folder, name));
}

/** Keeps the file under a new name that is not in `taken`. It needs no room on the disk. */
export async function setSlotAside(files: FileLayer, folder: string, { name, file }: Slot, taken: ReadonlySet<string>): Promise<string> {
  let aside = name + damagedEnding;
  for (let number = 2; taken.has(aside); number++) aside = `${name}.${number}${damagedEnding}`;
  await file.close();
  await files.rename(join(folder, name), join(folder, aside));
  return aside;
}

export function isSlotName(name: string): boolean {
  return /^\d{6,}\.segment$/.test(name);
}

/** A name that none of these has. */
export function newSlotName(taken: ReadonlySet<string>): string {
  for (let number = taken.size + 1; ; number++) {
    const name = slotName(number);
    if (!taken.has(name)) return name;
  }
}

function slotName(number: number): string {
  return `${String(number).padStart(6, '0')}${segmentEnding}`;
}
