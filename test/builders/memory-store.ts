/** A store in memory and without a thread, so that it keeps to a manual clock; stopped after the test. */
import { onTestFinished } from 'vitest';
import { sqliteStore, type SqliteStore } from '../../src/stores/sqlite/sqlite-store.ts';

export async function memoryStore(): Promise<SqliteStore> {
  const store = await sqliteStore(':memory:', { inThread: false });
  onTestFinished(() => store.stop());
  return store;
}
