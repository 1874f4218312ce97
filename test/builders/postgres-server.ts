/** A PostgreSQL server that a program starts: it ends with the process of the program. */
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import pg from 'pg';
import { postgresStore } from '../../src/stores/postgres/postgres-store.ts';
import { eventually } from '../service/running.ts';
import { freePort } from './free-port.ts';

const debianFolder = '/usr/lib/postgresql';
/** The server refuses to run as root. Debian's package makes the user. */
const serverUser = 'postgres';

export interface PostgresServer {
  /** Has the certificates. */
  readonly folder: string;
  url(database: string): string;
  /** A new database with the tables and no rows. */
  database(): Promise<string>;
  /** Executes a statement as the superuser. */
  run(statement: string, database?: string): Promise<void>;
  /** Ends all processes of the server at once, without a checkpoint, and starts it again. */
  crash(): Promise<void>;
}

/** The server of this process. */
export function postgresServer(): Promise<PostgresServer> {
  return (server ??= started());
}

let server: Promise<PostgresServer> | undefined;

const template = 'with_tables';

async function started(): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'tracejury-postgres-'));
  const as = process.getuid?.() === 0 ? ['runuser', '-u', serverUser, '--'] : [];
  if (as.length > 0) chownSync(folder, idOf('-u'), idOf('-g'));
  const data = join(folder, 'data');
  const [initdb, control] = ['initdb', 'pg_ctl'].map((name) => join(programs(), name));
  const port = await freePort();
  const settings = [
    `port = ${port}`,
    "listen_addresses = '127.0.0.1'",
    "unix_socket_directories = ''",
    'fsync = off',
    'ssl = on',
    `ssl_cert_file = '${folder}/server.crt'`,
    `ssl_key_file = '${folder}/server.key'`,
  ];
  // The shell ends the server when the process of the program is gone, however that ended.
  const script = `cd "${folder}" && ${certificates} && "${initdb}" -D "${data}" -A trust -U test -E UTF8 --locale=C --no-sync >"${folder}/log" 2>&1 &&
    printf '%s\\n' ${settings.map((line) => `"${line}"`).join(' ')} >>"${data}/postgresql.conf" && "${control}" -D "${data}" -l "${folder}/log" start >/dev/null
    read -r line; "${control}" -D "${data}" -m fast stop >/dev/null; rm -r "${folder}"`;
  const shell = spawn('/usr/bin/env', [...as, 'sh', '-c', script], { cwd: '/', stdio: ['pipe', 'ignore', 'inherit'] });
  shell.unref();
  const url = (database: string): string => `postgres://test@127.0.0.1:${port}/${database}`;
  const run = async (statement: string, database = 'postgres'): Promise<void> => {
    const client = new pg.Client({ connectionString: url(database) });
    await client.connect();
    try {
      await client.query(statement);
    } finally {
      await client.end();
    }
  };
  const answers = (): Promise<true> =>
    eventually(
      () =>
        run('select 1').then(
          () => true,
          () => undefined,
        ),
      'a PostgreSQL server',
    );
  await answers();
  await run(`create database ${template}`);
  await (await postgresStore(url(template), { inThread: false })).stop();
  return {
    folder,
    url,
    run,
    async database() {
      const name = `test_${randomBytes(6).toString('hex')}`;
      await run(`create database ${name} template ${template}`);
      return name;
    },
    async crash() {
      const words = [...as, control ?? '', '-D', data, '-l', join(folder, 'log'), '-m', 'immediate', 'restart'];
      await once(spawn('/usr/bin/env', words, { cwd: '/', stdio: 'ignore' }), 'exit');
      await answers();
    },
  };
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
