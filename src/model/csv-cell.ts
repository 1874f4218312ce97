/**
 * Cells of tables that people open in a spreadsheet. It reads a text that begins like a formula as one, and it may take semicolons, tabs or line ends
 * for borders of cells, with any separator in the file. So an apostrophe precedes each text that looks like a formula there.
 */

/** At the beginning of a cell, or behind what a reader may take for a border: what looks like a formula, also behind blanks, quotes and apostrophes. */
const formula = /(^|[;\t\r\n])(?=(?:["']|[^\S\t\r\n])*[=+\-@＝＋－＠])/g;
const escaped = /(^|[;\t\r\n])'(?=(?:["']|[^\S\t\r\n])*[=+\-@＝＋－＠])/g;

/** One cell of a line by RFC 4180. A number stays a number. */
export function csvCell(value: string | number | bigint | boolean): string {
  if (typeof value !== 'string') return String(value);
  const plain = value.replace(formula, "$1'");
  return /[",\r\n;\t]|^\s|\s$/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

/** The text of a cell that `csvCell` has written. */
export function readCsvCell(cell: string): string {
  return cell.replace(escaped, '$1');
}
