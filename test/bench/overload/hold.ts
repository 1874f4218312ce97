/**
 * Holds many traces open and goes on taking spans for them: `node hold.ts TRACES SPANS`. In a process of its own, through the wire format, under a
 * clock that is moved by hand. Tells CPU time a span while that many are open, and what a held span takes of the memory.
 */
import { collectors } from '../../../collectors/index.ts';
import { evaluationContext } from '../../../evaluators/configuration/context.ts';
import { manualClock } from '../../../src/model/clock.ts';
import { noTenant } from '../../../src/model/ids.ts';
import { keyShapes } from '../../../src/otlp/read/key-shapes.ts';
import { tracesInSteps } from '../../../src/otlp/read/read.ts';
import { runSteps } from '../../../src/runtime/cooperative.ts';
import { pipeline } from '../../../src/pipeline/pipeline.ts';
import { slabCompaction } from '../../../src/service/close-scheduler.ts';
import { machineMemory } from '../../../src/service/node-runtime.ts';
import { noTelemetry } from '../../../src/telemetry/telemetry.ts';
import { freshBodies } from './fresh-bodies.ts';

const { collect, collectOften } = machineMemory();
// As the service does while it has room.
collectOften(false);
const [traces = 100, measuredSpans = 24_000] = process.argv.slice(2).map(Number);
const spansPerTrace = 12;
/** Until the code is compiled. */
const warmUpSpans = 24_000;
const clock = manualClock();
const never = 30 * 86_400_000;
const flow = pipeline({
  collectors,
  plan: [],
  context: evaluationContext(),
  clock,
  telemetry: noTelemetry,
  // Nothing closes while it is measured.
  closing: { settleMs: never, quietMs: never, abandonMs: never, lateMs: never },
  limits: { bytesMax: Number.MAX_SAFE_INTEGER, spansPerTraceMax: 50_000, recordsPerTraceMax: 50_000, tombstonesMax: 100_000 },
  compaction: slabCompaction(),
  deliver: () => undefined,
  ask: () => undefined,
});
/** Shared by all requests, as a door does. */
const shapes = keyShapes();
const bodies = freshBodies({ seed: 3, spans: 2_400, sender: 3 });

/** Ten thousand spans a second: what is idle after two seconds here is so for a service under load. */
const msPerBody = 10;
const packEveryMs = 25;
/** Longer than a trace waits for more before it is squeezed, and than slabCompaction all that waits then takes. */
const idleMs = 10_000;
let packedMs = clock.nowMs();

function take(): number {
  const { body, spans } = bodies.next();
  flow.spans(noTenant, runSteps(tracesInSteps(body, 'protobuf', undefined, shapes)).spans);
  clock.advance(msPerBody);
  flow.advance(16);
  // As the service does, forty times a second.
  for (; packedMs < clock.nowMs(); packedMs += packEveryMs) flow.packIdle(32);
  return spans;
}

/** Everything that has come is idle, and squeezed. */
function packed(): void {
  clock.advance(idleMs);
  for (; packedMs < clock.nowMs(); packedMs += packEveryMs) flow.packIdle(32);
}

for (let warm = 0; warm < warmUpSpans;) warm += take();
packed();
flow.finish();
collect();
const emptyBytes = process.memoryUsage().rss;
let held = 0;
while (held < traces * spansPerTrace) held += take();
collect();
const heldBytes = process.memoryUsage().rss;
packed();
const before = process.cpuUsage();
let spans = 0;
while (spans < measuredSpans) spans += take();
// Held spans are also packed, after any number of earlier ones.
packed();
const { user, system } = process.cpuUsage(before);
process.stdout.write(
  JSON.stringify({
    held,
    bytesPerSpan: (heldBytes - emptyBytes) / held,
    microsPerSpan: (user + system) / spans,
    wireBytesPerSpan: bodies.bytesPerSpan,
  }),
);
