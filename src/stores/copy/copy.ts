/**
 * Copies the rows of a store into an empty one of the other engine, a batch a transaction. A table of the target notes how far the copy is, so one
 * that was stopped goes on. Services refuse the target until all rows of both stores were read again and are the same.
 */
import { JuryError } from '../../model/errors.ts';
import { isJsonObject, jsonText, parseJson } from '../../model/json.ts';
import { leaseMs } from '../../model/store/lease.ts';
import type { Micros } from '../../model/timestamp.ts';
import type { SqlRow } from '../sql/statements.ts';
import { stepNames, unfinishedCopy } from '../sqlite/migrations.ts';
import { bytesOf, keyOf, rowsAfter, tallyOf, type Key } from './rows.ts';
import type { CopySide } from './side.ts';
import { copiedTables, type CopiedTable } from './tables.ts';

/** Rows and bytes of one transaction. */
const batchRows = 500;
const batchBytes = 8 * 1024 * 1024;

export interface CopyOptions {
  readonly from: CopySide;
  readonly to: CopySide;
  /** The clock of this process. A store with a sign of life of a service within the time of a lease is in use. */
  readonly now: Micros;
  /** Rows that were read, of the copy and then of the comparison. */
  readonly onRows: (done: number) => void;
  /** Rows of the source by table, before the first one is copied. */
  readonly onStart: (rows: readonly TableRows[]) => void;
}

export interface TableRows {
  readonly table: string;
  readonly rows: number;
}

export interface ComparedTable extends TableRows {
  /** Compares the rows of both stores. Undefined when they differ. */
  readonly hash: string | undefined;
}

/** The row of a table after which a copy goes on. */
interface Position {
  /** Its place in the list of tables. */
  readonly table: number;
  readonly after: Key | undefined;
}

/** Rows of the tables that a copy would have. Rejects with a JuryError when the store cannot be copied. */
export async function rowsToCopy(from: CopySide, now: Micros): Promise<readonly TableRows[]> {
  await refuseUnfit(from, now);
  return await counted(from, await copiedTables());
}

async function counted(from: CopySide, tables: readonly CopiedTable[]): Promise<readonly TableRows[]> {
  const found: TableRows[] = [];
  for (const { name } of tables) {
    const row = await from.statements.first(`select count(*) as rows from ${name}`);
    found.push({ table: name, rows: Number(row?.['rows']) });
  }
  return found;
}

/** Resolves with the tables of both stores. The copy is whole when each has a hash. Rejects with a JuryError. */
export async function copied({ from, to, now, onRows, onStart }: CopyOptions): Promise<readonly ComparedTable[]> {
  await refuseUnfit(from, now);
  const tables = await copiedTables();
  const start = await begun(from, to, { tables, now });
  const rows = await counted(from, tables);
  onStart(rows);
  let done = rows.slice(0, start.table).reduce((sum, one) => sum + one.rows, 0);
  const onRow = (): void => onRows(++done);
  for (const [at, table] of tables.entries())
    if (at >= start.table) await copyTable(from, to, { table, at, after: at === start.table ? start.after : undefined, onRow });
  const compared: ComparedTable[] = [];
  for (const table of tables) {
    const wanted = await tallyOf(from, table, onRow);
    const found = await tallyOf(to, table, () => undefined);
    const isSame = wanted.hash === found.hash && wanted.rows === found.rows;
    compared.push({ table: table.name, rows: found.rows, hash: isSame ? found.hash : undefined });
  }
  if (compared.every(({ hash }) => hash !== undefined)) await ended(from, to, tables);
  return compared;
}

async function refuseUnfit(side: CopySide, now: Micros): Promise<void> {
  const refuse = (why: string): never => {
    throw new JuryError('COPY_REFUSED', `${side.name} ${why}.`);
  };
  if (!(await side.hasTable('kysely_migration'))) refuse('is not a store');
  const names = new Set((await side.statements.all('select name from kysely_migration')).map(({ name }) => String(name)));
  if (stepNames.some((name) => !names.has(name)))
    refuse('has the tables of an earlier release: start a service of this release on it once');
  if (names.size > stepNames.length) refuse('was written by a newer release: copy it with that one');
  const [used] = await side.statements.all('select host from replicas where seen_us > lease_clock(?) - ? limit 1', [now, leaseMs * 1_000]);
  if (used !== undefined)
    refuse(`is in use by a service on ${String(used['host'])}: stop it, or wait for half a minute if it has ended already`);
}

/** Makes the tables of the target, and notes the copy in it. */
async function begun(
  from: CopySide,
  to: CopySide,
  { tables, now }: { readonly tables: readonly CopiedTable[]; readonly now: Micros },
): Promise<Position> {
  const isGoingOn = await to.hasTable(unfinishedCopy);
  // A service may use it, and the steps of this release would stop one of an earlier release.
  if (!(await to.hasTable('kysely_migration'))) await to.makeTables();
  await refuseUnfit(to, now);
  if (isGoingOn) return await positionIn(from, to);
  await to.transaction(async () => {
    for (const { name } of tables.filter(({ key }) => key.length > 0))
      if ((await to.statements.first(`select 1 from ${name} limit 1`)) !== undefined)
        throw new JuryError(
          'COPY_REFUSED',
          `${to.name} has rows in its table ${name} and no unfinished copy: name an empty database, or a file that is not there.`,
        );
    await to.statements.run(`create table ${unfinishedCopy} (source text not null, position text not null)`);
    await to.statements.run(`insert into ${unfinishedCopy} (source, position) values (?, ?)`, [
      from.name,
      positionText({ table: 0, after: undefined }),
    ]);
  });
  return { table: 0, after: undefined };
}

async function positionIn(from: CopySide, to: CopySide): Promise<Position> {
  const row = await to.statements.first(`select source, position from ${unfinishedCopy}`);
  if (row?.['source'] !== from.name)
    throw new JuryError(
      'COPY_REFUSED',
      `${to.name} has an unfinished copy of ${String(row?.['source'])}: copy that one, or name another target.`,
    );
  const { table, after } = parsedPosition(String(row['position']));
  return { table, after };
}

function positionText({ table, after }: Position): string {
  return jsonText({ table, after: after === undefined ? null : after.map((part) => (typeof part === 'number' ? part : String(part))) });
}

function parsedPosition(text: string): Position {
  const value = parseJson(text);
  if (value === undefined || !isJsonObject(value)) throw new Error('the note of the copy is not JSON');
  return { table: Number(value['table']), after: Array.isArray(value['after']) ? (value['after'] as Key) : undefined };
}

interface TableCopy {
  readonly table: CopiedTable;
  readonly at: number;
  readonly after: Key | undefined;
  readonly onRow: () => void;
}

async function copyTable(from: CopySide, to: CopySide, { table, at, after, onRow }: TableCopy): Promise<void> {
  let batch: SqlRow[] = [];
  let bytes = 0;
  const write = async (next: Position): Promise<void> => {
    const rows = batch;
    [batch, bytes] = [[], 0];
    await to.transaction(async () => {
      if (table.key.length === 0) await to.statements.run(`delete from ${table.name}`);
      if (rows.length > 0) await to.insert(table, rows);
      await to.statements.run(`update ${unfinishedCopy} set position = ?`, [positionText(next)]);
    });
  };
  for await (const row of rowsAfter(from, table, after)) {
    batch.push(table.name === 'blocks' ? { ...row, body: to.packed(bytesOf(row['body'])) } : row);
    bytes += sizeOf(row);
    onRow();
    if (table.key.length > 0 && (batch.length >= batchRows || bytes >= batchBytes)) await write({ table: at, after: keyOf(table, row) });
  }
  await write({ table: at + 1, after: undefined });
}

function sizeOf(row: SqlRow): number {
  let bytes = 0;
  for (const value of Object.values(row)) bytes += typeof value === 'string' || value instanceof Uint8Array ? value.length : 8;
  return bytes;
}

/** The target becomes an independent store here. */
async function ended(from: CopySide, to: CopySide, tables: readonly CopiedTable[]): Promise<void> {
  await to.transaction(async () => {
    for (const table of tables) if (table.givesIds) await to.skipIds(table, await from.lastId(table));
    // The service fills the index of words with runs from the newest to the oldest.
    const last = 'coalesce((select max(id) from runs), 0)';
    await to.statements.run(`update run_texts_state set newest_id = ${last}, oldest_id = ${last} + 1`);
    await to.statements.run(`drop table ${unfinishedCopy}`);
  });
  await to.settle();
}
