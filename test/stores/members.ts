/** Stores of every kind, for suites that all of them must pass: closed, and their folders gone, after each test. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.ts';
import type { Store } from '../../src/model/store/store.ts';
import { openedInMemory } from '../builders/memory-store.ts';
import { longSuite } from '../builders/property-runs.ts';
import { emptyPostgres } from '../builders/postgres.ts';
import { postgresStore } from '../../src/stores/postgres/postgres-store.ts';

/** The caller closes them. */
export const opened = {
  'sqlite in memory': openedInMemory,
  postgres: async () => await postgresStore(await emptyPostgres({ leasesBy: 'caller' }), { inThread: false }),
  'sqlite in a file': () => sqliteStore(join(folder(), 'deeper', 'tracejury.db')),
} as const satisfies { readonly [name: string]: () => Promise<Store> };

export type Member = keyof typeof opened;

/** All execute the same statements, so the short suite has the one that needs neither a file nor a server. */
export const members: readonly Member[] = process.env['PGT']
  ? ['postgres']
  : longSuite
    ? ['sqlite in memory', 'sqlite in a file', 'postgres']
    : ['sqlite in memory'];

export function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'tracejury-store-'));
  onTestFinished(() => rmSync(made, { recursive: true }));
  return made;
}

export async function open(member: Member): Promise<Store> {
  return closedLater(await opened[member]());
}

/** A file that a test opens again. */
export async function openFile(file: string): Promise<Store> {
  return closedLater(await sqliteStore(file, { inThread: longSuite }));
}

/** A store that a test has opened by itself. */
export function closedLater(store: Store): Store {
  onTestFinished(() => store.stop());
  return store;
}
