/** The hook for the address of the page. */
import { useLocation } from 'preact-iso';
import { useCallback, useRef } from 'preact/hooks';
import { changedQuery, pageAddress, type Query } from './address.ts';

export interface Address {
  readonly path: string;
  readonly query: Query;
  /** Changes parameters of the address. `replace`: without an entry in the history of the browser. */
  readonly change: (changes: Query, how?: { readonly replace?: boolean }) => void;
  /** Opens another page of the console. */
  readonly go: (address: string) => void;
}

export function useAddress(): Address {
  const { path, query, route } = useLocation();
  const now = useRef({ path, query, route });
  now.current = { path, query, route };
  const change = useCallback((changes: Query, { replace = false }: { readonly replace?: boolean } = {}) => {
    const at = now.current;
    at.route(pageAddress(at.path, changedQuery(at.query, changes)), replace);
  }, []);
  const go = useCallback((address: string) => now.current.route(address), []);
  return { path, query, change, go };
}
