/**
 * A small text that is replaced often: two pages of one file are written by turns, so that the last complete one is there whenever the
 * process or the power ends. A page: bytes of the text (uint32), CRC-32 of serial and text, serial (uint64), text.
 */
import { crc32 } from 'node:zlib';
import { writeAll, type FileLayer, type LayerFile } from './file-system.ts';
import { readUint64, writeUint64 } from './frame.ts';
import { pageBytes } from './segment-header.ts';

export interface DoubleBufferedFile {
  /** As it was when the file was opened. Undefined: never written, or neither page is sound. */
  readonly text: string | undefined;
  /** `survives: 'death'` is enough against the end of the process and costs no sync; `'power'` syncs. */
  write(text: string, survives: 'death' | 'power'): Promise<void>;
  close(): Promise<void>;
}

const textAt = 16;
const textBytesMax = pageBytes - textAt;

interface Page {
  readonly serial: number;
  readonly text: string;
}

/** The name is durable once the caller has synced the folder. */
export async function doubleBufferedFile(files: FileLayer, path: string, there: boolean): Promise<DoubleBufferedFile> {
  const file = await files.open(path, there ? 'existing' : 'new');
  try {
    // Room for both from the beginning: on a full disk what is committed must still be written down, or nothing is ever freed.
    const size = await file.size();
    if (size < 2 * pageBytes) await writeAll(file, [Buffer.alloc(2 * pageBytes - size)], size);
    const pages = [await readPage(file, 0), await readPage(file, pageBytes)];
    const newest = pages.reduce((best, page) => ((page?.serial ?? 0) > (best?.serial ?? 0) ? page : best), undefined);
    let serial = newest?.serial ?? 0;
    return {
      text: newest?.text,
      async write(text, survives) {
        const page = pageOf({ serial: serial + 1, text });
        await writeAll(file, [page], ((serial + 1) % 2) * pageBytes);
        if (survives === 'power') await file.datasync();
        // Only now: until the new page is safe the other one is never touched.
        serial++;
      },
      close: () => file.close(),
    };
  } catch (error) {
    await file.close().catch(() => undefined);
    throw error;
  }
}

function pageOf({ serial, text }: Page): Buffer {
  const page = Buffer.alloc(pageBytes);
  const bytes = Buffer.from(text);
  if (bytes.length > textBytesMax) throw new Error(`a text of ${bytes.length} bytes does not fit`);
  page.writeUInt32LE(bytes.length, 0);
  writeUint64(page, serial, 8);
  bytes.copy(page, textAt);
  page.writeUInt32LE(crc32(page.subarray(8, textAt + bytes.length)), 4);
  return page;
}

async function readPage(file: LayerFile, offset: number): Promise<Page | undefined> {
  const page = Buffer.alloc(pageBytes);
  await file.read(page, offset);
  const bytes = page.readUInt32LE(0);
  if (bytes > textBytesMax || crc32(page.subarray(8, textAt + bytes)) !== page.readUInt32LE(4)) return undefined;
  return { serial: readUint64(page, 8), text: page.toString('utf8', textAt, textAt + bytes) };
}
