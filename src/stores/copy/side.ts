/** One of the two stores of a copy. The copy's statements have one text for both engines; the rest is here. */
import type { Statements, SqlRow } from '../sql/statements.ts';
import type { CopiedTable } from './tables.ts';

export interface CopySide {
  /** Shown to people, so without a password. */
  readonly name: string;
  readonly statements: Pick<Statements, 'all' | 'first' | 'run'>;
  /** True when there is a table of this name. */
  hasTable(name: string): Promise<boolean>;
  /** Makes the tables of this release in a store without any. */
  makeTables(): Promise<void>;
  /** All or nothing. */
  transaction(work: () => Promise<void>): Promise<void>;
  /** Within a transaction. */
  insert(table: CopiedTable, rows: readonly SqlRow[]): Promise<void>;
  /** The texts of a block from the body that the engine keeps, and the other way round. */
  plain(body: Uint8Array): Uint8Array;
  packed(body: Uint8Array): Uint8Array;
  /** The highest id that the engine has given to a row, which may be gone; 0: none. */
  lastId(table: CopiedTable): Promise<number>;
  /** Ids up to this one are not given again. */
  skipIds(table: CopiedTable, last: number): Promise<void>;
  /** After the last row. */
  settle(): Promise<void>;
  close(): Promise<void>;
}
