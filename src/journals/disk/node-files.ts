/** The files of this machine. */
import { constants } from 'node:fs';
import { mkdir, open, readdir, rename, rm, type FileHandle, readFile, stat, writeFile } from 'node:fs/promises';
import type { FileLayer, LayerFile, OpenMode, FolderLock } from './file-system.ts';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseSync } from 'node:sqlite';
import { JuryError } from '../../model/errors.ts';
import { makeFolders } from '../../runtime/folders.ts';

/** The journal holds prompts and answers, which only its owner may read. */
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
    await makeFolders(path, {
      make: async (one) => await mkdir(one, folderMode),
      isFolder: async (one) => (await stat(one).catch(() => undefined))?.isDirectory() === true,
      parentOf: dirname,
      sleep: async (ms, signal) => await sleep(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined),
    });
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

/** SQLITE_BUSY and SQLITE_LOCKED. */
const held: ReadonlySet<unknown> = new Set([5, 6]);

/**
 * One process a folder. The operating system gives the lock to SQLite on an empty file: it ends with the process, so it cannot grow
 * stale, and no process id is mistaken for another one's (in a container every service is process 1).
 */
async function lockFolder(folder: string): Promise<FolderLock> {
  const holder = join(folder, 'holder');
  // SQLite would make it readable for everybody, and gives the file beside it the same rights.
  await (await open(join(folder, 'lock'), 'a', fileMode)).close();
  const database = new DatabaseSync(join(folder, 'lock'), { timeout: 0 });
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (!(error instanceof Error) || !('errcode' in error) || !held.has(error.errcode)) throw error;
    const who = await readFile(holder, 'utf8').catch(() => 'another process');
    throw new JuryError('JOURNAL_LOCKED', `${folder} belongs to ${who.trim()}.`, error);
  }
  // Only for the sentence above: the lock does not depend on it.
  await writeFile(holder, `process ${process.pid}\n`, { mode: fileMode }).catch(() => undefined);
  let isOpen = true;
  return {
    async release() {
      if (isOpen) database.close();
      isOpen = false;
    },
  };
}
