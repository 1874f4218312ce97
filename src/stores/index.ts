/** The stores by the scheme of `store.url`. A new one is a file or folder of its own and a line here. */
import type { SqliteStore } from './sqlite/sqlite-store.ts';
import type { SqliteOptions } from './sqlite/connection.ts';

export type StoreOptions = Pick<SqliteOptions, 'inThread' | 'onDiskFull' | 'ports'>;

export const stores = {
  sqlite: openSqlite,
  memory: (_: string, options?: StoreOptions) => openSqlite(':memory:', options),
} as const satisfies { readonly [scheme: string]: (rest: string, options?: StoreOptions) => Promise<SqliteStore> };

export interface StoreAddress {
  readonly scheme: keyof typeof stores;
  /** What stands behind the colon: the path of a file for `sqlite`. */
  readonly rest: string;
}

/** Undefined: no store has such a URL. */
export function storeAddress(url: string): StoreAddress | undefined {
  const [, scheme = '', rest = ''] = /^([a-z]+):(.*)$/s.exec(url) ?? [];
  if (scheme === 'memory') return rest === '' ? { scheme, rest } : undefined;
  return scheme === 'sqlite' && rest !== '' && !rest.startsWith('//') ? { scheme, rest } : undefined;
}

/** The store and the query builder load when a store opens: what reads a configuration needs only addresses. */
async function openSqlite(path: string, options?: StoreOptions): Promise<SqliteStore> {
  const { sqliteStore } = await import('./sqlite/sqlite-store.ts');
  return await sqliteStore(path, options);
}

/** Rejects with a JuryError, STORE_UNUSABLE. */
export function openStore({ scheme, rest }: StoreAddress, options?: StoreOptions): Promise<SqliteStore> {
  return stores[scheme](rest, options);
}
