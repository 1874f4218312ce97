/** Statements as texts with a `?` for each value, over one connection. Sums and counts over many runs use them, because they put their statements together. */
export type SqlValue = string | number | bigint | Uint8Array | null;

export interface SqlRow {
  readonly [column: string]: SqlValue;
}

/** Rows of one page: enough that waiting for each page costs nothing beside reading its rows. */
export const rowsPerPage = 500;

/** False where a statement may write. The texts come from this program, so no text within quotes misleads. */
export function isReading(sql: string): boolean {
  return /^\s*(?:select|with)\b/i.test(sql) && !/\b(?:insert|update|delete|merge)\b/i.test(sql);
}

export interface Statements {
  all(text: string, values?: readonly SqlValue[]): Promise<readonly SqlRow[]>;
  /** The first row; `undefined` when there is none. */
  first(text: string, values?: readonly SqlValue[]): Promise<SqlRow | undefined>;
  /** Adds one row; resolves with its id. */
  add(text: string, values: readonly SqlValue[]): Promise<number>;
  /** Resolves with the number of changed rows. */
  run(text: string, values?: readonly SqlValue[]): Promise<number>;
  /** Rows as lists of their columns, some hundred at a time. Only within a transaction or a scan. No other statement changes the rows meanwhile. */
  lists(text: string, values?: readonly SqlValue[]): AsyncIterable<readonly (readonly SqlValue[])[]>;
}
