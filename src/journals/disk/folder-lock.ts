/**
 * One process a folder. The lock is the one that the operating system gives SQLite on an empty file: it ends with the process, so there is
 * nothing to grow stale, and no process id to be mistaken for another one's (in a container every service is process 1).
 */
import { open, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { JuryError } from '../../model/errors.ts';
import type { FolderLock } from './file-system.ts';

/** As everything in the folder. */
const fileMode = 0o600;
/** SQLITE_BUSY and SQLITE_LOCKED. */
const held: ReadonlySet<unknown> = new Set([5, 6]);

export async function lockFolder(folder: string): Promise<FolderLock> {
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
