/**
 * `npm run bench -- issues`: a store with two million failed verdicts of five agents in 30 days. CPU time of the grouping of a run, bytes of the tables of
 * issues, p50 and p95 of the answers about issues.
 *
 *   --verdicts N (2000000)   --requests N (60) of each address
 *   --store FILE   stays, and is filled when it is missing      --postgres   in a database in place of a file
 */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import type { ScoredRun } from '../../src/model/scored-run.ts';
import { noTenant, parseTraceId, type TraceId } from '../../src/model/ids.ts';

import { issueId } from '../../src/model/store/issue-store.ts';
import { postgresStore } from '../../src/stores/postgres/postgres-store.ts';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.ts';
import { agentTrace } from '../builders/agent-trace.ts';
import { postgresServer } from '../builders/postgres-server.ts';
import { run, scored, scoredRun } from '../builders/scored-run.ts';
import { seededRandom } from '../../src/statistics/seeded-random.ts';
import { runnerArguments } from '../runner-arguments.ts';
import { quantile } from './overload/conditions.ts';
import { measured } from './server.ts';

const { values } = runnerArguments({
  options: {
    verdicts: { type: 'string', default: '2000000' },
    requests: { type: 'string', default: '60' },
    store: { type: 'string' },
    postgres: { type: 'boolean', default: false },
  },
});
const [verdicts, requests] = [Number(values.verdicts), Number(values.requests)];
const temporary = mkdtempSync(join(tmpdir(), 'tracejury-issues-bench-'));
const isDatabase = values.postgres;
const file = isDatabase ? await emptyDatabase() : (values.store ?? join(temporary, 'tracejury.db'));

const [days, dayMicros] = [30, 86_400_000_000];
const faultsOfRun = 4;
const [agents, issuesOfAgent, evaluators, tools] = [5, 400, 8, 12];
/** One release a week; a tenth of the runs still has the one before. */
const [releaseDays, late] = [7, 0.1];
const runsOfSession = 3;
/** Every fourth run has no failed verdict, as differences need other runs. */
const runsPerFailed = 4 / 3;
const runs = Math.round((verdicts / faultsOfRun) * runsPerFailed);
const batch = 200;
/** Runs with and without failures by turns, in batches of a usual size. */
const measuring = { passes: 7, runs: 2_000, batch: 50 } as const;
const now = Date.now() * 1_000;

interface Kind {
  readonly name: string;
  readonly tool: string;
  readonly signature: string;
}

const kindOf = (at: number): Kind => ({
  name: `rule_${at % evaluators}`,
  tool: `tool_${at % tools}`,
  signature: `/items/*/field_${at} must be number`,
});
const passed = scored(1);
const failing = scored(0);
/** Each issue has this share of the failures of its agent: the first has many, and most have few. */
let sum = 0;
const cumulated = Array.from({ length: issuesOfAgent }, (_, at) => (sum += 1 / (at + 1)));
const random = seededRandom(7);

function drawn(): Kind {
  const at = random() * sum;
  let [low, high] = [0, cumulated.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((cumulated[middle] ?? 0) < at) low = middle + 1;
    else high = middle;
  }
  return kindOf(low);
}

function idOf(number: number): TraceId {
  const spread = (BigInt(number) * 0x9e3779b97f4a7c15n) & 0xffffffffffffffffn;
  const id = parseTraceId(`${spread.toString(16).padStart(16, '0')}${number.toString(16).padStart(16, '0')}`);
  if (id === undefined) throw new Error('no trace id');
  return id;
}

let made = 0;

function nextRun(at: number, fails: boolean): ScoredRun {
  const number = ++made;
  const agent = number % agents;
  const release = Math.floor((at - (now - days * dayMicros)) / (releaseDays * dayMicros)) - (random() < late ? 1 : 0);
  const own = fails ? Array.from({ length: faultsOfRun }, drawn) : [];
  const startUnixNano = BigInt(Math.floor(at)) * 1_000n;
  const given = run({
    traceId: idOf(number),
    trace: agentTrace({
      agent: `agent ${agent}`,
      sessionId: `session ${agent} ${Math.floor(number / agents / runsOfSession)}`,
      model: `model ${number % 3}`,
    }),
    service: `service ${number % 2}`,
    serviceVersion: `1.${release + 1}`,
    startUnixNano,
    endUnixNano: startUnixNano + 2_000_000_000n,
  });
  const failed = new Set(own.map(({ name }) => name));
  const said = Object.fromEntries(
    Array.from({ length: evaluators }, (_, rule) => [`rule_${rule}`, failed.has(`rule_${rule}`) ? failing : passed]),
  );
  return { ...scoredRun(said, given), ...(own.length === 0 ? {} : { faults: own }) };
}

try {
  if (isDatabase || !existsSync(file)) await fill();
  await sizes();
  const config = join(temporary, 'tracejury.yaml');
  writeFileSync(
    config,
    `store: { url: "${isDatabase ? file : `sqlite:${file}`}", keep: { runs: 60d } }\njournal: { url: "disk:${join(temporary, 'journal')}" }\nlisten: { otlp_http: "127.0.0.1:0", otlp_grpc: "127.0.0.1:0", console: "127.0.0.1:0" }\n`,
  );
  const service = await measured('../../src/cli/main.ts', ['serve', '-c', config], { lastLine: /^Evaluators/m, asStarted: true });
  try {
    await requested(`${service.consoleUrl ?? ''}/api/v1/issues`);
  } finally {
    await service.stop();
  }
} finally {
  rmSync(temporary, { recursive: true, force: true });
}

/** On a server that ends with this program. */
async function emptyDatabase(): Promise<string> {
  const { database, url } = await postgresServer();
  return url(await database());
}

async function fill(): Promise<void> {
  const startMs = performance.now();
  const secondsUp = (): string => ((performance.now() - startMs) / 1_000).toFixed(0);
  const store = isDatabase ? await postgresStore(file) : await sqliteStore(file);
  const apart = (days * dayMicros) / runs;
  let writing: Promise<unknown> = Promise.resolve();
  for (let from = 0; from < runs; from += batch) {
    const items = Array.from({ length: Math.min(batch, runs - from) }, (_, nth) =>
      nextRun(now - days * dayMicros + (from + nth) * apart, (from + nth) % 4 !== 0),
    );
    await writing;
    writing = store.write(items);
    if (from % 100_000 === 0) console.error(`${from} runs after ${secondsUp()} s`);
  }
  await writing;
  console.log(`${runs} runs stored in ${secondsUp()} s`);
  await grouping(store);
  let idle = 0;
  while (idle < 2) idle = (await store.versions.refresh({ now, keepFrom: now - 2 * days * dayMicros })) ? 0 : idle + 1;
  await store.stop();
  console.log(`summed after ${secondsUp()} s`);
}

/** CPU time of all threads. A database has its own. */
async function grouping(store: Awaited<ReturnType<typeof sqliteStore>>): Promise<void> {
  const costs = { with: [] as number[], without: [] as number[] };
  for (let pass = 0; pass < measuring.passes; pass++)
    for (const which of ['with', 'without'] as const) {
      const items = Array.from({ length: measuring.runs }, () => nextRun(now, true));
      const before = process.cpuUsage();
      for (let from = 0; from < items.length; from += measuring.batch)
        await store.write(
          items
            .slice(from, from + measuring.batch)
            .map(({ faults, ...item }) => (which === 'with' ? { ...item, ...(faults === undefined ? {} : { faults }) } : item)),
        );
      const { user, system } = process.cpuUsage(before);
      costs[which].push((user + system) / measuring.runs);
    }
  const [own, plain] = [quantile(costs.with, 0.5), quantile(costs.without, 0.5)];
  console.log(
    `grouping: ${(own - plain).toFixed(1)} µs of CPU a run with ${faultsOfRun} failures (${own.toFixed(1)} with, ${plain.toFixed(1)} without), load ${loadavg()[0]?.toFixed(1)}`,
  );
}

async function sizes(): Promise<void> {
  const rows = isDatabase ? await databaseSizes() : fileSizes();
  console.log('\n| table or index | MiB |\n|---|---|');
  for (const { name, bytes } of rows) console.log(`| ${name} | ${(Number(bytes) / 2 ** 20).toFixed(1)} |`);
}

interface Size {
  readonly name: string;
  readonly bytes: number;
}

function fileSizes(): readonly Size[] {
  const database = new DatabaseSync(file, { readOnly: true });
  const rows = database
    .prepare("select name, sum(pgsize) as bytes from dbstat where name like '%issue%' group by name order by 2 desc")
    .all();
  database.close();
  return rows as unknown as readonly Size[];
}

async function databaseSizes(): Promise<readonly Size[]> {
  const client = new pg.Client({ connectionString: file });
  await client.connect();
  const { rows } = await client.query<Size>(
    "select relname as name, pg_relation_size(oid) as bytes from pg_class where relname like '%issue%' and relkind in ('r', 'i') and pg_relation_size(oid) > 0 order by 2 desc",
  );
  await client.end();
  return rows;
}

async function requested(issues: string): Promise<void> {
  const common = issueId({ ...kindOf(0), tenant: noTenant, agent: 'agent 0' });
  const rare = issueId({ ...kindOf(issuesOfAgent - 1), tenant: noTenant, agent: 'agent 1' });
  const addresses = {
    list: `${issues}?limit=100`,
    'list of an agent': `${issues}?limit=100&agent=agent%200`,
    'list since a version': `${issues}?limit=100&since_version=1.4`,
    'most common issue': `${issues}/${common}`,
    'rarest issue': `${issues}/${rare}`,
    'most common issue, differences': `${issues}/${common}/differences`,
    'rarest issue, differences': `${issues}/${rare}/differences`,
  };
  console.log('\n| request | first ms | p50 ms | p95 ms | max ms | KiB | load |\n|---|---|---|---|---|---|---|');
  for (const [name, address] of Object.entries(addresses)) {
    const tookMs: number[] = [];
    let bytes = 0;
    for (let nth = 0; nth <= requests; nth++) {
      const startMs = performance.now();
      const answer = await fetch(address);
      bytes = (await answer.arrayBuffer()).byteLength;
      if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
      tookMs.push(performance.now() - startMs);
    }
    const [first = 0, ...others] = tookMs;
    const figures = [first, ...[0.5, 0.95, 1].map((share) => quantile(others, share))].map((ms) => ms.toFixed(1));
    console.log(`| ${name} | ${figures.join(' | ')} | ${(bytes / 1_024).toFixed(0)} | ${loadavg()[0]?.toFixed(1)} |`);
  }
}
