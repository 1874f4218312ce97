/** A store of every kind, for suites that hold for whichever it is: closed, and its folder gone, after each test. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.ts';
import type { Store } from '../../src/model/store/store.ts';

export const members = {
  'sqlite in memory': () => sqliteStore(':memory:', { inThread: false }),
  'sqlite in a file': () => sqliteStore(join(folder(), 'deeper', 'tracejury.db')),
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
