/**
 * `npm run check -- collector`: the two files of docs/guides/collector.md, on free ports, with a real Collector (`otelcol` on the path, or OTELCOL names it) in front of the service and
 * behind it, under the traffic of the demonstration. The last line is `N passed, M failed`.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ended } from '../ended-process.ts';
import { freePort } from '../builders/free-port.ts';
import { serviceFolder, type ServiceProcess } from '../service/process.ts';
import { eventually, sample } from '../service/running.ts';
import type { JsonObject } from '../../src/model/json.ts';
import { backend, type Backend } from './backend.ts';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/guides/collector.md'), 'utf8');
const runs = 200;
const lookEveryMs = 250;
const withinMs = 60_000;

const folder = serviceFolder();
const ours = await backend();
const ports = { 4319: await freePort(), 4320: await freePort(), 6006: ours.port };
folder.configure(withPorts(blockOf('tracejury.yaml'), ports));
const service = await folder.start();
const collector = await started(withPorts(blockOf('collector.yaml'), { ...ports, 4318: Number(new URL(service.otlp).port) }));
let passed = 0;
let failed = 0;
try {
  const spans = await demonstration(service);
  await untilSent(service, ours, spans);
  const { agents, carriers, records, unreadable } = ours;
  tell('the backend has every span of the agents', agents.length, spans);
  tell(
    'each run with a verdict has one span of ours there, in its own trace',
    new Set(carriers.filter(({ traceId }) => agents.some((one) => one.traceId === traceId)).map(({ spanId }) => spanId)).size,
    judged(await service.runs()),
  );
  tell(
    'every result on these spans is a log record as well',
    records.length,
    carriers.reduce((sum, { results }) => sum + results, 0),
  );
  const known = new Set(agents.map(({ traceId, spanId }) => `${traceId}/${spanId}`));
  tell(
    'each record names a span of an agent',
    records.filter(({ traceId, spanId }) => known.has(`${traceId}/${spanId}`)).length,
    records.length,
  );
  tell('requests at the backend that are not OTLP', unreadable(), 0);
  tell('scores that came back to the service', sample(await service.metrics(), 'tracejury_spans_own_total') ?? 0, 0);
  if (records.length === 0) throw new Error('nothing was scored');
} finally {
  await ended(collector);
  await folder.remove();
  await ours.close();
}
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;

function tell(what: string, measured: number, wanted: number): void {
  const holds = measured === wanted;
  if (holds) passed++;
  else failed++;
  process.stdout.write(`${holds ? 'ok    ' : 'FAILED'}  ${what}: ${measured} of ${wanted}\n`);
}

function blockOf(name: string): string {
  const block = new RegExp(`^\`\`\`yaml\\n(# ${name}\\n[\\s\\S]*?)\`\`\``, 'm').exec(page)?.[1];
  if (block === undefined) throw new Error(`docs/guides/collector.md shows no ${name}`);
  return block;
}

function withPorts(text: string, to: { readonly [port: string]: number }): string {
  return text.replaceAll(/127\.0\.0\.1:(\d+)/g, (address, port: string) => (to[port] === undefined ? address : `127.0.0.1:${to[port]}`));
}

async function started(yaml: string): Promise<ChildProcess> {
  const file = join(folder.path, 'collector.yaml');
  // Its own page has a port that may be taken.
  writeFileSync(file, yaml.replace(/^service:\n/m, 'service:\n  telemetry: { metrics: { level: none } }\n'));
  const child = spawn(process.env['OTELCOL'] ?? 'otelcol', ['--config', file], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  await Promise.race([
    once(child, 'spawn'),
    once(child, 'error').then(([error]) =>
      Promise.reject(new Error(`${String(error)}: install the OpenTelemetry Collector, or name it with OTELCOL.`)),
    ),
  ]);
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(said);
    return said.includes('Everything is ready') ? true : undefined;
  }, 'the Collector');
  return child;
}

/** A run that every evaluator skipped has nothing to report. */
function judged(told: readonly JsonObject[]): number {
  return told.filter(({ verdicts }) => (verdicts as readonly { readonly status: string }[]).some(({ status }) => status !== 'skipped'))
    .length;
}

/** Through the Collector. Gives how many spans were sent. */
async function demonstration({ console: page_ }: ServiceProcess): Promise<number> {
  const child = spawn(
    process.execPath,
    [join(root, 'src/cli/main.ts'), 'demo', '--endpoint', `http://127.0.0.1:${ports[4319]}`, '--console', page_, '--runs', String(runs)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`the demonstration ended with ${code ?? 'a signal'}`);
  return Number(/^Sent (\d+) spans/m.exec(said)?.[1]);
}

async function untilSent(from: ServiceProcess, to: Backend, spans: number): Promise<void> {
  for (const endMs = performance.now() + withinMs; performance.now() < endMs; await pause(lookEveryMs)) {
    const metrics = await from.metrics();
    const waits = ['span_events', 'log_events'].some(
      (name) => sample(metrics, 'tracejury_exporter_queue', { tracejury_exporter: name }) !== 0,
    );
    const results = to.carriers.reduce((sum, one) => sum + one.results, 0);
    if (!waits && to.agents.length >= spans && results > 0 && to.records.length >= results) return;
  }
}
