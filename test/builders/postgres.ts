/** Databases for a test, on a PostgreSQL server that ends with the process of the tests. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { postgresServer } from './postgres-server.ts';

export interface MissingDatabase {
  readonly url: string;
  /** Executes a statement as the superuser of the server. `$` is replaced by the name of the database. */
  run(statement: string): Promise<void>;
}

/** The URL of a database that is not there; dropped after the test if the test makes it. */
export async function missingPostgres(): Promise<MissingDatabase> {
  const { url, run } = await postgresServer();
  const name = `test_${randomBytes(6).toString('hex')}`;
  const runHere: MissingDatabase['run'] = (statement) => run(statement.replaceAll('$', name));
  onTestFinished(() => runHere('drop database if exists $ with (force)'));
  return { url: url(name), run: runHere };
}

/**
 * The URL of a database that has the tables and no rows; dropped after the test. `leasesBy`: the clock by which leases count, that of the server
 * unless a test has another one.
 */
export async function emptyPostgres({ leasesBy = 'server' }: { readonly leasesBy?: 'server' | 'caller' } = {}): Promise<string> {
  const { url, run, database } = await postgresServer();
  const name = await database();
  onTestFinished(() => run(`drop database if exists ${name} with (force)`));
  if (leasesBy === 'caller')
    await run(
      "create or replace function tracejury.lease_clock(bigint) returns bigint language sql stable parallel safe as 'select $1'",
      name,
    );
  return url(name);
}

/** The URL of a database that a later release has written. */
export async function newerPostgres(): Promise<string> {
  const { url, run, database } = await postgresServer();
  const name = await database();
  onTestFinished(() => run(`drop database if exists ${name} with (force)`));
  await run("insert into tracejury.kysely_migration values ('999_future', '')", name);
  return url(name);
}

/** Files of certificates: of the authority of the server's certificate for `localhost`, and of another one. */
export async function authorities(): Promise<{ readonly own: string; readonly other: string }> {
  const { folder } = await postgresServer();
  return { own: join(folder, 'ca.crt'), other: join(folder, 'other.crt') };
}
