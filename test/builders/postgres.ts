/** Databases on a PostgreSQL server that the tests start: it ends with the process of the tests. */
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdtempSync, readdirSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import pg from 'pg';
import { onTestFinished } from 'vitest';
import { postgresStore } from '../../src/stores/postgres/postgres-store.ts';
import { eventually } from '../service/running.ts';

const debianFolder = '/usr/lib/postgresql';
/** The server refuses to run as root. Debian's package makes the user. */
const serverUser = 'postgres';

export interface MissingDatabase {
  readonly url: string;
  /** Executes a statement as the superuser of the server. `$` stands for the name of the database. */
  run(statement: string): Promise<void>;
}

/** The URL of a database that is not there; dropped after the test if the test makes it. */
export async function missingPostgres(): Promise<MissingDatabase> {
  const { url } = await (server ??= started());
  const name = `test_${randomBytes(6).toString('hex')}`;
  const runHere: MissingDatabase['run'] = (statement) => run(url('postgres'), statement.replaceAll('$', name));
  onTestFinished(() => runHere('drop database if exists $ with (force)'));
  return { url: url(name), run: runHere };
}

/** The URL of a database that has the tables and no rows; dropped after the test. */
export async function emptyPostgres(): Promise<string> {
  const { url, template } = await (server ??= started());
  const name = `test_${randomBytes(6).toString('hex')}`;
  await run(url('postgres'), `create database ${name} template ${template}`);
  onTestFinished(() => run(url('postgres'), `drop database if exists ${name} with (force)`));
  return url(name);
}

/** The URL of a database that a later release has written. */
export async function newerPostgres(): Promise<string> {
  const url = await emptyPostgres();
  await run(url, "insert into tracejury.kysely_migration values ('999_future', '')");
  return url;
}

/** Files of certificates: of the authority of the server's certificate for `localhost`, and of another one. */
export async function authorities(): Promise<{ readonly own: string; readonly other: string }> {
  const { folder } = await (server ??= started());
  return { own: join(folder, 'ca.crt'), other: join(folder, 'other.crt') };
}

interface Server {
  url(database: string): string;
  readonly template: string;
  readonly folder: string;
}

let server: Promise<Server> | undefined;

async function started(): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'tracejury-postgres-'));
  const as = process.getuid?.() === 0 ? ['runuser', '-u', serverUser, '--'] : [];
  if (as.length > 0) chownSync(folder, idOf('-u'), idOf('-g'));
  const data = join(folder, 'data');
  const [initdb, postgres] = ['initdb', 'postgres'].map((name) => join(programs(), name));
  const port = await freePort();
  // The shell ends the server when the process of the tests is gone, however that ended.
  const script = `cd "${folder}" && ${certificates} && "${initdb}" -D "${data}" -A trust -U test -E UTF8 --locale=C --no-sync >"${folder}/log" 2>&1 &&
    { "${postgres}" -D "${data}" -p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off -c ssl=on -c ssl_cert_file="${folder}/server.crt" -c ssl_key_file="${folder}/server.key" >>"${folder}/log" 2>&1 & }
    read -r line; kill -INT $!; wait; rm -r "${folder}"`;
  const shell = spawn('/usr/bin/env', [...as, 'sh', '-c', script], { cwd: '/', stdio: ['pipe', 'ignore', 'inherit'] });
  shell.unref();
  const url = (database: string): string => `postgres://test@127.0.0.1:${port}/${database}`;
  await eventually(
    () =>
      run(url('postgres'), 'select 1').then(
        () => true,
        () => undefined,
      ),
    'a PostgreSQL server',
  );
  const template = 'with_tables';
  await run(url('postgres'), `create database ${template}`);
  await (await postgresStore(url(template), { inThread: false })).stop();
  return { url, template, folder };
}

const newKey = 'openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes';
const certificates = [
  `${newKey} -x509 -days 2 -subj /CN=own -keyout ca.key -out ca.crt`,
  `${newKey} -x509 -days 2 -subj /CN=other -keyout other.key -out other.crt`,
  `${newKey} -subj /CN=localhost -keyout server.key -out server.csr`,
  'echo subjectAltName=DNS:localhost >names',
  'openssl x509 -req -days 2 -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -extfile names -out server.crt',
]
  .map((command) => `${command} 2>>log`)
  .join(' && ');

function programs(): string {
  const [version] = existsSync(debianFolder) ? readdirSync(debianFolder).toSorted((one, other) => Number(other) - Number(one)) : [];
  if (version === undefined) throw new Error(`There is no PostgreSQL in ${debianFolder}. Install the package postgresql.`);
  return join(debianFolder, version, 'bin');
}

function idOf(which: '-u' | '-g'): number {
  return Number(spawnSync('id', [which, serverUser], { encoding: 'utf8' }).stdout);
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}

async function run(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
