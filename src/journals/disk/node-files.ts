/** The files of this machine. */
import { constants } from 'node:fs';
import { mkdir, open, readdir, rename, rm, type FileHandle } from 'node:fs/promises';
import type { FileLayer, LayerFile } from './file-layer.ts';
import { lockFolder } from './folder-lock.ts';

/** What is journalled are prompts and answers: nobody else's to read. */
const fileMode = 0o600;
const folderMode = 0o700;

export const nodeFiles: FileLayer = {
  async makeFolder(path) {
    await mkdir(path, { recursive: true, mode: folderMode });
  },
  list: (folder) => readdir(folder),
  async open(path, mode) {
    return fileOf(await open(path, mode === 'new' ? constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC : constants.O_RDWR, fileMode));
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
