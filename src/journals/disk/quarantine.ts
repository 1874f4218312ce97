/**
 * Records on which the process died, as files that a person can open: `<position>.body` as received, and `<position>.json` with what
 * the request said about it.
 */
import { join } from 'node:path';
import type { JournalEntry, Position } from '../journal.ts';
import { writeAll, type FileLayer } from './file-system.ts';
import { unfinished } from './segment-files.ts';

/** Name of the folder, in that of the journal. */
export const quarantineFolder = 'quarantine';

export interface Quarantine {
  has(position: Position): boolean;
  /** `not_kept`: there is no room, or the disk refused. */
  keep(entry: JournalEntry): Promise<'kept' | 'not_kept'>;
}

export interface QuarantineOptions {
  readonly files: FileLayer;
  readonly folder: string;
  /** Bytes of all bodies; later ones are not kept, because the first ones are the most useful. */
  readonly bytesMax: number;
  readonly failed: (what: string, error: unknown) => void;
}

const bodyName = /^(\d+)\.body$/;

export async function quarantineIn({ files, folder, bytesMax, failed }: QuarantineOptions): Promise<Quarantine> {
  await files.makeFolder(folder);
  const names = await files.list(folder);
  for (const name of names) if (name.endsWith(unfinished)) await files.remove(join(folder, name));
  const kept = new Set<number>();
  let bytes = 0;
  for (const name of names) {
    const position = bodyName.exec(name)?.[1];
    if (position === undefined) continue;
    kept.add(Number(position));
    bytes += await sizeOf(files, join(folder, name));
  }

  /** The body last: where it stands, the record counts as set aside. */
  async function write({ position, record }: JournalEntry): Promise<void> {
    const { body, ...said } = record;
    await put(`${position}.json`, Buffer.from(`${JSON.stringify({ position, ...said, bodyBytes: body.length }, undefined, 2)}\n`));
    await put(`${position}.body`, body);
    await files.syncFolder(folder);
  }

  async function put(name: string, content: Buffer): Promise<void> {
    const path = join(folder, name);
    const file = await files.open(path + unfinished, 'new');
    try {
      await writeAll(file, content.length === 0 ? [] : [content], 0);
      await file.datasync();
    } finally {
      await file.close();
    }
    await files.rename(path + unfinished, path);
  }

  return {
    has: (position) => kept.has(position),
    async keep(entry) {
      if (bytes + entry.record.body.length > bytesMax) return 'not_kept';
      try {
        await write(entry);
      } catch (error) {
        failed('a record could not be set aside', error);
        return 'not_kept';
      }
      kept.add(entry.position);
      bytes += entry.record.body.length;
      return 'kept';
    },
  };
}

async function sizeOf(files: FileLayer, path: string): Promise<number> {
  const file = await files.open(path, 'existing');
  try {
    return await file.size();
  } finally {
    await file.close();
  }
}
