/**
 * `npm run bench -- idle`: what the service costs while nothing comes, how it takes a burst, and how soon a run is scored after its last span.
 * One service with its journal, store and default evaluators rests, takes the burst, and rests again. The client of the burst waits as long as
 * `Retry-After` asks, as an OTLP exporter does. CPU time is that of the whole process, all threads.
 *
 *   --rest SECONDS   of each rest (30)      --spans N   of the burst (24000)      --runs N   runs that come one by one (20)      --profile FILE   CPU profile of the second rest
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { readCounts } from '../../src/cli/demo/summary.ts';
import { runnerArguments } from '../runner-arguments.ts';
import { posted } from './load.ts';
import type { Measured } from './server.ts';
import { byDefault, configured, onDisk } from './service.ts';
import { spansPerTrace, workload } from './workload.ts';

const { values } = runnerArguments({
  options: {
    rest: { type: 'string', default: '30' },
    spans: { type: 'string', default: '24000' },
    runs: { type: 'string', default: '20' },
    profile: { type: 'string' },
  },
});
const connections = 4;
/** After a start and after a burst: what is under way ends. */
const calmMs = 10_000;
const lookEveryMs = 50;
const workedOffWithinMs = 60_000;
const scoredWithinMs = 10_000;
const noSpansSinkUrl = 'http://127.0.0.1:1';

/** Tells when the next request comes. */
interface Sink {
  readonly url: string;
  next(): Promise<number>;
  stop(): void;
}

const folder = mkdtempSync(join(tmpdir(), 'tracejury-idle-'));
try {
  await restsAndBurst();
  await oneByOne();
} finally {
  rmSync(folder, { recursive: true });
}

async function restsAndBurst(): Promise<void> {
  const server = await configured(join(folder, 'idle.yaml'), byDefault, withoutExporter(join(folder, 'idle')));
  try {
    await rest(server, 'at rest, never loaded');
    await burst(server);
    await rest(server, 'at rest, after the burst', values.profile);
  } finally {
    await server.stop();
  }
}

function withoutExporter(path: string): string {
  return onDisk(path, noSpansSinkUrl).replace(/^export: .*\n/m, '');
}

async function rest(server: Measured, name: string, profile?: string): Promise<void> {
  await pause(calmMs);
  const before = await server.usage();
  const startMs = performance.now();
  const work = (): Promise<void> => pause(Number(values.rest) * 1_000);
  if (profile === undefined) await work();
  else writeFileSync(profile, JSON.stringify(await server.profiled(work)));
  const { cpuMicros } = await server.usage();
  say(name, `${(((cpuMicros - before.cpuMicros) / 1_000 / (performance.now() - startMs)) * 100).toFixed(3)} % of a core`);
}

async function burst(server: Measured): Promise<void> {
  const { bodies, traces, bytes } = workload({ seed: 1, spans: Number(values.spans) });
  const before = await scored(server);
  const { cpuMicros } = await server.usage();
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const startMs = performance.now();
  let next = 0;
  let refused = 0;
  const worker = async (): Promise<void> => {
    for (let body = bodies[next++]; body !== undefined; body = bodies[next++])
      for (
        let answer = await posted(agent, server.otlpUrl, body);
        answer.status !== 200;
        answer = await posted(agent, server.otlpUrl, body)
      ) {
        refused++;
        await pause(answer.retryAfterMs);
      }
  };
  await Promise.all(Array.from({ length: connections }, worker));
  const takenMs = performance.now() - startMs;
  const atTaken = await server.usage();
  agent.destroy();
  while ((await scored(server)) < before + traces) {
    if (performance.now() - startMs > workedOffWithinMs) throw new Error('the burst was not worked off');
    await pause(lookEveryMs);
  }
  const doneMs = performance.now() - startMs;
  const after = await server.usage();
  const cores = (micros: number, ms: number): string => (micros / 1_000 / ms).toFixed(2);
  say('burst', `${values.spans} spans, ${(bytes / 1_048_576).toFixed(0)} MiB, ${connections} connections`);
  say('  taken', `${(takenMs / 1_000).toFixed(2)} s, ${cores(atTaken.cpuMicros - cpuMicros, takenMs)} cores busy, ${refused} refusals`);
  say(
    '  scored',
    `${(doneMs / 1_000).toFixed(2)} s, ${cores(after.cpuMicros - cpuMicros, doneMs)} cores busy, ${(after.rssBytes / 1_048_576).toFixed(0)} MiB resident`,
  );
}

async function scored({ consoleUrl = '' }: Measured): Promise<number> {
  const read = await readCounts(consoleUrl);
  if (read.kind === 'unreadable') throw new Error(read.why);
  return read.counts.runs;
}

/** From the answer to a run's last span until the backend has its score. */
async function oneByOne(): Promise<void> {
  const sink = await arrivals();
  const server = await configured(join(folder, 'one.yaml'), byDefault, onDisk(join(folder, 'one'), sink.url));
  const agent = new Agent({ keepAlive: true });
  const waits: number[] = [];
  try {
    for (let run = 0; run < Number(values.runs); run++) {
      const [body] = workload({ seed: 100 + run, spans: spansPerTrace, whole: true }).bodies;
      if (body === undefined) throw new Error('the workload is empty');
      const score = sink.next();
      await posted(agent, server.otlpUrl, body);
      const takenMs = performance.now();
      waits.push((await Promise.race([score, pause(scoredWithinMs, NaN)])) - takenMs);
    }
  } finally {
    agent.destroy();
    await server.stop();
    sink.stop();
  }
  waits.sort((one, other) => one - other);
  say('last span to score', `${waits[Math.floor(waits.length / 2)]?.toFixed(0)} ms median, ${waits.at(-1)?.toFixed(0)} ms at most`);
}

async function arrivals(): Promise<Sink> {
  let arrived: ((atMs: number) => void) | undefined;
  const server = createServer((asked, answer) => {
    arrived?.(performance.now());
    asked.resume();
    asked.once('end', () => answer.writeHead(200, { 'content-type': 'application/x-protobuf' }).end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    next: () => new Promise((resolve) => (arrived = resolve)),
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function say(name: string, figure: string): void {
  process.stdout.write(`${name.padEnd(26)} ${figure}\n`);
}
