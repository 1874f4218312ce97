/** Reads and writes CSV files with a header line. */
import { CsvError, parse } from 'csv-parse/sync';
import { csvCell, readCsvCell } from '../../model/csv-cell.ts';
import { datasetForms } from '../example-json.ts';
import { unreadable } from '../../model/errors.ts';
import { isJsonArray, isJsonObject, type JsonObject, jsonText, type JsonValue, parseJson } from '../../model/json.ts';

const rowsMax = 100_000;
const columnsMax = 1_000;
const cellCharsMax = 8 * 1024 * 1024;
const delimiters = [',', ';', '\t'] as const;

/** Each row as an object of texts by column, without empty cells. Throws INPUT_UNREADABLE with the line. */
export function csvRows(file: string, text: string): readonly JsonObject[] {
  const header = text.slice(0, text.search(/\r?\n|$/));
  const count = (sign: string): number => header.split(sign).length;
  const delimiter = delimiters.reduce((best, sign) => (count(sign) > count(best) ? sign : best));
  try {
    const rows: readonly { readonly [column: string]: string }[] = parse(text, {
      bom: true,
      columns: (names: readonly string[]) => columnNames(file, names),
      delimiter,
      skip_empty_lines: true,
      max_record_size: cellCharsMax,
      to: rowsMax + 1,
    });
    if (rows.length > rowsMax) throw unreadable(file, `more than ${rowsMax} rows.`);
    return rows.map((row) =>
      Object.fromEntries(Object.entries(row).flatMap(([name, cell]) => (cell === '' ? [] : [[name, readCsvCell(cell)]]))),
    );
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const line = 'lines' in error ? ` on line ${String(error['lines'])}` : '';
    throw unreadable(file, `it is not CSV${line}: ${error.message.split('\n')[0] ?? ''}. The first line names the columns.`, datasetForms);
  }
}

function columnNames(file: string, names: readonly string[]): string[] {
  const trimmed = names.map((name) => readCsvCell(name).trim());
  const twice = trimmed.find((name, at) => trimmed.indexOf(name) !== at);
  if (twice !== undefined) throw unreadable(file, `two columns have the name ${JSON.stringify(twice)}.`, datasetForms);
  if (trimmed.length > columnsMax) throw unreadable(file, `more than ${columnsMax} columns.`);
  return trimmed;
}

/** Reverses `cellText`: parses a cell that begins as a list, an object or a text in quotes, and keeps any other as text. */
export function cellValue(cell: string): JsonValue {
  return /^\s*[[{"]/.test(cell) ? (parseJson(cell) ?? cell) : cell;
}

/** Writes texts unchanged, unless they would be read as JSON, and everything else as JSON. */
export function cellText(value: JsonValue): string {
  return typeof value === 'string' && value !== '' && typeof cellValue(value) === 'string' && !/^\s*"/.test(value)
    ? value
    : jsonText(value);
}

/** Lines by RFC 4180. */
export function csvText(columns: readonly string[], rows: readonly JsonObject[]): string {
  const cell = (value: JsonValue): string => csvCell(typeof value === 'number' || typeof value === 'bigint' ? value : cellText(value));
  const lines = rows.map((row) => columns.map((column) => (row[column] === undefined ? '' : cell(row[column]))).join(','));
  return [columns.map(csvCell).join(','), ...lines].join('\r\n');
}

/** Members of a row whose column begins so, without the prefix. */
export function withPrefix(row: JsonObject, prefix: string): JsonObject {
  return Object.fromEntries(
    Object.entries(row).flatMap(([column, cell]) => (column.startsWith(prefix) ? [[column.slice(prefix.length), cell]] : [])),
  );
}

/** True for a list of rows from a CSV file, in which every value is a text. */
export function isTable(value: JsonValue): value is readonly JsonObject[] {
  return (
    isJsonArray(value) &&
    value.length > 0 &&
    value.every((row) => isJsonObject(row) && Object.values(row).every((cell) => typeof cell === 'string'))
  );
}
