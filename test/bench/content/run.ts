/**
 * `npm run bench -- content`: what it costs to keep the content and the spans of runs: CPU time of the whole process a span, and bytes of the store a run,
 * for each choice of `store.content`. The journal is on disk, as in production. A pass ends when everything is stored.
 *
 *   --spans N   spans of one pass (12000)      --passes N   (3)
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { sendLoad } from '../load.ts';
import { measured, type Measured } from '../server.ts';
import { workload, type Workload } from '../workload.ts';
import { runnerArguments } from '../../runner-arguments.ts';

interface Row {
  readonly name: string;
  readonly place: string;
  readonly server: Measured;
  readonly micros: number[];
  traces: number;
}

const { values } = runnerArguments({ options: { spans: { type: 'string', default: '12000' }, passes: { type: 'string', default: '3' } } });
const spans = Number(values.spans);
const passes = Number(values.passes);
const lookEveryMs = 500;
const storedWithinMs = 120_000;
/** The journal is tended once a second: only then are spans of finished traces asked for. */
const tendedMs = 2_500;

const folder = mkdtempSync(join(tmpdir(), 'tracejury-content-'));
const rows: Row[] = [];
for (const [name, store] of [
  ['none', 'content: none'],
  ['failed_and_sampled, no sample', 'content: failed_and_sampled, content_sample: 0'],
  ['failed_and_sampled (default)', 'content: failed_and_sampled'],
  ['all', 'content: all'],
] as const)
  rows.push(await row(name, store));
try {
  let told = workload({ seed: 1_000, spans: Math.round(spans / 4) });
  for (const one of rows) await pass(one, told, false);
  for (let number = 1; number <= passes; number++) {
    told = workload({ seed: number, spans });
    for (const one of rows) await pass(one, told, true);
    process.stderr.write(`pass ${number} of ${passes}\n`);
  }
  await report(told);
} finally {
  await Promise.all(rows.map(({ server }) => server.stop()));
  rmSync(folder, { recursive: true });
}

async function row(name: string, store: string): Promise<Row> {
  const place = join(folder, String(rows.length));
  mkdirSync(place);
  const file = join(place, 'tracejury.yaml');
  writeFileSync(
    file,
    `listen: { otlp_http: "127.0.0.1:0", otlp_grpc: "127.0.0.1:0", console: "127.0.0.1:0" }\nstore: { url: "sqlite:${place}/data/runs.db", ${store} }\njournal: { url: "disk:${place}/journal" }\n`,
  );
  return {
    name,
    place,
    server: await measured('../../src/cli/main.ts', ['serve', '-c', file], { lastLine: /^Evaluators/m }),
    micros: [],
    traces: 0,
  };
}

async function pass(one: Row, { bodies, traces, spans: sent }: Workload, counts: boolean): Promise<void> {
  const { cpuMicros } = await one.server.usage();
  await sendLoad({ url: one.server.otlpUrl, bodies, encoding: 'identity' });
  one.traces += traces;
  for (const startMs = performance.now(); ; await pause(lookEveryMs)) {
    if ((await sampled(one.server, 'tracejury_store_items_total{tracejury_outcome="written"}')) >= one.traces) break;
    if (performance.now() - startMs > storedWithinMs) throw new Error(`${one.name}: not everything was stored`);
  }
  await pause(tendedMs);
  while ((await sampled(one.server, 'tracejury_store_traces_queue')) > 0) await pause(lookEveryMs);
  await pause(lookEveryMs);
  if (counts) one.micros.push(((await one.server.usage()).cpuMicros - cpuMicros) / sent);
}

async function sampled({ consoleUrl }: Measured, name: string): Promise<number> {
  const page = await (await fetch(`${consoleUrl ?? ''}/metrics`)).text();
  return Number(
    page
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.split(' ')[1] ?? 0,
  );
}

async function report({ traces, spans: sent, bytes }: Workload): Promise<void> {
  const base = median(rows[0]?.micros ?? []);
  const lines: string[] = [];
  for (const one of rows) {
    const kept = await sampled(one.server, 'tracejury_store_traces_total{tracejury_outcome="written"}');
    const data = join(one.place, 'data');
    const stored = readdirSync(data).reduce(
      (sum, name) => sum + (name.endsWith('-wal') || name.endsWith('-shm') ? 0 : statSync(join(data, name)).size),
      0,
    );
    lines.push(
      `| ${one.name} | ${median(one.micros).toFixed(1)} | ${(median(one.micros) - base).toFixed(1)} | ${Math.min(...one.micros).toFixed(1)} to ${Math.max(...one.micros).toFixed(1)} | ${((100 * kept) / one.traces).toFixed(0)} % | ${(stored / one.traces / 1_000).toFixed(1)} |`,
    );
  }
  process.stdout.write(
    `| store.content | µs/span | more than none | range | traces kept | kB a run in the file |\n|---|---|---|---|---|---|\n${lines.join('\n')}\n\n${traces} traces of ${sent / traces} spans a pass, ${Math.round(bytes / sent)} bytes a span, ${passes} passes, medians. Node ${process.versions.node}.\n`,
  );
}

function median(all: readonly number[]): number {
  return [...all].sort((a, b) => a - b)[all.length >> 1] ?? 0;
}
