/**
 * One scenario in a separate process: `node measure.ts INDEX SHARE`. Spans go through the wire format, as the service gets them; CPU time is
 * that of reading, gathering and scoring, with the garbage that these make. The clock is moved by hand, so a day takes seconds.
 */
import { collectors } from '../../../collectors/index.ts';
import { evaluationContext } from '../../../evaluators/configuration/context.ts';
import { evaluators } from '../../../evaluators/index.ts';
import { manualClock } from '../../../src/model/clock.ts';
import { noTenant } from '../../../src/model/ids.ts';
import { readTraces } from '../../../src/otlp/read/read.ts';
import { writeTraces } from '../../../src/otlp/write/write.ts';
import { pipeline } from '../../../src/pipeline/pipeline.ts';
import { noTelemetry } from '../../../src/telemetry/telemetry.ts';
import { configuredEvaluator } from '../../../evaluators/configuration/configured.ts';
import { scenarios } from './scenarios.ts';

/** As the service does it: between two of these other work can be done. */
const piecesPerAdvance = 1;
const [index = '0', share = '1'] = process.argv.slice(2);
const scenario = scenarios[Number(index)];
if (scenario === undefined) throw new Error(`no scenario ${index}`);

const plan = evaluators
  .filter(({ onByDefault }) => onByDefault)
  .map(({ id }) => {
    const made = configuredEvaluator({ use: id }, evaluators);
    if (made.kind === 'faulty') throw new Error(`${id}: ${made.faults.map(({ problem }) => problem).join('; ')}`);
    return { configured: made.evaluator, sampleRate: 1 };
  });
const clock = manualClock(0);
const closed = new Map<string, number>();
let verdicts = 0;
const flow = pipeline({
  collectors,
  plan,
  context: evaluationContext(),
  clock,
  telemetry: noTelemetry,
  limits: { bytesMax: 512 * 1024 * 1024, spansPerTraceMax: 50_000, recordsPerTraceMax: 50_000, tombstonesMax: 100_000 },
  deliver({ run, evaluations }) {
    closed.set(`${run.traceId}/${run.spanId}`, run.revision);
    verdicts += evaluations.length;
  },
  ask: () => undefined,
});

let cpuMicros = 0;
let stallMs = 0;
const peak = { rss: 0, heap: 0, held: 0 };

function counted<T>(work: () => T): T {
  const before = process.cpuUsage();
  const result = work();
  const { user, system } = process.cpuUsage(before);
  cpuMicros += user + system;
  return result;
}

function look(): void {
  const before = performance.now();
  counted(() => flow.advance(piecesPerAdvance));
  stallMs = Math.max(stallMs, performance.now() - before);
  const { rss, heapUsed } = process.memoryUsage();
  peak.rss = Math.max(peak.rss, rss);
  peak.heap = Math.max(peak.heap, heapUsed);
  peak.held = Math.max(peak.held, flow.bytes());
}

function passUntil(ms: number): void {
  for (let next = flow.nextDueMs(); next !== undefined && next <= ms; next = flow.nextDueMs()) {
    clock.advance(Math.max(0, next - clock.nowMs()));
    look();
  }
  clock.advance(Math.max(0, ms - clock.nowMs()));
}

let spans = 0;
for (const request of scenario.requests(Number(share))) {
  passUntil(request.atMs);
  spans += request.spans.length;
  const body = writeTraces(request.spans, 'protobuf');
  counted(() => flow.spans(noTenant, readTraces(body, 'protobuf').spans));
  peak.held = Math.max(peak.held, flow.bytes());
}
passUntil(clock.nowMs() + 60_000);
const revisions = [...closed.values()].reduce((sum, revision) => sum + revision, 0);
if (closed.size !== scenario.runs(Number(share))) throw new Error(`${closed.size} runs instead of ${scenario.runs(Number(share))}`);
process.stdout.write(
  JSON.stringify({
    spans,
    cpuMicros,
    stallMs,
    rssBytes: peak.rss,
    heapBytes: peak.heap,
    heldBytes: peak.held,
    runs: closed.size,
    revisions,
    verdicts,
  }),
);
