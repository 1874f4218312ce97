/** Parts of a report as blocks of Markdown, for a comment on a pull request. A part without items has no block. */
import { moreLines } from './text.ts';

const cellChars = 300;

/** Escapes foreign text to one line without markup and mentions of people. */
export function cell(text: string, charsMax = cellChars): string {
  const unitsMax = charsMax * 4;
  const line = text
    .slice(0, unitsMax)
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .toWellFormed();
  const characters = [...line];
  const isCut = characters.length > charsMax || text.length > unitsMax;
  const cut = isCut ? `${characters.slice(0, charsMax - 1).join('')}…` : line;
  return cut
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll(/[\\`*_[\]#|~$]/g, '\\$&')
    .replaceAll('@', '@\u200b')
    .replaceAll('://', ':\u200b//');
}

/** Foreign text, or Markdown. */
type Cell = string | { readonly markdown: string };

interface Table<Row> {
  readonly heads: readonly string[];
  readonly rows: readonly Row[];
  readonly write: (row: Row) => readonly Cell[];
  /** Aligns these columns to the right. */
  readonly numbers?: (column: number) => boolean;
  readonly most?: number;
}

/** The table has its heads without rows, too. */
export function markdownTable<Row>({ heads, rows, write, numbers, most = Infinity }: Table<Row>): readonly string[] {
  const line = (cells: readonly Cell[]): string =>
    `| ${cells.map((one) => (typeof one === 'string' ? cell(one) : one.markdown)).join(' | ')} |`;
  const rule = `|${heads.map((_, column) => (numbers?.(column) === true ? '---:' : '---')).join('|')}|`;
  return [[line(heads), rule, ...rows.slice(0, most).map((row) => line(write(row)))].join('\n'), ...moreLines(rows.length, most)];
}

/** Folded away under its title. */
export function markdownDetails<Row>(title: string, table: Table<Row>): readonly string[] {
  return table.rows.length === 0 ? [] : [`<details><summary>${title}</summary>`, ...markdownTable(table), '</details>'];
}

/** `items` are foreign texts. `mark` is in front of each. */
export function markdownList(title: string, items: readonly string[], most = Infinity): readonly string[] {
  if (items.length === 0) return [];
  return [
    [title, ...[...items.slice(0, most).map((text) => cell(text)), ...moreLines(items.length, most)].map((text) => `- ${text}`)].join('\n'),
  ];
}
