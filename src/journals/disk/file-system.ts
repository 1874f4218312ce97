/** The file operations that the journal on disk uses, as an argument: tests hand in layers that fail, and one that loses power. */

export interface LayerFile {
  /** Gives the bytes written, which may be fewer than asked. */
  write(buffers: readonly Buffer[], offset: number): Promise<number>;
  /** Fills the buffer from its beginning and gives the bytes read; fewer at the end of the file. */
  read(buffer: Buffer, offset: number): Promise<number>;
  /** When it resolves, all bytes written so far survive a loss of power; the file's name may not. */
  datasync(): Promise<void>;
  size(): Promise<number>;
  close(): Promise<void>;
}

export type OpenMode = 'existing' | 'new' | 'through';

export interface FolderLock {
  release(): Promise<void>;
}

/** Paths are the system's own. Everything rejects with the system's error. */
export interface FileLayer {
  /** With the folders above it; a folder that is there is no error. */
  makeFolder(path: string): Promise<void>;
  /** The names in it. */
  list(folder: string): Promise<readonly string[]>;
  /**
   * `new`: made empty; what had the name is gone. `through`: what is there; each write to it survives a loss of power when it resolves, with one way to the disk
   * instead of two.
   */
  open(path: string, mode: OpenMode): Promise<LayerFile>;
  rename(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
  /** When it resolves, the names in the folder survive a loss of power. */
  syncFolder(path: string): Promise<void>;
  /** Rejects with JOURNAL_LOCKED while a living process holds it. Ends with the process, however that ends. */
  lock(folder: string): Promise<FolderLock>;
}

/** Writes all of it, however small the portions. */
export async function writeAll(file: LayerFile, buffers: readonly Buffer[], offset: number): Promise<void> {
  let left = buffers;
  for (let at = offset; left.length > 0;) {
    const written = await file.write(left, at);
    if (written <= 0) throw new Error('the disk took no bytes');
    at += written;
    left = without(left, written);
  }
}

function without(buffers: readonly Buffer[], bytes: number): readonly Buffer[] {
  let skip = bytes;
  return buffers.flatMap((buffer) => {
    const cut = Math.min(skip, buffer.length);
    skip -= cut;
    return cut === buffer.length ? [] : [buffer.subarray(cut)];
  });
}
