/** The selected rows of a table. */
import { useCallback, useMemo, useState } from 'preact/hooks';
import type { Selection } from './data-table.tsx';

export interface Selected<Row> {
  readonly selection: Selection;
  readonly selected: readonly Row[];
  readonly clear: () => void;
}

export function useSelection<Row>(rows: readonly Row[], keyOf: (row: Row) => string): Selected<Row> {
  const [keys, setKeys] = useState<ReadonlySet<string>>(new Set());
  const selected = useMemo(() => rows.filter((row) => keys.has(keyOf(row))), [rows, keys]);
  const toggle = useCallback((key: string) => {
    setKeys((before) => {
      const next = new Set(before);
      if (!next.delete(key)) next.add(key);
      return next;
    });
  }, []);
  const clear = useCallback(() => setKeys(new Set()), []);
  const toggleAll = (): void => setKeys(selected.length === rows.length ? new Set() : new Set(rows.map(keyOf)));
  return { selection: { keys, toggle, toggleAll }, selected, clear };
}
