/** The stores by the scheme of `store.url`. A new one is a separate file or folder and a line here. */
import { existsSync } from 'node:fs';
import { databaseName } from './postgres/database-name.ts';
import type { ReplayableStore } from '../model/store/replay-store.ts';
import type { ThreadOptions } from './sql/thread-client.ts';

export type StoreOptions = Pick<ThreadOptions, 'inThread' | 'onDiskFull'>;

export const stores = {
  sqlite: openSqlite,
  memory: (_: string, options?: StoreOptions) => openSqlite(':memory:', options),
  postgres: openPostgres,
} as const satisfies { readonly [scheme: string]: (rest: string, options?: StoreOptions) => Promise<ReplayableStore> };

export interface StoreAddress {
  readonly scheme: keyof typeof stores;
  /** The part after the colon: the path of a file for `sqlite`, the address of a database for `postgres`. */
  readonly rest: string;
}

/** Undefined: no store has such a URL. */
export function storeAddress(url: string): StoreAddress | undefined {
  const [, scheme = '', rest = ''] = /^([a-z]+):(.*)$/s.exec(url) ?? [];
  if (scheme === 'memory') return rest === '' ? { scheme, rest } : undefined;
  if (scheme === 'postgres' || scheme === 'postgresql') return isDatabase(url) ? { scheme: 'postgres', rest } : undefined;
  return scheme === 'sqlite' && rest !== '' && !rest.startsWith('//') ? { scheme, rest } : undefined;
}

function isDatabase(url: string): boolean {
  const { hostname, pathname } = URL.parse(url) ?? {};
  return hostname !== undefined && hostname !== '' && pathname !== undefined && pathname.length > 1;
}

/** For people: the path of a file, or the address of a database without its password and its parameters. */
export function storeName({ scheme, rest }: StoreAddress): string {
  return scheme === 'postgres' ? databaseName(`postgres:${rest}`) : rest;
}

/** False where no other process can read such a store. A database reports it when it is opened. */
export function mayBeThere({ scheme, rest }: StoreAddress): boolean {
  return scheme === 'postgres' || (scheme === 'sqlite' && existsSync(rest));
}

/** The store and the query builder load when a store opens: what reads a configuration needs only addresses. */
async function openSqlite(path: string, options?: StoreOptions): Promise<ReplayableStore> {
  const { sqliteStore } = await import('./sqlite/sqlite-store.ts');
  return await sqliteStore(path, options);
}

async function openPostgres(rest: string, options?: StoreOptions): Promise<ReplayableStore> {
  const { postgresStore } = await import('./postgres/postgres-store.ts');
  return await postgresStore(`postgres:${rest}`, options);
}

/** Rejects with a JuryError: STORE_AWAY when a later attempt may succeed, else STORE_UNUSABLE. */
export function openStore({ scheme, rest }: StoreAddress, options?: StoreOptions): Promise<ReplayableStore> {
  return stores[scheme](rest, options);
}
