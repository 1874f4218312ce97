/**
 * `npm run bench -- store`: what it costs to store scored runs of 12 spans under ten rules. CPU time a run of the thread that makes what is written and of
 * all other threads, bytes that are written, and bytes that the file has in the end.
 *
 *   --runs N   runs of one pass (4000)      --passes N   (3)      --search N   indexes the words of N characters too (0: none)
 */
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { collectors } from '../../collectors/index.ts';
import { configuredEvaluator } from '../../evaluators/configuration/configured.ts';
import { evaluationContext } from '../../evaluators/configuration/context.ts';
import { evaluators } from '../../evaluators/index.ts';
import { manualClock } from '../../src/model/clock.ts';
import { noTenant } from '../../src/model/ids.ts';
import type { ScoredRun } from '../../src/model/scored-run.ts';
import type { StoreItem } from '../../src/model/store/store.ts';
import { readTraces } from '../../src/otlp/read/read.ts';
import { pipeline } from '../../src/pipeline/pipeline.ts';
import { slimItem } from '../../src/stores/blob-codec.ts';
import { withoutContent } from '../../src/stores/content-policy.ts';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.ts';
import { noTelemetry } from '../../src/telemetry/telemetry.ts';
import { runnerArguments } from '../runner-arguments.ts';
import { workload } from './workload.ts';

const { values } = runnerArguments({
  options: {
    runs: { type: 'string', default: '4000' },
    passes: { type: 'string', default: '3' },
    search: { type: 'string', default: '0' },
  },
});
const runs = Number(values.runs);
const passes = Number(values.passes);
const searchChars = Number(values.search);
const rules = 10;
const spansPerRun = 12;
const batches = [5, 50, 200];
const places = ['file', 'memory'] as const;

const folder = mkdtempSync(join(tmpdir(), 'tracejury-store-'));
try {
  console.log(
    '| store | runs a batch | main µs/run | others µs/run | sum µs/span | bytes written a run | × payload | bytes of the file a run |',
  );
  console.log('|---|---|---|---|---|---|---|---|');
  for (const place of places)
    for (const batch of batches) {
      const all: Measured[] = [];
      for (let pass = 0; pass <= passes; pass++) all.push(await measured(place, batch, pass));
      const counted = all.slice(1);
      const middle = (of: (one: Measured) => number): number => counted.map(of).sort((a, b) => a - b)[counted.length >> 1] ?? 0;
      const [main, others, written] = [middle((one) => one.main), middle((one) => one.others), middle((one) => one.written)];
      console.log(
        `| ${place} | ${batch} | ${main.toFixed(1)} | ${others.toFixed(1)} | ${((main + others) / spansPerRun).toFixed(1)} | ${written.toFixed(0)} | ${middle((one) => one.written / one.payload).toFixed(2)} | ${middle((one) => one.kept).toFixed(0)} |`,
      );
    }
} finally {
  rmSync(folder, { recursive: true });
}

interface Measured {
  readonly main: number;
  readonly others: number;
  readonly written: number;
  readonly kept: number;
  readonly payload: number;
}

async function measured(place: (typeof places)[number], batch: number, pass: number): Promise<Measured> {
  const { items, bytes } = scoredRuns(pass + 1);
  const file = place === 'memory' ? ':memory:' : join(folder, `${batch}-${pass}.db`);
  const store = await sqliteStore(file);
  const before = { all: process.cpuUsage(), own: process.threadCpuUsage(), written: writtenBytes() };
  for (let from = 0; from < items.length; from += batch) await store.write(items.slice(from, from + batch).map(asDelivered));
  // As the service does behind the writes.
  while (searchChars > 0 && (await store.indexTexts({ runsMax: 50, charsMax: searchChars })).more);
  await store.stop();
  const micros = ({ user, system }: NodeJS.CpuUsage): number => user + system;
  const [all, own] = [micros(process.cpuUsage(before.all)), micros(process.threadCpuUsage(before.own))];
  return {
    main: own / items.length,
    others: (all - own) / items.length,
    written: (writtenBytes() - before.written) / items.length,
    kept: place === 'memory' ? 0 : statSync(file).size / items.length,
    payload: bytes / items.length,
  };
}

/** Hands a run to the writer like the service. */
function asDelivered(item: ScoredRun): StoreItem {
  const without = withoutContent(
    item,
    { content: 'failed_and_sampled', sampleRate: 0.1, perMinute: 0 },
    { takes: () => false, isCalm: () => true },
  );
  return slimItem(without === undefined ? item : { ...item, withoutContent: without });
}

/** By all system calls of the process: the log beside the file, and the file. */
function writtenBytes(): number {
  return Number(/^wchar: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1] ?? 0);
}

function scoredRuns(seed: number): { readonly items: readonly ScoredRun[]; readonly bytes: number } {
  const plan = evaluators
    .filter(({ kind }) => kind === 'rule')
    .flatMap(({ id }) => {
      const made = configuredEvaluator({ use: id }, evaluators);
      return made.kind === 'ready' ? [{ configured: made.evaluator, sampleRate: 1 }] : [];
    })
    .slice(0, rules);
  const clock = manualClock(0);
  const items: ScoredRun[] = [];
  const flow = pipeline({
    collectors,
    plan,
    context: evaluationContext(),
    clock,
    telemetry: noTelemetry,
    limits: { bytesMax: 2 ** 31, spansPerTraceMax: 50_000, recordsPerTraceMax: 50_000, tombstonesMax: 100_000 },
    deliver: (item) => void items.push(item),
    ask: () => undefined,
  });
  const { bodies, bytes } = workload({ seed, spans: runs * spansPerRun, whole: true });
  for (const body of bodies) {
    flow.spans(noTenant, readTraces(body, 'protobuf').spans);
    clock.advance(100);
    flow.advance();
  }
  clock.advance(60_000);
  flow.finish();
  return { items, bytes };
}
