/** Rows of a table in the order of its key, and the check that two stores have the same ones. */
import { createHash } from 'node:crypto';
import type { SqlRow, SqlValue } from '../sql/statements.ts';
import type { CopySide } from './side.ts';
import type { CopiedTable } from './tables.ts';

export type Key = readonly SqlValue[];

/** Rows of one page, and bytes: a single row may have more. */
const pageRows = 500;
const pageBytes = 8 * 1024 * 1024;
/** More than one row in a table without a key: it has the one of its migration. */
const stateRowsMax = 100;

/** Rows behind a key. Bodies of blocks are plain. */
export async function* rowsAfter(side: CopySide, table: CopiedTable, after: Key | undefined): AsyncGenerator<SqlRow> {
  const names = table.columns.map(({ name }) => name).join(', ');
  if (table.key.length === 0) return yield* await side.statements.all(`select ${names} from ${table.name} limit ${stateRowsMax}`);
  const key = table.key.join(', ');
  const places = table.key.map(() => '?').join(', ');
  const lengths = table.columns
    .filter(({ type }) => type === 'TEXT' || type === 'BLOB')
    .map(({ name }) => `coalesce(octet_length(${name}), 0)`);
  for (let from = after; ;) {
    const behind = from === undefined ? '' : `where (${key}) > (${places})`;
    // Without the texts at first: it is not known how long they are.
    const ends = await side.statements.all(
      `select ${key}, ${['0', ...lengths].join(' + ')} as bytes from ${table.name} ${behind} order by ${key} limit ${pageRows}`,
      from ?? [],
    );
    const last = lastWithin(ends);
    if (last === undefined) return;
    const to = keyOf(table, last);
    const page = await side.statements.all(
      `select ${names} from ${table.name} ${behind === '' ? 'where' : `${behind} and`} (${key}) <= (${places}) order by ${key}`,
      [...(from ?? []), ...to],
    );
    for (const row of page) yield table.name === 'blocks' ? { ...row, body: side.plain(bytesOf(row['body'])) } : row;
    from = to;
  }
}

function lastWithin(ends: readonly SqlRow[]): SqlRow | undefined {
  let bytes = 0;
  const over = ends.findIndex((row) => (bytes += Number(row['bytes'])) > pageBytes);
  return over < 0 ? ends.at(-1) : ends[Math.max(0, over - 1)];
}

export function keyOf(table: CopiedTable, row: SqlRow): Key {
  return table.key.map((name) => row[name] ?? null);
}

export function bytesOf(value: SqlValue | undefined): Uint8Array {
  if (!(value instanceof Uint8Array)) throw new Error('a block has no body');
  return value;
}

/** Rows of a table as a number of them and a hash, which does not depend on their order. */
export interface Tally {
  readonly rows: number;
  readonly hash: string;
}

export async function tallyOf(side: CopySide, table: CopiedTable, onRow: () => void): Promise<Tally> {
  let [rows, high, low] = [0, 0n, 0n];
  for await (const row of rowsAfter(side, table, undefined)) {
    const digest = digestOf(table, row);
    rows++;
    high = BigInt.asUintN(64, high + digest.readBigUInt64LE(0));
    low = BigInt.asUintN(64, low + digest.readBigUInt64LE(8));
    onRow();
  }
  return { rows, hash: [high, low].map((half) => half.toString(16).padStart(16, '0')).join('') };
}

function digestOf({ columns }: CopiedTable, row: SqlRow): Buffer {
  const hash = createHash('sha256');
  let plain = '';
  for (const { name } of columns) {
    const value = row[name] ?? null;
    if (value instanceof Uint8Array) {
      hash.update(`${plain}b${value.byteLength}:`).update(value);
      plain = '';
    } else plain += textOf(value);
  }
  return hash.update(plain).digest();
}

/** PostgreSQL keeps no zero in a text and a sign for zero in a number; SQLite the other way round. */
function textOf(value: Exclude<SqlValue, Uint8Array>): string {
  if (value === null) return 'n;';
  if (typeof value !== 'string') return `d${Number(value) + 0};`;
  const kept = value.replaceAll('\0', '\uFFFD');
  return `t${kept.length}:${kept};`;
}
