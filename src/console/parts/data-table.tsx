/** A table. A long one draws only the rows on screen. Keys: j, k and Enter; x selects. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Column, ColumnPicker, useChosenColumns } from './column-picker.tsx';
import { useKeys } from './keyboard.tsx';
import { TableFrame } from './table-frame.tsx';
import { useAddress } from './use-address.ts';
import { useVirtualRows } from './virtual-rows.ts';

export type { Column };

export interface Selection {
  readonly keys: ReadonlySet<string>;
  readonly toggle: (key: string) => void;
  readonly toggleAll: () => void;
}

export interface DataTableProps<Row> {
  /** Names the table for a screen reader. */
  readonly caption: string;
  /** Name under which the browser keeps the chosen columns. Without it, all columns are shown. */
  readonly name?: string;
  /** By importance where the table has a name: a narrow one has those without `from`. */
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  /** The page that Enter and a click on the row open. */
  readonly href?: (row: Row) => string | undefined;
  readonly selection?: Selection;
  /** Called near the end of the rows. */
  readonly onEnd?: () => void;
  /** True when the table scrolls inside the page, and draws only the rows on screen. */
  readonly isLong?: boolean;
  readonly onHover?: (isOver: boolean) => void;
}

const rowHeight = 36;
/** Rows before the end at which the next page is read. */
const endRows = 30;

export function DataTable<Row>(props: DataTableProps<Row>) {
  const { caption, name, columns: all, rows, rowKey, href, selection, onEnd, isLong = false, onHover } = props;
  const frame = useRef<HTMLDivElement>(null);
  const [current, setCurrent] = useState<string>();
  const { columns, ...choice } = useChosenColumns(name, all);
  const { go } = useAddress();
  const virtual = useVirtualRows(isLong ? rows.length : 0, frame, rowHeight);
  const indexes = isLong ? virtual.items.map(({ index }) => index) : rows.map((_, index) => index);
  const at = rows.findIndex((row) => rowKey(row) === current);
  const move = (by: number): void => {
    const next = at < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, at + by));
    const row = rows[next];
    if (row === undefined) return;
    setCurrent(rowKey(row));
    if (isLong) virtual.scrollTo(next);
    else frame.current?.querySelector(`tr[aria-rowindex="${next + 2}"]`)?.scrollIntoView({ block: 'nearest' });
  };
  const open = (row: Row | undefined): void | false => {
    const address = row === undefined ? undefined : href?.(row);
    if (address === undefined) return false;
    go(address);
    return undefined;
  };
  useKeys([
    { key: 'j', does: 'Goes to the next row', run: () => move(1) },
    { key: 'k', does: 'Goes to the previous row', run: () => move(-1) },
    ...(href === undefined ? [] : [{ key: 'Enter', does: 'Opens the row', run: () => open(rows[at]) }]),
    ...(selection === undefined
      ? []
      : [{ key: 'x', does: 'Selects the row', run: () => (current === undefined ? false : selection.toggle(current)) }]),
  ]);
  const last = indexes.at(-1) ?? -1;
  useEffect(() => {
    if (last >= rows.length - endRows) onEnd?.();
  }, [last, rows.length]);

  const width = columns.length + (selection === undefined ? 0 : 1);
  return (
    <>
      {name === undefined ? null : <ColumnPicker all={all} {...choice} />}
      <TableFrame label={caption} isLong={isLong} frame={frame} onHover={onHover}>
        <table class="data" aria-rowcount={rows.length + 1}>
          <caption class="visually-hidden">{caption}</caption>
          <thead>
            <tr aria-rowindex={1}>
              {selection === undefined ? null : (
                <th scope="col">
                  <input
                    type="checkbox"
                    aria-label="Select all rows"
                    checked={rows.length > 0 && rows.every((row) => selection.keys.has(rowKey(row)))}
                    onChange={selection.toggleAll}
                  />
                </th>
              )}
              {columns.map((column) => (
                <th key={column.key} scope="col" class={classOf(column)}>
                  {column.title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            <Gap height={virtual.before} width={width} />
            {indexes.map((index) => {
              const row = rows[index];
              if (row === undefined) return null;
              const key = rowKey(row);
              return (
                <TableRow
                  key={key}
                  row={row}
                  id={key}
                  index={index}
                  columns={columns}
                  isCurrent={key === current}
                  selection={selection}
                  onOpen={href === undefined ? undefined : () => open(row)}
                />
              );
            })}
            <Gap height={virtual.after} width={width} />
          </tbody>
        </table>
      </TableFrame>
    </>
  );
}

interface TableRowProps<Row> {
  readonly row: Row;
  readonly id: string;
  readonly index: number;
  readonly columns: readonly Column<Row>[];
  readonly isCurrent: boolean;
  readonly selection: Selection | undefined;
  readonly onOpen: (() => void) | undefined;
}

function TableRow<Row>({ row, id, index, columns, isCurrent, selection, onOpen }: TableRowProps<Row>) {
  const isSelected = selection?.keys.has(id) === true;
  return (
    <tr
      class={isCurrent ? 'current' : undefined}
      aria-rowindex={index + 2}
      aria-selected={selection === undefined ? undefined : isSelected}
      onClick={(event) => {
        // Links and buttons in the row act for themselves, and text can be marked.
        if (onOpen !== undefined && !isControl(event.target) && getSelection()?.isCollapsed !== false) onOpen();
      }}
    >
      {selection === undefined ? null : (
        <td>
          <input type="checkbox" aria-label={`Select row ${index + 1}`} checked={isSelected} onChange={() => selection.toggle(id)} />
        </td>
      )}
      {columns.map((column) => (
        <td key={column.key} class={classOf(column)} dir={column.isText === true ? 'auto' : undefined}>
          {column.cell(row)}
        </td>
      ))}
    </tr>
  );
}

function classOf({ isNumber = false, isText = false, wraps = false, from }: Omit<Column<never>, 'cell'>): string | undefined {
  const names = [isNumber ? 'number' : wraps ? 'wraps' : isText ? 'text' : '', from === undefined ? '' : `from-${from}`];
  return names.filter((name) => name !== '').join(' ') || undefined;
}

/** Stands for rows that are not on screen. */
function Gap({ height, width }: { readonly height: number; readonly width: number }) {
  return height <= 0 ? null : (
    <tr class="gap" aria-hidden="true">
      <td colSpan={width} style={{ height: `${height}px` }} />
    </tr>
  );
}

function isControl(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('a, button, input, select, label, summary') !== null;
}
