/** The store in PostgreSQL. */
import { PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler, sql } from 'kysely';
import { connectionOn, type SqlThread } from '../sql/connection.ts';
import type { ReplayableStore } from '../../model/store/replay-store.ts';
import { sqlStore } from '../sql/store.ts';
import { threadOf, type ThreadOptions } from '../sql/thread-client.ts';
import { schemaName } from './database-name.ts';
import { storeFault } from './faults.ts';
import { plugins, postgresDatabase } from './database.ts';
import { liveBytes } from './live-bytes.ts';

/** `url`: `postgres://user:password@host:5432/database`. Rejects with a JuryError: STORE_AWAY when the database may be there later. */
export async function postgresStore(url: string, options: ThreadOptions = {}): Promise<ReplayableStore> {
  const connection = connectionOn(await opened(url, options), {
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createAdapter: () => new PostgresAdapter(),
    readsBeside: true,
    createIntrospector: (of) => new PostgresIntrospector(of),
    plugins,
  });
  return {
    ...sqlStore(connection, {
      isDurable: true,
      isShared: true,
      liveBytes: () => liveBytes(connection.db),
      async usedBytes() {
        const { rows } = await sql<{
          readonly used: number;
        }>`select sum(pg_total_relation_size(c.oid)) as used from pg_class c join pg_namespace n on n.oid = c.relnamespace
          where n.nspname = ${schemaName} and c.relkind = 'r'`.execute(connection.db);
        return rows[0]?.used ?? 0;
      },
      // PostgreSQL vacuums its tables itself.
      giveBack: async () => undefined,
      otherWrites: async () => 0,
    }),
    backup: connection.backup,
  };
}

async function opened(url: string, options: ThreadOptions): Promise<SqlThread> {
  try {
    return await threadOf({ engine: 'postgres', url }, () => postgresDatabase(url), options);
  } catch (error) {
    throw storeFault(url, error);
  }
}
