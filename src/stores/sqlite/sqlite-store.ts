/** The embedded store: one SQLite file. */
import { sql, type Kysely } from 'kysely';
import { JuryError } from '../../model/errors.ts';
import type { ReplayableStore } from '../../model/store/replay-store.ts';
import { sqlStore } from '../sql/store.ts';
import type { Tables } from '../sql/tables.ts';
import { connected, ownersOnly, type SqliteOptions } from './connection.ts';
import { migrated } from './migrations.ts';

/** `file`: a path, or `:memory:`. Rejects with a JuryError. */
export async function sqliteStore(file: string, options: SqliteOptions = {}): Promise<ReplayableStore> {
  const connection = await connected(file, options);
  const { db, exec } = connection;
  try {
    await migrated(db, file);
  } catch (error) {
    await connection.stop();
    throw error instanceof JuryError
      ? error
      : new JuryError('STORE_UNUSABLE', `${file} cannot be read: ${error instanceof Error ? error.message : 'unknown error'}.`, error);
  }
  return {
    ...sqlStore(connection, {
      isDurable: file !== ':memory:',
      isShared: false,
      usedBytes: () => usedBytes(db),
      liveBytes: () => usedBytes(db),
      giveBack: () => exec(`pragma incremental_vacuum(${vacuumPages})`),
      async otherWrites() {
        const { rows } = await sql<{ readonly data_version: number }>`pragma data_version`.execute(db);
        return rows[0]?.data_version ?? 0;
      },
    }),
    async backup(to) {
      await ownersOnly(to);
      await connection.backup(to);
    },
  };
}

/** Pages given back to the file system in one step. */
const vacuumPages = 256;

/** Size of the pages that hold something. */
async function usedBytes(db: Kysely<Tables>): Promise<number> {
  const found = await sql<{
    readonly used: number;
  }>`select (p.page_count - f.freelist_count) * s.page_size as used from pragma_page_count p, pragma_freelist_count f, pragma_page_size s`.execute(
    db,
  );
  return found.rows[0]?.used ?? 0;
}
