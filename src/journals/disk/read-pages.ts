/** Reads bytes of a file although some may be unreadable: a page that fails twice comes as zeros, which no frame survives. */
import type { LayerFile } from './file-system.ts';
import { pageBytes } from './segment-header.ts';

/** Rejects where something cannot be read: for bytes that are written again. */
export async function readExactly(file: LayerFile, into: Buffer, offset: number): Promise<void> {
  for (let at = 0; at < into.length;) {
    const read = await file.read(into.subarray(at), offset + at);
    if (read <= 0) throw new Error('the file is shorter than it was');
    at += read;
  }
}

/** Fills the buffer from this offset on; what lies behind the end of the file is zeros. */
export async function readPages(file: LayerFile, into: Buffer, offset: number): Promise<void> {
  if (await filled(file, into, offset)) return;
  for (let at = 0; at < into.length; at += pageBytes) {
    const page = into.subarray(at, at + pageBytes);
    if (!(await filled(file, page, offset + at))) page.fill(0);
  }
}

async function filled(file: LayerFile, into: Buffer, offset: number): Promise<boolean> {
  try {
    for (let at = 0; at < into.length;) {
      const read = await file.read(into.subarray(at), offset + at);
      if (read <= 0) {
        into.fill(0, at);
        return true;
      }
      at += read;
    }
    return true;
  } catch {
    return false;
  }
}
