/**
 * `npm run bench`: CPU time of the whole server process, all threads, for each span, against the floor of bare `node:http` on the same bytes.
 * The load driver is a separate process and is not counted. Rows take turns within each pass; the table shows medians. It ends with exit code 1 unless
 * every run had every verdict and was sent, and unless a sample of the verdicts agrees with `tracejury eval` on the same bytes.
 *
 *   --spans N   spans of one pass (72000)      --passes N   (3)
 *   --collector PATH   a row for an OpenTelemetry Collector that groups spans by trace      --phoenix COMMAND   a row for Phoenix, which gets a twentieth of the spans
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { type Counts, countsBetween, readCounts } from '../../src/cli/demo/summary.ts';
import { sendLoad } from './load.ts';
import { applicable, offline, verdictText, type ToldVerdict } from './offline.ts';
import { measured, type Measured } from './server.ts';
import { collectorPeer, phoenixPeer } from './peers.ts';
import { byDefault, configured, inMemory, onDisk } from './service.ts';
import { workload, type Workload } from './workload.ts';
import { runnerArguments } from '../runner-arguments.ts';

interface Row {
  readonly name: string;
  readonly encoding: 'identity' | 'gzip';
  readonly server: Pick<Measured, 'otlpUrl' | 'consoleUrl' | 'usage' | 'stop'>;
  /** Names of the evaluators that it has; none: it is a floor. */
  readonly evaluators: readonly string[];
  readonly exports: boolean;
  /** Number of spans of a pass: the slow ones get fewer. */
  readonly share: number;
  readonly isFloor: boolean;
  /** Microseconds of CPU a span, one figure a pass. */
  readonly micros: number[];
  readonly spansPerSecond: number[];
  faults: number;
  rssBytes: number;
}

const { values } = runnerArguments({
  options: {
    spans: { type: 'string', default: '72000' },
    passes: { type: 'string', default: '3' },
    collector: { type: 'string' },
    phoenix: { type: 'string' },
  },
});
const spans = Number(values.spans);
const passes = Number(values.passes);
const warmUpShare = 0.25;
/** The floor is done with a pass so soon that it takes several to measure it. */
const floorRounds = 5;
/** It takes milliseconds for a span. */
const phoenixShare = 1 / 20;
/** `closing.settle` is half a second: this is looked at rarely, because the look itself costs. */
const lookEveryMs = 1_500;
const scoredWithinMs = 60_000;
const sampleSpans = 360;
const all = await applicable(workload({ seed: 7_000, spans: sampleSpans }).bodies);

const folder = mkdtempSync(join(tmpdir(), 'tracejury-bench-'));
const sink = await floor();
const whole = (name: string): string => onDisk(join(folder, name), sink.otlpUrl);
const rows: readonly Row[] = [
  row('node:http, body put together, 200', 'identity', await floor(), []),
  row('in memory, evaluators on by default', 'identity', await service(byDefault, inMemory), byDefault),
  row('in memory', 'identity', await service(all, inMemory), all),
  row('journal synced before the answer, store, span events', 'identity', await service(all, whole('plain')), all, true),
  row('node:http, gunzipSync, 200', 'gzip', await floor('gunzip'), []),
  row('journal synced before the answer, store, span events', 'gzip', await service(all, whole('gzip')), all, true),
  ...(values.collector === undefined
    ? []
    : [peer('OpenTelemetry Collector: groups by trace, evaluates nothing', await collectorPeer(values.collector), 1)]),
  ...(values.phoenix === undefined ? [] : [peer('Phoenix: stores, evaluates nothing', await phoenixPeer(values.phoenix), phoenixShare)]),
];
try {
  const warmUp = workload({ seed: 1_000, spans: Math.round(spans * warmUpShare) });
  for (const one of rows) await pass(one, warmUp, packed(warmUp, one), false);
  let told: Workload = warmUp;
  for (let number = 1; number <= passes; number++) {
    told = workload({ seed: number, spans });
    const zipped = told.bodies.map((body) => gzipSync(body));
    for (const one of rows) await pass(one, told, one.encoding === 'gzip' ? zipped : told.bodies, true);
    process.stderr.write(`pass ${number} of ${passes}\n`);
  }
  for (const one of rows) if (one.evaluators.length > 0 && !(await hasOfflineVerdicts(one))) one.faults++;
  report(told);
} finally {
  await Promise.all([...rows.map(({ server }) => server.stop()), sink.stop()]);
  rmSync(folder, { recursive: true });
}
process.exitCode = rows.some(({ faults }) => faults > 0) ? 1 : 0;

function row(name: string, encoding: Row['encoding'], server: Measured, names: readonly string[], exports = false): Row {
  const figures = { micros: [], spansPerSecond: [], faults: 0, rssBytes: 0 };
  return { name, encoding, server, evaluators: names, exports, share: 1, isFloor: names.length === 0, ...figures };
}

function peer(name: string, server: Row['server'], share: number): Row {
  const figures = { micros: [], spansPerSecond: [], faults: 0, rssBytes: 0 };
  return { name, encoding: 'identity', server, evaluators: [], exports: false, share, isFloor: false, ...figures };
}

function floor(...args: readonly string[]): Promise<Measured> {
  return measured('floor.ts', args, { asStarted: true, lastLine: /^OTLP/m });
}

function service(names: readonly string[], parts: string): Promise<Measured> {
  return configured(join(folder, `${Math.random().toString(36).slice(2)}.yaml`), names, parts);
}

function packed({ bodies }: Workload, { encoding }: Row): readonly Buffer[] {
  return encoding === 'gzip' ? bodies.map((body) => gzipSync(body)) : bodies;
}

async function pass(one: Row, { traces, spans: ofPass }: Workload, requests: readonly Buffer[], counts: boolean): Promise<void> {
  const { server, encoding, share } = one;
  const bodies = requests.slice(0, Math.ceil(requests.length * share));
  const sent = (ofPass * bodies.length) / requests.length;
  const before = await counted(server);
  const { cpuMicros } = await server.usage();
  const rounds = one.isFloor ? floorRounds : 1;
  let tookMs = 0;
  for (let round = 0; round < rounds; round++) tookMs += await sendLoad({ url: server.otlpUrl, bodies, encoding });
  const scored = await whenScored(one, before, traces);
  const after = await server.usage();
  one.rssBytes = Math.max(one.rssBytes, after.rssBytes);
  if (!scored) one.faults++;
  if (!counts) return;
  one.micros.push((after.cpuMicros - cpuMicros) / (sent * rounds));
  one.spansPerSecond.push((sent * rounds) / (tookMs / 1_000));
}

async function counted({ consoleUrl }: Row['server']): Promise<Counts> {
  if (consoleUrl === undefined) return { runs: 0, verdicts: [] };
  const read = await readCounts(consoleUrl);
  if (read.kind === 'unreadable') throw new Error(read.why);
  return read.counts;
}

/** Every run must have been scored by every default evaluator: a service that drops work is not fast. */
async function whenScored({ server, evaluators: names, exports }: Row, before: Counts, traces: number): Promise<boolean> {
  if (server.consoleUrl === undefined) return true;
  for (const startMs = performance.now(); performance.now() - startMs < scoredWithinMs;) {
    await pause(lookEveryMs);
    const { runs, verdicts } = countsBetween(before, await counted(server));
    const total = verdicts.reduce((sum, { count }) => sum + count, 0);
    if (runs === traces && total === traces * names.length && (!exports || (await waiting(server.consoleUrl)) === 0)) return true;
  }
  return false;
}

/** Scores that have not been sent yet. */
async function waiting(consoleUrl: string): Promise<number> {
  const page = await (await fetch(`${consoleUrl}/metrics`)).text();
  return Number(/^tracejury_exporter_queue\{[^}]*exporter="span_events"[^}]*\} (\d+)/m.exec(page)?.[1] ?? 0);
}

/** A few runs more, sent to the service and scored offline: the verdicts must be the same. */
async function hasOfflineVerdicts({ server, encoding, evaluators: names }: Row): Promise<boolean> {
  const { bodies } = workload({ seed: 8_000, spans: sampleSpans });
  const wanted = await offline(bodies, names);
  await sendLoad({ url: server.otlpUrl, bodies: encoding === 'gzip' ? bodies.map((body) => gzipSync(body)) : bodies, encoding });
  await pause(lookEveryMs);
  for (const { place, verdicts } of wanted) {
    const response = await fetch(`${server.consoleUrl ?? ''}/api/v1/runs/${place}`);
    const { verdicts: stored = [] } = (await response.json()) as { readonly verdicts?: readonly ToldVerdict[] };
    if (stored.length !== verdicts.size || !stored.every((one) => verdicts.get(one.name) === verdictText(one))) return false;
  }
  return wanted.length > 0;
}

function report({ bodies, traces, spans: sent, bytes }: Workload): void {
  const floors = new Map(rows.filter(({ isFloor }) => isFloor).map((one) => [one.encoding, median(one.micros)] as const));
  const cells = rows.map((one) => {
    const micros = median(one.micros);
    const scored = one.server.consoleUrl === undefined ? '' : one.faults === 0 ? 'all' : 'NOT ALL';
    return [
      one.name,
      one.encoding === 'gzip' ? 'gzip' : 'plain',
      micros.toFixed(1),
      (micros / (floors.get(one.encoding) ?? micros)).toFixed(1),
      `${Math.min(...one.micros).toFixed(1)} to ${Math.max(...one.micros).toFixed(1)}`,
      String(Math.round(median(one.spansPerSecond) / 100) * 100),
      String(Math.round(one.rssBytes / 2 ** 20)),
      scored,
    ];
  });
  const head = ['server', 'bodies', 'µs/span', 'x floor', 'range', 'spans/s taken', 'RSS MiB', 'verdicts'];
  const widths = head.map((title, at) => Math.max(title.length, ...cells.map((line) => (line[at] ?? '').length)));
  const line = (texts: readonly string[]): string => `| ${texts.map((text, at) => text.padEnd(widths[at] ?? 0)).join(' | ')} |`;
  const table = [line(head), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...cells.map(line)];
  process.stdout.write(
    `${table.join('\n')}\n\n${traces} traces of ${sent / traces} spans a pass, ${Math.round(bytes / sent)} bytes a span, ${Math.round(sent / bodies.length)} spans a request, ${passes} passes, medians. Node ${process.versions.node}.\nOn by default: ${byDefault.join(', ')}.\nIn the other rows: ${all.join(', ')}.\n`,
  );
}

function median(values_: readonly number[]): number {
  const sorted = [...values_].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}
