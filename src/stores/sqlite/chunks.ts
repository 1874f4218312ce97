import { sql, type RawBuilder } from 'kysely';
import { chunks as chunksOf } from '../../model/chunks.ts';

/** Rows of one statement: SQLite takes 32,766 values in one, and a row has 18 at most. */
const rowsPerStatement = 500;

export function chunks<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  return chunksOf(items, rowsPerStatement);
}

/** For `where … in`: one value, so that the statement is the same for every number of items. */
export function oneOf<Item extends string | number>(items: readonly Item[]): RawBuilder<Item> {
  return sql<Item>`(select value from json_each(${JSON.stringify(items)}))`;
}
