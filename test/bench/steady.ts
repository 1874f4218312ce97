/**
 * `npm run bench -- steady`: CPU time of the service for each span when spans come at a steady rate, as on a usual day, by turns in memory and with
 * journal, store and span events. Requests leave when their spans are due. CPU time is that of the whole process, all threads.
 *
 *   --rates LIST   spans a second (50,500,1500,3000)      --seconds N   of each rate (20)      --spans N   of one request (99)
 *   --warm-up N    seconds at 3,000 spans/s before it (8); V8 compiles the hot code in the first minutes
 *   --only memory|durable|shared      --profile FILE   CPU profile of the main thread at the last rate
 *   --journal URL --store URL   a third row: the same with an empty topic of Kafka and an empty database of PostgreSQL
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { runnerArguments } from '../runner-arguments.ts';
import { taken } from './load.ts';
import { applicable } from './offline.ts';
import { cpuByThread } from './profile/threads.ts';
import { measured, type Measured } from './server.ts';
import { byDefault, configured, inMemory, onDisk, shared } from './service.ts';
import { workload } from './workload.ts';

const { values } = runnerArguments({
  options: {
    rates: { type: 'string', default: '50,500,1500,3000' },
    seconds: { type: 'string', default: '20' },
    spans: { type: 'string', default: '99' },
    'warm-up': { type: 'string', default: '8' },
    only: { type: 'string' },
    journal: { type: 'string' },
    store: { type: 'string' },
    profile: { type: 'string' },
  },
});
const rates = values.rates.split(',').map(Number);
const seconds = Number(values.seconds);
const connections = 8;
/** The runs of one rate are scored, stored and sent before the next one. */
const calmMs = 3_000;
const warmUp = { rate: 3_000, seconds: Number(values['warm-up']) };

const folder = mkdtempSync(join(tmpdir(), 'tracejury-steady-'));
const sink = await measured('floor.ts', [], { asStarted: true, lastLine: /^OTLP/m });
const all = await applicable(workload({ seed: 7_000, spans: 360 }).bodies);
const rows = [
  { name: 'memory', title: 'in memory, evaluators on by default', names: byDefault, parts: inMemory },
  { name: 'durable', title: 'journal, store, span events', names: all, parts: onDisk(join(folder, 'durable'), sink.otlpUrl) },
  ...(values.journal === undefined || values.store === undefined
    ? []
    : [{ name: 'shared', title: 'Kafka, PostgreSQL, span events', names: all, parts: shared(values.journal, values.store, sink.otlpUrl) }]),
].filter(({ name }) => values.only === undefined || values.only === name);
try {
  for (const { name, title, names, parts } of rows) await row(await configured(join(folder, `${name}.yaml`), names, parts), title);
} finally {
  await sink.stop();
  rmSync(folder, { recursive: true });
}

async function row(server: Measured, title: string): Promise<void> {
  try {
    await steady(server, { ...warmUp, seed: 1 });
    await pause(calmMs);
    for (const [at, rate] of rates.entries()) {
      const before = await server.usage();
      const threads = cpuByThread(server.pid);
      const work = async (): Promise<Sent> => {
        const sent = await steady(server, { rate, seconds, seed: 10 + at });
        await pause(calmMs);
        return sent;
      };
      let counts: Sent = { spans: 0, putOff: 0 };
      if (values.profile === undefined || at < rates.length - 1) counts = await work();
      else {
        const profile = await server.profiled(async () => void (counts = await work()));
        writeFileSync(values.profile, JSON.stringify(profile));
      }
      const { spans, putOff } = counts;
      const after = await server.usage();
      const each = [...cpuByThread(server.pid)]
        .map(([thread, micros]) => [thread, (micros - (threads.get(thread) ?? 0)) / spans] as const)
        .filter(([, micros]) => micros >= 1)
        .map(([thread, micros]) => `${thread} ${micros.toFixed(0)}`);
      const micros = (after.cpuMicros - before.cpuMicros) / spans;
      process.stdout.write(
        `${title}, ${rate} spans/s: ${micros.toFixed(0)} µs a span (${each.join(', ')})${putOff === 0 ? '' : `, ${putOff} requests put off`}\n`,
      );
    }
  } finally {
    await server.stop();
  }
}

interface Sent {
  readonly spans: number;
  /** Requests that were not taken at once. */
  readonly putOff: number;
}

/** Resolves when all that was due is taken. */
async function steady(
  { otlpUrl }: Measured,
  { rate, seconds: length, seed }: { readonly rate: number; readonly seconds: number; readonly seed: number },
): Promise<Sent> {
  const { bodies, spans } = workload({ seed, spans: rate * length, spansPerRequest: Number(values.spans) });
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const startMs = performance.now();
  const underWay: Promise<number>[] = [];
  for (const [at, body] of bodies.entries()) {
    const waitMs = startMs + (at / bodies.length) * length * 1_000 - performance.now();
    if (waitMs > 0) await pause(waitMs);
    underWay.push(taken(agent, otlpUrl, body));
  }
  const putOff = (await Promise.all(underWay)).reduce((sum, times) => sum + times, 0);
  agent.destroy();
  return { spans, putOff };
}
