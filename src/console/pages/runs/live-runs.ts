/** New runs of the filter, as the service stores them. Under the pointer they wait, so that no row moves away from a click. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { addressOf } from '../../api/client.ts';
import { type Run, runKey, type RunsQuery } from './filters.ts';

export interface LiveRuns {
  /** Newest first. */
  readonly rows: readonly Run[];
  /** Rows that wait until the pointer has left. */
  readonly held: number;
  /** Rows that the service left out, because they came too fast. */
  readonly leftOut: number;
  readonly isOpen: boolean;
  readonly hold: (isHeld: boolean) => void;
}

/** Rows that the page keeps; the list of the API has the others. */
const liveRowsMax = 500;

export function useLiveRuns({ from: _from, ...filter }: RunsQuery, isOn: boolean): LiveRuns {
  const [rows, setRows] = useState<readonly Run[]>([]);
  const [held, setHeld] = useState<readonly Run[]>([]);
  const [leftOut, setLeftOut] = useState(0);
  const [isOpen, setOpen] = useState(false);
  const isHeld = useRef(false);
  const key = JSON.stringify(filter);

  useEffect(() => {
    setRows([]);
    setHeld([]);
    setLeftOut(0);
    setOpen(false);
    if (!isOn) return undefined;
    const source = new EventSource(addressOf('/runs/live', { query: JSON.parse(key) as { readonly [name: string]: string } }));
    source.addEventListener('open', () => setOpen(true));
    source.addEventListener('error', () => setOpen(false));
    source.addEventListener('run', (event: MessageEvent<string>) => {
      const run = parsed(event.data) as Run | undefined;
      if (run === undefined) return;
      (isHeld.current ? setHeld : setRows)((before) => withRun(before, run));
    });
    source.addEventListener('lag', (event: MessageEvent<string>) => {
      const { left_out: count = 0 } = (parsed(event.data) ?? {}) as { readonly left_out?: number };
      setLeftOut((before) => before + count);
    });
    return () => source.close();
  }, [key, isOn]);

  const hold = useCallback((isOver: boolean) => {
    isHeld.current = isOver;
    if (isOver) return;
    setHeld((waiting) => {
      setRows((before) => waiting.toReversed().reduce(withRun, before));
      return [];
    });
  }, []);
  return { rows, held: held.length, leftOut, isOpen, hold };
}

/** On top; an older row of the same run goes. */
function withRun(rows: readonly Run[], run: Run): readonly Run[] {
  const key = runKey(run);
  return [run, ...rows.filter((one) => runKey(one) !== key)].slice(0, liveRowsMax);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
