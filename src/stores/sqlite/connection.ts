/** Opens a file of SQLite. */
import { closeSync, openSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { dirname } from 'node:path';
import { SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';
import { JuryError } from '../../model/errors.ts';
import { makeFolders } from '../../runtime/folders.ts';
import { connectionOn, type Connection } from '../sql/connection.ts';
import { threadOf, type ThreadOptions } from '../sql/thread-client.ts';
import { database } from './database.ts';

/** Only the owner may read prompts and answers. */
const fileMode = 0o600;
const folderMode = 0o700;

export interface SqliteOptions extends ThreadOptions {
  /** Serialized database that the connection begins with in place of an empty one; without a thread only. For tests: they open many, and migrate one. */
  readonly image?: Uint8Array;
}

/** Rejects with a JuryError. */
export async function connected(file: string, options: SqliteOptions = {}): Promise<Connection> {
  try {
    if (file !== ':memory:') await ownersOnly(file);
    const thread = await threadOf({ engine: 'sqlite', file }, () => database(file, options.image), options);
    return connectionOn(thread, {
      createQueryCompiler: () => new SqliteQueryCompiler(),
      createAdapter: () => new SqliteAdapter(),
      createIntrospector: (of) => new SqliteIntrospector(of),
    });
  } catch (error) {
    throw new JuryError(
      'STORE_UNUSABLE',
      `${file} cannot be opened as an SQLite database: ${error instanceof Error ? error.message : 'unknown error'}.`,
      error,
    );
  }
}

/**
 * A new file is readable only by its owner, and so are new folders that lead to it; SQLite gives the write-ahead log beside it the same
 * mode. Existing files keep their rights.
 */
export async function ownersOnly(file: string): Promise<void> {
  await makeFolders(dirname(file), {
    make: async (path) => await mkdir(path, folderMode),
    isFolder: async (path) => (await stat(path).catch(() => undefined))?.isDirectory() === true,
    parentOf: dirname,
    sleep: async (ms, signal) => await sleep(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined),
  });
  closeSync(openSync(file, 'a', fileMode));
}
