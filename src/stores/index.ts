/** The stores by the scheme of `store.url`. A new one is a file or folder of its own and a line here. */
import { sqliteStore } from './sqlite/sqlite-store.ts';
import type { Store } from '../model/store/store.ts';

export interface StoreEvents {
  /** A write was refused because the disk is full. */
  readonly onDiskFull?: () => void;
}

export const stores = {
  sqlite: (path: string, events?: StoreEvents) => sqliteStore(path, events),
  memory: (_: string, events?: StoreEvents) => sqliteStore(':memory:', events),
} as const satisfies { readonly [scheme: string]: (rest: string, events?: StoreEvents) => Promise<Store> };

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

/** Rejects with a JuryError, STORE_UNUSABLE. */
export function openStore({ scheme, rest }: StoreAddress, events?: StoreEvents): Promise<Store> {
  return stores[scheme](rest, events);
}
