/** Hooks that read the API for a component. A request ends with the component, and with the parameters that it was made for. */
import { useCallback, useContext, useEffect, useRef, useState } from 'preact/hooks';
import { AppContext } from '../parts/app-context.ts';
import { type ApiClient, ApiFailure, type GetAnswer, type GetOptions, type GetPath } from './client.ts';

export function useApi(): ApiClient {
  return useContext(AppContext).api;
}

/** State of an answer. While it is read again, and after a failure, `value` is the last one. */
export interface Loaded<T> {
  readonly value: T | undefined;
  readonly isLoading: boolean;
  readonly error: ApiFailure | undefined;
  readonly reload: () => void;
}

export interface UseGetSettings {
  /** Reads again after this many milliseconds, while the page is visible. */
  readonly everyMs?: number;
  /** True to read nothing. */
  readonly isOff?: boolean;
}

/** Reads a route, and again when its parameters change. */
export function useGet<P extends GetPath>(
  path: P,
  options: GetOptions<P>,
  { everyMs, isOff = false }: UseGetSettings = {},
): Loaded<GetAnswer<P>> {
  const api = useApi();
  const [state, setState] = useState<{ readonly value?: GetAnswer<P>; readonly error?: ApiFailure; readonly isLoading: boolean }>({
    isLoading: !isOff,
  });
  const [turn, setTurn] = useState(0);
  const key = JSON.stringify([path, options]);
  const latest = useRef({ key: '', options });
  latest.current.options = options;

  useEffect(() => {
    if (isOff) return setState({ isLoading: false });
    const abort = new AbortController();
    const isSame = latest.current.key === key;
    latest.current.key = key;
    // An answer to earlier parameters is not an answer to the present ones.
    setState((before) => (isSame ? { ...before, isLoading: true } : { isLoading: true }));
    api.get(path, latest.current.options, abort.signal).then(
      (value) => setState({ value, isLoading: false }),
      (error: unknown) => {
        if (!abort.signal.aborted) setState((before) => ({ ...before, error: failureOf(error), isLoading: false }));
      },
    );
    return () => abort.abort();
  }, [api, key, turn, isOff]);

  useEffect(() => {
    if (everyMs === undefined || isOff) return undefined;
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') setTurn((one) => one + 1);
    }, everyMs);
    return () => clearInterval(timer);
  }, [everyMs, isOff]);

  const reload = useCallback(() => setTurn((one) => one + 1), []);
  return { value: state.value, error: state.error, isLoading: state.isLoading, reload };
}

/** Routes that answer with a list of the key `K`. */
type RowsOf<P extends GetPath, K extends string> = GetAnswer<P> extends { readonly [key in K]: ReadonlyArray<infer Row> } ? Row : never;

export interface LoadedList<Row> {
  readonly rows: readonly Row[];
  readonly isLoading: boolean;
  /** True when the service has more rows; `more` reads them. */
  readonly hasMore: boolean;
  readonly error: ApiFailure | undefined;
  readonly more: () => void;
  readonly reload: () => void;
}

/** Rows that a table holds at most; a narrower filter shows the others. */
const rowsMax = 20_000;

/** Reads a list page by page: the first page at once, the others when `more` is called. */
export function useList<P extends GetPath, K extends string & keyof GetAnswer<P>>(
  path: P,
  listKey: K,
  options: GetOptions<P>,
): LoadedList<RowsOf<P, K>> {
  const api = useApi();
  const [state, setState] = useState<{
    readonly rows: readonly RowsOf<P, K>[];
    readonly next: string | null;
    readonly isLoading: boolean;
    readonly error?: ApiFailure;
  }>({
    rows: [],
    next: null,
    isLoading: true,
  });
  const [turn, setTurn] = useState(0);
  const key = JSON.stringify([path, options]);
  const request = useRef<AbortController>(new AbortController());

  const read = useCallback(
    (cursor: string | undefined, before: readonly RowsOf<P, K>[]) => {
      request.current.abort();
      const abort = new AbortController();
      request.current = abort;
      setState((one) => ({ rows: before, next: one.next, isLoading: true }));
      const { query, ...rest } = options as { readonly query?: object };
      const paged = { ...rest, query: { ...query, ...(cursor === undefined ? {} : { cursor }) } } as unknown as GetOptions<P>;
      api.get(path, paged, abort.signal).then(
        (answer) => {
          const { [listKey]: rows, next = null } = answer as { readonly next?: string | null } & {
            readonly [key in K]: readonly RowsOf<P, K>[];
          };
          setState({ rows: [...before, ...rows].slice(0, rowsMax), next, isLoading: false });
        },
        (error: unknown) => {
          if (!abort.signal.aborted) setState((one) => ({ ...one, rows: before, isLoading: false, error: failureOf(error) }));
        },
      );
    },
    [api, key],
  );

  useEffect(() => {
    read(undefined, []);
    return () => request.current.abort();
  }, [read, turn]);

  const hasMore = state.next !== null && state.rows.length < rowsMax;
  return {
    rows: state.rows,
    isLoading: state.isLoading,
    hasMore,
    error: state.error,
    more: () => {
      if (hasMore && !state.isLoading && state.error === undefined && state.next !== null) read(state.next, state.rows);
    },
    reload: useCallback(() => setTurn((one) => one + 1), []),
  };
}

/** Any error as a failure with a remedy. */
export function failureOf(error: unknown): ApiFailure {
  if (error instanceof ApiFailure) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new ApiFailure({ status: 0, code: 'console', message: `The console failed: ${message}`, todo: 'Load the page again.' });
}
