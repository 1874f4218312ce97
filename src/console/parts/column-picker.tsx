/** Lets a person choose the columns of a table. */
import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { chosenColumns, storeColumns, storedColumns } from './column-choice.ts';

export interface Column<Row> {
  readonly key: string;
  readonly title: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** True for figures, aligned to the right. */
  readonly isNumber?: boolean;
  /** True for text of a span, which may be written from right to left. It takes the width that other columns leave. */
  readonly isText?: boolean;
  /** The least width of the table at which the column is shown, unless a person has chosen columns. */
  readonly from?: 'narrow' | 'medium' | 'wide' | undefined;
  /** True when long text may take several lines. Only in tables that do not scroll by themselves. */
  readonly wraps?: boolean;
}

export interface ChosenColumns<Row> {
  readonly columns: readonly Column<Row>[];
  /** Keys of the choice; `undefined` without one. */
  readonly keys: readonly string[] | undefined;
  readonly choose: (keys: readonly string[] | undefined) => void;
}

/** `table` is `undefined` when columns cannot be chosen. */
export function useChosenColumns<Row>(table: string | undefined, all: readonly Column<Row>[]): ChosenColumns<Row> {
  const [keys, setKeys] = useState(() => (table === undefined ? undefined : storedColumns(() => localStorage, table)));
  const columns = useMemo(() => chosenColumns(all, keys), [all, keys]);
  const choose = (chosen: readonly string[] | undefined): void => {
    if (table !== undefined) storeColumns(() => localStorage, table, chosen);
    setKeys(chosen);
  };
  return { columns, keys, choose };
}

export function ColumnPicker<Row>({ all, keys, choose }: Omit<ChosenColumns<Row>, 'columns'> & { readonly all: readonly Column<Row>[] }) {
  const [isOpen, setOpen] = useState(false);
  const [first, ...others] = all;
  // Without a choice the boxes show the columns of the narrowest table.
  const chosen = keys ?? others.filter(({ from }) => from === undefined).map(({ key }) => key);
  return (
    <details class="column-picker" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary class="button">Columns</summary>
      {isOpen ? (
        <fieldset>
          <legend class="visually-hidden">Columns beside {first?.title}</legend>
          {others.map(({ key, title }) => (
            <label key={key} class="row">
              <input
                type="checkbox"
                checked={chosen.includes(key)}
                onChange={(event) => choose(event.currentTarget.checked ? [...chosen, key] : chosen.filter((one) => one !== key))}
              />
              {title}
            </label>
          ))}
          <button type="button" disabled={keys === undefined} onClick={() => choose(undefined)}>
            By width
          </button>
        </fieldset>
      ) : null}
    </details>
  );
}
