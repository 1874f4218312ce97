/**
 * Brings the tables of a database up to date. One replica does it, and the others wait for it. Replicas of the release before go on meanwhile, as a
 * step only adds to what they use.
 */
import { statementsOf, stepNames, unfinishedCopy } from '../sqlite/migrations.ts';
import { schemaName } from './database-name.ts';
import { isAway, UnfitDatabase } from './faults.ts';
import type { Line } from './line.ts';
import { inPostgres, postgresSchema } from './schema.ts';

/** Longest time of a statement of a step: a table may have millions of rows. */
const stepMs = 3_600_000;
/** Longest wait of a step for a table that other replicas use. Their later questions wait behind it. */
const lockMs = 5_000;

/** Rejects with UnfitDatabase when the store cannot work through this connection. `beside`: another one to the same database. */
export async function checked(line: Line, beside: () => Line): Promise<void> {
  const { rows } = await line.query(
    "select pg_is_in_recovery() as is_replica, current_setting('transaction_read_only') as is_read_only, current_setting('server_encoding') as encoding",
  );
  const { is_replica: isReplica, is_read_only: isReadOnly, encoding } = rows[0] ?? {};
  if (isReplica === 1 || isReadOnly === 'on')
    throw new UnfitDatabase('it only reads, as a replica does: name the primary server in store.url');
  if (encoding !== 'UTF8') throw new UnfitDatabase(`its encoding is ${String(encoding)}, and texts of runs need UTF8`);
  if (!(await line.isDirect()) && (await isShared(line, beside())))
    throw new UnfitDatabase(
      'a connection pooler gives each transaction another connection: name the server itself in store.url, or a pooler in session mode',
    );
}

/** A session has a process of the server to itself. A pooler of transactions gives an idle one to the next client. */
async function isShared(line: Line, other: Line): Promise<boolean> {
  const pid = async (of: Line): Promise<unknown> => (await of.query('select pg_backend_pid() as pid')).rows[0]?.['pid'];
  try {
    return (await pid(line)) === (await pid(other));
  } finally {
    await other.close();
  }
}

/** Rejects with UnfitDatabase when this release cannot work with the tables. `until`: the last step, for tests. */
export async function migrated(line: Line, until?: string): Promise<void> {
  if (await hasTable(line, unfinishedCopy))
    throw new UnfitDatabase('it holds an unfinished copy: run the same command tracejury store copy again: it continues where it stopped');
  if (!(await isMade(line))) await alone(line, async () => ((await isMade(line)) ? undefined : await make(line, until)));
  const applied = await appliedNames(line);
  const newer = [...applied].filter((name) => !stepNames.includes(name));
  if (newer.length > 0) throw new UnfitDatabase(`it was written by a newer release: it knows ${newer.join(', ')}`);
  const missing = stepNames.filter((name) => !applied.has(name) && (until === undefined || name <= until));
  const lost = missing.filter((name) => statementsOf(name) === undefined);
  if (lost.length > 0) throw new UnfitDatabase(`it lacks ${lost.join(', ')}, which every database of a release has`);
  for (const name of missing) await alone(line, () => apply(line, name));
}

/** In one transaction, with the lock of those who write. */
async function alone(line: Line, work: () => Promise<void>): Promise<void> {
  await line.begin(stepMs);
  try {
    await line.query(`set local lock_timeout = ${lockMs}`);
    await work();
    await line.end('commit');
  } catch (error) {
    await line.end('rollback');
    throw error;
  }
}

async function apply(line: Line, name: string): Promise<void> {
  if ((await appliedNames(line)).has(name)) return;
  try {
    for (const statement of statementsOf(name) ?? []) for (const text of inPostgres(statement)) await line.query(text);
    await line.query('insert into kysely_migration (name, timestamp) values ($1, now()::text)', [name]);
  } catch (error) {
    if (isAway(error) || !(error instanceof Error)) throw error;
    throw new UnfitDatabase(`the step ${name} failed, and the tables are unchanged: ${error.message}`);
  }
}

async function appliedNames(line: Line): Promise<ReadonlySet<string>> {
  const { rows } = await line.query('select name from kysely_migration');
  return new Set(rows.map(({ name }) => String(name)));
}

async function isMade(line: Line): Promise<boolean> {
  return await hasTable(line, 'kysely_migration');
}

async function hasTable(line: Line, name: string): Promise<boolean> {
  const { rows } = await line.query(`select to_regclass('${schemaName}.${name}') is not null as made`);
  return rows[0]?.['made'] === 1;
}

async function make(line: Line, until: string | undefined): Promise<void> {
  // With `if not exists` too, PostgreSQL wants the right to make schemas, which the owner of this one may lack.
  const { rows } = await line.query(`select to_regnamespace('${schemaName}') is not null as made`);
  if (rows[0]?.['made'] !== 1) await line.query(`create schema ${schemaName}`);
  for (const text of await postgresSchema(until)) await line.query(text);
}
