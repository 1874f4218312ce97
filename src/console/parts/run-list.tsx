/** The list that a person came from: on the page of a run, keys lead to its neighbours, so that twenty runs need no way back. */
import { useContext, useEffect, useMemo } from 'preact/hooks';
import { AppContext } from './app-context.ts';
import { countText } from './format.ts';
import { useKeys } from './keyboard.tsx';
import { neighboursOf } from './run-neighbours.ts';
import { useAddress } from './use-address.ts';

/** Remembers what a list shows, until another list does. */
export function useRunList(addresses: readonly string[]): void {
  const { runList } = useContext(AppContext);
  useEffect(() => {
    if (addresses.length > 0) runList.current = addresses;
  }, [addresses, runList]);
}

/** Nothing when the run is not of the list. */
export function RunListSteps() {
  const { runList } = useContext(AppContext);
  const { path, query, go } = useAddress();
  const { tenant } = query;
  // A list may have many thousand runs, and the selection on the page changes with each key.
  const found = useMemo(() => neighboursOf(runList.current, { path, tenant }), [runList.current, path, tenant]);
  const open = (address: string | undefined): void | false => (address === undefined ? false : go(address));
  useKeys(
    found === undefined
      ? []
      : [
          { key: 'n', does: 'Opens the next run of the list', run: () => open(found.next) },
          { key: 'p', does: 'Opens the previous run of the list', run: () => open(found.before) },
        ],
  );
  if (found === undefined) return null;
  return (
    <span class="row" role="group" aria-label="Runs of the list">
      <button type="button" disabled={found.before === undefined} onClick={() => open(found.before)}>
        <kbd aria-hidden="true">p</kbd> Previous
      </button>
      <span class="small">
        {countText(found.at + 1)} of {countText(found.of)}
      </span>
      <button type="button" disabled={found.next === undefined} onClick={() => open(found.next)}>
        <kbd aria-hidden="true">n</kbd> Next
      </button>
    </span>
  );
}
