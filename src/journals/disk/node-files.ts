/** The files of this machine. */
import { constants } from 'node:fs';
import { mkdir, open, readdir, rename, rm, type FileHandle } from 'node:fs/promises';
import type { FileLayer, LayerFile, OpenMode } from './file-system.ts';
import { lockFolder } from './folder-lock.ts';

/** What is journalled are prompts and answers: nobody else's to read. */
const fileMode = 0o600;
const folderMode = 0o700;

/** Elsewhere the flag is not there, or promises less than a sync does. */
const writesThrough = process.platform === 'linux';

const flags: { readonly [mode in OpenMode]: number } = {
  existing: constants.O_RDWR,
  new: constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC,
  through: constants.O_RDWR | (writesThrough ? constants.O_DSYNC : 0),
};

export const nodeFiles: FileLayer = {
  async makeFolder(path) {
    await mkdir(path, { recursive: true, mode: folderMode });
  },
  list: (folder) => readdir(folder),
  async open(path, mode) {
    const handle = await open(path, flags[mode], fileMode);
    return mode === 'through' && !writesThrough ? syncedAfterWriting(fileOf(handle)) : fileOf(handle);
  },
  rename,
  remove: (path) => rm(path),
  async syncFolder(path) {
    const folder = await open(path, 'r');
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  },
  lock: lockFolder,
};

function syncedAfterWriting(file: LayerFile): LayerFile {
  return {
    ...file,
    async write(buffers, offset) {
      const written = await file.write(buffers, offset);
      await file.datasync();
      return written;
    },
  };
}

function fileOf(handle: FileHandle): LayerFile {
  return {
    async write(buffers, offset) {
      const [first] = buffers;
      if (buffers.length === 1 && first !== undefined) return (await handle.write(first, 0, first.length, offset)).bytesWritten;
      return (await handle.writev(buffers, offset)).bytesWritten;
    },
    async read(buffer, offset) {
      return (await handle.read(buffer, 0, buffer.length, offset)).bytesRead;
    },
    datasync: () => handle.datasync(),
    async size() {
      return (await handle.stat()).size;
    },
    close: () => handle.close(),
  };
}
