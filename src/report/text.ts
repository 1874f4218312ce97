/** Parts of a report as lines of text for a terminal. A part without items has no lines. */

/** Rounds down: the text never names a share that was not reached. */
export function percent(share: number): string {
  return `${Math.floor(share * 1_000 + 1e-9) / 10} %`;
}

/** Commas between groups of three digits. */
export function thousands(value: number): string {
  return String(value).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
}

export function runsText(count: number): string {
  return `${thousands(count)} ${count === 1 ? 'run' : 'runs'}`;
}

/** Aligns the first column to the left and the others to the right. */
export function aligned(rows: readonly (readonly string[])[], others: 'left' | 'right' = 'right'): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => (column === 0 || others === 'left' ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  '),
  );
}

/** Two columns, the first as wide as its longest cell. */
export function columns(rows: readonly (readonly [string, string])[]): readonly string[] {
  const widest = Math.max(0, ...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(widest)}  ${right}`.trimEnd());
}

/** Wraps at words. A word that is longer than a line keeps its length. */
export function wrapped(text: string, indent: number, indentAfter = indent, width = 80): readonly string[] {
  const lines: string[] = [];
  let line = ' '.repeat(indent);
  for (const word of text.split(' ')) {
    const longer = line.trim() === '' ? `${line}${word}` : `${line} ${word}`;
    if (line.trim() !== '' && longer.length > width) {
      lines.push(line);
      line = `${' '.repeat(indentAfter)}${word}`;
    } else line = longer;
  }
  return [...lines, line];
}

/** A title with a line for each of the first items, or with several. */
export function section<Item>(
  title: string,
  items: readonly Item[],
  write: (item: Item) => string | readonly string[],
  most = Infinity,
): readonly string[] {
  if (items.length === 0) return [];
  const lines = items.slice(0, most).flatMap(write);
  return ['', title, ...lines.map((line) => `  ${line}`), ...moreLines(items.length, most).map((line) => `  ${line}`)];
}

/** A table of the first rows below a blank line. */
export function textTable<Row>(
  heads: readonly string[],
  rows: readonly Row[],
  write: (row: Row) => readonly string[],
  { most = Infinity, others }: { readonly most?: number; readonly others?: 'left' | 'right' } = {},
): readonly string[] {
  if (rows.length === 0) return [];
  const lines = aligned([heads, ...rows.slice(0, most).map(write)], others);
  return ['', ...lines.map((line) => line.trimEnd()), ...moreLines(rows.length, most).map((line) => `  ${line}`)];
}

/** Counts the items that a part leaves out. */
export function moreLines(count: number, most: number): readonly string[] {
  return count > most ? [`… and ${count - most} more`] : [];
}
