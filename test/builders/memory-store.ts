/** A store in memory and without a thread, so that it keeps to a manual clock; stopped after the test. */
import { onTestFinished } from 'vitest';
import type { Store } from '../../src/model/store/store.ts';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.ts';

export async function memoryStore(): Promise<Store> {
  const store = await sqliteStore(':memory:', { inThread: false });
  onTestFinished(() => store.stop());
  return store;
}
