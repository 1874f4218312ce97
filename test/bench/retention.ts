/**
 * `npm run bench -- retention --store URL`: how long a writer waits at most while another process deletes old runs of a database of PostgreSQL, and how
 * long without it. `npm run bench -- console --store URL` fills one.
 *
 *   --store URL   --runs N   deletes the oldest of N (10000)   --alone N   batches that are written before (200)
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseTraceId, type TraceId } from '../../src/model/ids.ts';
import { postgresStore } from '../../src/stores/postgres/postgres-store.ts';
import { run, scored, scoredRun } from '../builders/scored-run.ts';
import { runnerArguments } from '../runner-arguments.ts';
import { quantile } from './overload/conditions.ts';

const { values } = runnerArguments({
  options: { store: { type: 'string' }, runs: { type: 'string', default: '10000' }, alone: { type: 'string', default: '200' } },
});
const [wanted, alone] = [Number(values.runs), Number(values.alone)];
/** The same interval as in the service. */
const step = { runs: 200, restMs: 20 } as const;
const batch = { runs: 5, restMs: 50 } as const;

const url = values.store ?? '';
const [writer, deleter] = [await postgresStore(url), await postgresStore(url)];
let written = 0;
try {
  await writer.write(someRuns());
  const before: number[] = [];
  for (let nth = 0; nth < alone; nth++) await write(before);
  const beside: number[] = [];
  let isDone = false;
  const writing = (async () => {
    while (!isDone) await write(beside);
  })();
  const startMs = performance.now();
  const steps: number[] = [];
  let deleted = 0;
  while (deleted < wanted) {
    const beganMs = performance.now();
    const { runs, more } = await deleter.prune(retention(oldest()));
    steps.push(performance.now() - beganMs);
    deleted += runs;
    if (!more && runs === 0) break;
    await sleep(step.restMs);
  }
  const seconds = (performance.now() - startMs) / 1_000;
  isDone = true;
  await writing;
  console.log('| ms | p50 | p95 | p99 | longest | number |\n|---|---|---|---|---|---|');
  for (const [name, all] of Object.entries({ 'batch alone': before, 'batch beside': beside, 'step of retention': steps }))
    console.log(`| ${name} | ${[0.5, 0.95, 0.99, 1].map((share) => quantile(all, share).toFixed(1)).join(' | ')} | ${all.length} |`);
  console.log(
    `\n${deleted} runs deleted in ${seconds.toFixed(0)} s, ${(deleted / seconds).toFixed(0)} a second. A batch has ${batch.runs} runs.`,
  );
} finally {
  await Promise.all([writer.stop(), deleter.stop()]);
}

async function write(tookMs: number[]): Promise<void> {
  const runs = someRuns();
  const startMs = performance.now();
  await writer.write(runs);
  tookMs.push(performance.now() - startMs);
  await sleep(batch.restMs);
}

function someRuns() {
  const startUnixNano = BigInt(Date.now()) * 1_000_000n;
  return Array.from({ length: batch.runs }, () =>
    scoredRun({ tool_error: scored(1) }, run({ traceId: freshId(), startUnixNano, endUnixNano: startUnixNano + 1_000_000n })),
  );
}

function freshId(): TraceId {
  const id = parseTraceId(`${Date.now().toString(16).padStart(16, '0')}${(++written).toString(16).padStart(16, '0')}`);
  if (id === undefined) throw new Error('no trace id');
  return id;
}

/** Everything is old but what this program writes. */
function oldest(): number {
  return Math.floor((performance.timeOrigin - 60_000) * 1_000);
}

function retention(runsBefore: number) {
  return {
    runsBefore,
    contentBefore: 0,
    exportsBefore: 0,
    jobsBefore: 0,
    turnsBefore: 0,
    exportsMax: Number.MAX_SAFE_INTEGER,
    bytesMax: Number.MAX_SAFE_INTEGER,
    stepRuns: step.runs,
  };
}
