/** Statements as texts with a `?` for each value, over one connection. What the sums and the counts over many runs use: their statements are put together. */
export type SqlValue = string | number | bigint | Uint8Array | null;

export interface SqlRow {
  readonly [column: string]: SqlValue;
}

export interface Statements {
  all(text: string, values?: readonly SqlValue[]): Promise<readonly SqlRow[]>;
  /** The first row; `undefined` when there is none. */
  first(text: string, values?: readonly SqlValue[]): Promise<SqlRow | undefined>;
  /** Adds one row; resolves with its id. */
  add(text: string, values: readonly SqlValue[]): Promise<number>;
  /** Resolves with the number of changed rows. */
  run(text: string, values?: readonly SqlValue[]): Promise<number>;
  /** Rows as lists of their columns, some hundred at a time. No other statement changes the rows meanwhile. */
  lists(text: string, values?: readonly SqlValue[]): AsyncIterable<readonly (readonly SqlValue[])[]>;
}
