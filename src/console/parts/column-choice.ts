/** The columns of a table that a person has chosen. The browser keeps the choice; without one the width of the table decides. */
import type { BrowserStorage } from './theme.ts';

const keyOf = (table: string): string => `tracejury.columns.${table}`;

/** Keys of the chosen columns; `undefined` when none are chosen. */
export function storedColumns(storage: () => BrowserStorage, table: string): readonly string[] | undefined {
  try {
    const text = storage().getItem(keyOf(table));
    return text === null || text === '' ? undefined : text.split(' ');
  } catch {
    return undefined;
  }
}

export function storeColumns(storage: () => BrowserStorage, table: string, keys: readonly string[] | undefined): void {
  try {
    if (keys === undefined) storage().removeItem(keyOf(table));
    else storage().setItem(keyOf(table), keys.join(' '));
  } catch {
    // The choice holds until the page is left.
  }
}

/** In the order of the table, at any width. Columns of another release are passed over, and a table keeps its first column. */
export function chosenColumns<Column extends { readonly key: string; readonly from?: string | undefined }>(
  columns: readonly Column[],
  keys: readonly string[] | undefined,
): readonly Column[] {
  if (keys === undefined) return columns;
  return columns.filter(({ key }, at) => at === 0 || keys.includes(key)).map((column) => ({ ...column, from: undefined }));
}
