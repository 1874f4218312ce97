/** From a file to PostgreSQL and back: the same rows in both, the same answers of the API, and no row is lost with a process that is killed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import pg from 'pg';
import { expect, test } from 'vitest';
import { eventually, running, type Running } from '../../service/running.ts';
import { command } from '../../builders/command.ts';
import { emptyPostgres, missingPostgres } from '../../builders/postgres.ts';
import { seeded } from '../../builders/seeded.ts';
import { folder } from '../members.ts';
import { fileWithRows } from './rows-of-all-tables.ts';

const rows = 1_203;
const same = 'Both stores have the same rows.';

function copy(from: string, to: string) {
  return command(['store', 'copy', '--from', from, '--to', to]);
}

async function statement(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(text);
  await client.end();
}

/** Lines of tables with their numbers of rows and hashes. */
function tables(out: string): string {
  return out.replace(same, '').trim();
}

test('copy: rows of all tables are the same in PostgreSQL, and back in a file', async () => {
  const [first, second, url] = [join(folder(), 'first.db'), join(folder(), 'second.db'), await emptyPostgres()];
  await fileWithRows(first, rows);
  const there = await copy(`sqlite:${first}`, url);
  expect(there).toMatchObject({ code: 0, out: expect.stringContaining(same) });
  expect(there.out).toMatch(new RegExp(`^ {2}blocks +${rows} {2}[0-9a-f]{32}$`, 'm'));
  const back = await copy(url, `sqlite:${second}`);
  expect(back).toMatchObject({ code: 0 });
  expect(tables(back.out)).toBe(tables(there.out));
  expect(await copy(`sqlite:${second}`, url)).toMatchObject({ code: 2, err: expect.stringContaining('has rows in its table runs') });
});

/** The text of the page, without the parts that differ from one service to the next. */
/** The usual period ends with the current five minutes. */
const period = `from=${new Date(Date.now() - 2 * 86_400_000).toISOString()}&to=${new Date(Date.now() + 86_400_000).toISOString()}`;
const questions = [
  'runs?limit=100',
  'runs?limit=100&verdict=fail',
  'runs?q=refund',
  `summary?${period}`,
  `overview?${period}`,
  `tools?${period}`,
  `models?${period}`,
  'sessions',
  'versions?agent=travel-agent',
  'datasets',
  'experiments',
  'annotations',
];

type Answers = ReadonlyMap<string, string>;

async function answers({ console: page }: Running): Promise<Answers> {
  const asked = async (path: string): Promise<string> => await (await fetch(`${page}/api/v1/${path}`)).text();
  const { runs } = JSON.parse(await asked('runs?limit=20')) as { readonly runs: readonly { trace_id: string; span_id: string }[] };
  expect(runs.length).toBe(20);
  const ofRuns = runs.flatMap((one) => ['', '/spans', '/otlp'].map((part) => `runs/${one.trace_id}/${one.span_id}${part}`));
  const all = new Map<string, string>();
  // The last digits of a sum depend on the order of the rows.
  const rounded = (text: string): string => text.replaceAll(/\b\d+\.\d{8,}(?:e-?\d+)?/g, (number) => Number(number).toPrecision(12));
  for (const path of [...questions, ...ofRuns]) all.set(path, rounded(await asked(path)));
  return all;
}

function differing(one: Answers, other: Answers): readonly string[] {
  return [...one].flatMap(([path, text]) => (other.get(path) === text ? [] : [path]));
}

async function served<Result>(store: string, use: (service: Running) => Promise<Result>): Promise<Result> {
  const service = await running(`store: { url: "${store}", content: all, keep: { runs: 3650d, content: 3650d } }\n`);
  try {
    return await use(service);
  } finally {
    await service.stop();
  }
}

test('copy: the API answers from a copy as from its source, in PostgreSQL and back in a file', async () => {
  const [first, second, url] = [`sqlite:${join(folder(), 'first.db')}`, `sqlite:${join(folder(), 'second.db')}`, await emptyPostgres()];
  await served(first, async (service) => {
    expect(await command(['demo', '--endpoint', service.otlp, '--console', service.console, '--runs', '60'])).toMatchObject({ code: 0 });
  });
  // Sums and the index of words are made in the background: the answers of the source are those that stay.
  const wanted = await served(first, async (service) => {
    let before = await answers(service);
    return await eventually(
      async () => {
        const now = await answers(service);
        // Sums that are not whole may stay the same for a moment.
        const isStill = differing(before, now).length === 0 && ![...now.values()].some((text) => text.includes('"whole":false'));
        before = now;
        return isStill ? now : undefined;
      },
      'answers that stay',
      patience,
    );
  });
  for (const [from, to] of [
    [first, url],
    [url, second],
  ] as const) {
    expect(await copy(from, to)).toMatchObject({ code: 0 });
    await served(to, async (service) => {
      let others: readonly string[] = [];
      await eventually(
        async () => {
          others = differing(wanted, await answers(service));
          return others.length === 0 ? true : undefined;
        },
        'the answers of the source',
        patience,
      ).catch(() => undefined);
      expect(others).toEqual([]);
    });
  }
});

const patience = { everyMs: 500, looksMax: 20 };

test('copy: killed at any point, it goes on when it is started again', async () => {
  const [first, second, url] = [join(folder(), 'first.db'), join(folder(), 'second.db'), await emptyPostgres()];
  await fileWithRows(first, rows);
  const random = seeded(7);
  for (const [from, to] of [
    [`sqlite:${first}`, url],
    [url, `sqlite:${second}`],
  ] as const) {
    for (let kill = 0; kill < 6; kill++) {
      const child = spawn(process.execPath, ['src/cli/main.ts', 'store', 'copy', '--from', from, '--to', to], {
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      const ended = once(child, 'exit');
      // It reports that before the first row.
      await Promise.race([once(child.stderr, 'data'), ended]);
      await Promise.race([new Promise((resolve) => setTimeout(resolve, random.share() * 1_500)), ended]);
      child.kill('SIGKILL');
      await ended;
    }
    const last = await copy(from, to);
    // One that was killed after its last step has left a store.
    if (last.code !== 0) expect(last.err).toContain('and no unfinished copy');
    else expect(last.out).toContain(same);
  }
  const whole = await emptyPostgres();
  expect(tables((await copy(`sqlite:${second}`, whole)).out)).toBe(tables((await copy(`sqlite:${first}`, await emptyPostgres())).out));
});

const refused: readonly { readonly name: string; readonly edit: string; readonly says: string }[] = [
  {
    name: 'that a service uses',
    edit: "insert into tracejury.replicas (id, host, version, configuration, started_us, seen_us) values ('a', 'host-1', '1', 'c', 1, 9000000000000000)",
    says: 'is in use by a service on host-1',
  },
  {
    name: 'of a newer release',
    edit: "insert into tracejury.kysely_migration values ('999_future', '')",
    says: 'was written by a newer release',
  },
  {
    name: 'with a copy of another store',
    edit: "create table tracejury.unfinished_copy (source text, position text); insert into tracejury.unfinished_copy values ('/other.db', '{}')",
    says: 'has an unfinished copy of /other.db',
  },
];
test.each(refused)('copy: a database $name is refused as a target', async ({ edit, says }) => {
  const [file, url] = [join(folder(), 'first.db'), await emptyPostgres()];
  await fileWithRows(file, 1);
  await statement(url, edit);
  expect(await copy(`sqlite:${file}`, url)).toMatchObject({ code: 2, err: expect.stringContaining(says) });
});

test('copy: no service opens a database with an unfinished copy', async () => {
  const url = await emptyPostgres();
  await statement(url, 'create table tracejury.unfinished_copy (source text, position text)');
  await expect(served(url, async () => undefined)).rejects.toMatchObject({
    code: 'STORE_UNUSABLE',
    message: expect.stringContaining('it holds an unfinished copy'),
  });
});

test('copy: a missing database is reported with its address', async () => {
  const file = join(folder(), 'first.db');
  await fileWithRows(file, 1);
  const { url } = await missingPostgres();
  expect(await copy(`sqlite:${file}`, url)).toMatchObject({
    code: 2,
    err: expect.stringMatching(/postgres:\/\/test@127.0.0.1.*does not exist/),
  });
});

test('copy: a trial counts the rows and leaves the target unchanged', async () => {
  const file = join(folder(), 'first.db');
  await fileWithRows(file, 3);
  const url = await emptyPostgres();
  const trial = await command(['store', 'copy', '--from', `sqlite:${file}`, '--to', url, '--dry-run']);
  expect(trial).toMatchObject({ code: 0, out: expect.stringMatching(/^ {2}runs +3$/m) });
  expect(trial.out).toContain('Nothing was copied.');
  expect(await copy(`sqlite:${file}`, url)).toMatchObject({ code: 0 });
});

test.each([
  { words: ['--from', 'sqlite:a.db'], says: 'Name the store with --to.' },
  { words: ['--from', 'sqlite:a.db', '--to', 'sqlite:b.db'], says: 'Name one store in SQLite and one in PostgreSQL.' },
  { words: ['--from', 'memory:', '--to', 'sqlite:b.db'], says: '--from takes sqlite:PATH or postgres://USER@HOST:PORT/DATABASE.' },
  { words: ['--from', 'sqlite:/nowhere/a.db', '--to', 'postgres://u@h/d'], says: '--from: there is no store at /nowhere/a.db.' },
])('copy: $words is a wrong command line', async ({ words, says }) => {
  expect(await command(['store', 'copy', ...words])).toMatchObject({ code: 2, err: expect.stringContaining(says) });
});
