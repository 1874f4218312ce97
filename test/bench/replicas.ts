/**
 * `npm run bench -- replicas`: one process with its own disk, one replica, and two replicas over one broker of Kafka and one PostgreSQL, by turns.
 * Each is saturated first: spans a second until the last verdict has come, CPU time of a span in the service, and how busy the machine was. Then runs
 * come at a steady pace: the time of an answer, and the time from the last span of a run until its verdict has come to the backend.
 * Load, broker, database and backend share the machine, so more replicas bring more only while it has idle cores.
 *
 *   --rounds N   of all rows (3)      --spans N   at saturation (60000)      --runs N   at a steady pace (600)      --pace N   runs a second (40)
 *   --warm-up N   spans before a row is measured (30000)
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent } from 'node:http';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { writeTraces } from '../../src/otlp/write/write.ts';
import { kafkaBroker } from '../builders/kafka.ts';
import { postgresServer } from '../builders/postgres-server.ts';
import { runnerArguments } from '../runner-arguments.ts';
import { orders, spansOf } from './judges/orders.ts';
import { verdictSink } from './judges/verdict-sink.ts';
import { posted, sendLoad, taken } from './load.ts';
import { applicable } from './offline.ts';
import { quantile } from './overload/conditions.ts';
import type { Measured } from './server.ts';
import { configured, onDisk, shared } from './service.ts';
import { workload } from './workload.ts';

const { values } = runnerArguments({
  options: {
    rounds: { type: 'string', default: '3' },
    spans: { type: 'string', default: '60000' },
    runs: { type: 'string', default: '600' },
    pace: { type: 'string', default: '40' },
    'warm-up': { type: 'string', default: '30000' },
  },
});
const [rounds, spansMax, runs, pace, warmUp] = [values.rounds, values.spans, values.runs, values.pace, values['warm-up']].map(Number) as [
  number,
  number,
  number,
  number,
  number,
];
const partitions = 6;
const lookEveryMs = 50;
/** The last verdict has come when none has come for this long. */
const quietMs = 3_000;
const rows = { 'one process, disk and SQLite': 0, 'one replica': 1, 'two replicas': 2 } as const;

interface Figures {
  readonly spansPerSecond: number;
  readonly cpuMicros: number;
  readonly busy: number;
  readonly answersMs: readonly number[];
  readonly verdictsMs: readonly number[];
}

const folder = mkdtempSync(join(tmpdir(), 'tracejury-replicas-'));
const sink = await verdictSink('tool_error');
const names = await applicable(workload({ seed: 7_000, spans: 360 }).bodies);
const [broker, database] = [await kafkaBroker(), await postgresServer()];
const figures = new Map<string, Figures[]>();
let seed = 100;
try {
  for (let round = 0; round < rounds; round++) {
    for (const [row, replicas] of Object.entries(rows)) {
      const servers = await started(replicas, `${round}-${replicas}`);
      try {
        const all = figures.get(row) ?? [];
        figures.set(row, [...all, await measuredRow(servers)]);
      } finally {
        await Promise.all(servers.map((server) => server.stop()));
      }
    }
    process.stderr.write(`round ${round + 1} of ${rounds}\n`);
  }
  process.stdout.write(
    `Medians of ${rounds} rounds on ${availableParallelism()} cores; ${runs} runs of a round at ${pace} runs/s.\n| | spans/s | CPU a span, µs | busy cores | answers p50, p99, ms | last span to verdict p50, p99, ms |\n|---|---|---|---|---|---|\n`,
  );
  for (const [row, all] of figures) {
    const middle = (of: (one: Figures) => number): number => quantile(all.map(of), 0.5);
    const pair = (of: (one: Figures) => readonly number[], digits: number): string =>
      [0.5, 0.99].map((share) => middle((one) => quantile(of(one), share)).toFixed(digits)).join(', ');
    process.stdout.write(
      `| ${row} | ${middle(({ spansPerSecond }) => spansPerSecond).toFixed(0)} | ${middle(({ cpuMicros }) => cpuMicros).toFixed(0)} | ${middle(({ busy }) => busy).toFixed(2)} | ${pair(({ answersMs }) => answersMs, 1)} | ${pair(({ verdictsMs }) => verdictsMs, 0)} |\n`,
    );
  }
} finally {
  await sink.close();
  rmSync(folder, { recursive: true, force: true });
}
process.exit(0);

/** None is one process with its own disk. */
async function started(replicas: number, name: string): Promise<readonly Measured[]> {
  if (replicas === 0) return [await configured(join(folder, `${name}.yaml`), names, onDisk(join(folder, name), sink.endpoint))];
  const [topic, base] = [await broker.topic(partitions), await database.database()];
  const parts = shared(`kafka://${broker.address}/${topic}?group=${topic}`, database.url(base), sink.endpoint);
  const servers: Measured[] = [];
  for (let at = 0; at < replicas; at++) servers.push(await configured(join(folder, `${name}-${at}.yaml`), names, parts));
  return servers;
}

async function measuredRow(servers: readonly Measured[]): Promise<Figures> {
  await saturated(servers, warmUp);
  const before = [await cpuOf(servers), machineSeconds()] as const;
  const { spans, tookMs } = await saturated(servers, spansMax);
  const after = [await cpuOf(servers), machineSeconds()] as const;
  const tickSeconds = after[1].all - before[1].all;
  return {
    spansPerSecond: (spans / tookMs) * 1_000,
    cpuMicros: (after[0] - before[0]) / spans,
    busy: ((after[1].busy - before[1].busy) / tickSeconds) * availableParallelism(),
    ...(await atPace(servers)),
  };
}

/** Sends this many spans as fast as the service takes them, and waits for the last verdict. */
async function saturated(servers: readonly Measured[], wanted: number): Promise<{ readonly spans: number; readonly tookMs: number }> {
  const { bodies, spans } = workload({ seed: seed++, spans: wanted });
  const startMs = performance.now();
  await Promise.all(
    servers.map(({ otlpUrl: url }, at) =>
      sendLoad({ url, bodies: bodies.filter((_, number) => number % servers.length === at), encoding: 'identity' }),
    ),
  );
  let lastMs = performance.now();
  for (let came = sink.count(); performance.now() - lastMs < quietMs;) {
    await pause(lookEveryMs);
    if (sink.count() > came) lastMs = performance.now();
    came = sink.count();
  }
  return { spans, tookMs: lastMs - startMs };
}

async function cpuOf(servers: readonly Measured[]): Promise<number> {
  const all = await Promise.all(servers.map((server) => server.usage()));
  return all.reduce((sum, { cpuMicros }) => sum + cpuMicros, 0);
}

/** Ticks of all cores together. */
function machineSeconds(): { readonly busy: number; readonly all: number } {
  const ticks = (/^cpu +(.*)$/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1] ?? '').split(' ').map(Number);
  const all = ticks.reduce((sum, one) => sum + one, 0);
  return { busy: all - (ticks[3] ?? 0) - (ticks[4] ?? 0), all };
}

async function atPace(servers: readonly Measured[]): Promise<Pick<Figures, 'answersMs' | 'verdictsMs'>> {
  const agent = new Agent({ keepAlive: true });
  const sent = new Map<string, number>();
  const answersMs: number[] = [];
  const startMs = performance.now();
  const underWay: Promise<void>[] = [];
  const all = orders(runs, seed++);
  for (const [at, order] of all.entries()) {
    const waitMs = startMs + (at * 1_000) / pace - performance.now();
    if (waitMs > 0) await pause(waitMs);
    const url = servers[at % servers.length]?.otlpUrl ?? '';
    const body = writeTraces(spansOf(order, Date.now()), 'protobuf');
    const leftMs = performance.now();
    sent.set(order.traceId, leftMs);
    const answered = async (): Promise<void> => {
      if ((await posted(agent, url, body)).status === 200) answersMs.push(performance.now() - leftMs);
      else await taken(agent, url, body);
    };
    underWay.push(answered());
  }
  await Promise.all(underWay);
  const untilMs = performance.now() + 20_000;
  while (performance.now() < untilMs && all.some(({ traceId }) => sink.cameMs(traceId) === undefined)) await pause(lookEveryMs);
  agent.destroy();
  const verdictsMs = all.flatMap(({ traceId }) => {
    const cameMs = sink.cameMs(traceId);
    return cameMs === undefined ? [] : [cameMs - (sent.get(traceId) ?? cameMs)];
  });
  if (verdictsMs.length < runs) process.stderr.write(`${runs - verdictsMs.length} verdicts did not come\n`);
  return { answersMs, verdictsMs };
}
