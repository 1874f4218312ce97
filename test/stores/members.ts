/** A store of every kind, for suites that hold for whichever it is: closed, and its folder gone, after each test. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.ts';
import type { Store } from '../../src/model/store/store.ts';
import { longSuite } from '../builders/property-runs.ts';

export const members = {
  'sqlite in memory': () => sqliteStore(':memory:', { inThread: false }),
  // A thread loads the modules of the store again, some 0.2 s of work for each store: the long suite opens files as the service does.
  'sqlite in a file': () => sqliteStore(join(folder(), 'deeper', 'tracejury.db'), { inThread: longSuite }),
} as const satisfies { readonly [name: string]: () => Promise<Store> };

export function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'tracejury-store-'));
  onTestFinished(() => rmSync(made, { recursive: true }));
  return made;
}

export async function open(member: keyof typeof members): Promise<Store> {
  return closedLater(await members[member]());
}

/** A store that a test has opened by itself. */
export function closedLater(store: Store): Store {
  onTestFinished(() => store.stop());
  return store;
}
