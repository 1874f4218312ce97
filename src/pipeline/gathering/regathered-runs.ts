/** Runs of recorded spans, by the gathering of the service with a simulated clock. */
import type { Run } from '../../model/agent-trace.ts';
import { manualClock } from '../../model/clock.ts';
import { noTenant } from '../../model/ids.ts';
import type { LogRecord, Span } from '../../model/span.ts';
import { defaultGroupLimits } from './close-policy.ts';
import { gathering, type GatheringOptions } from './gatherer.ts';

/** Bounds the loop in case of a fault in the gathering. */
const stepsMax = 1_000_000;

/** The last revision of each run, by `trace/span`, without a tenant. */
export function regatheredRuns(
  { spans, records }: { readonly spans: readonly Span[]; readonly records: readonly LogRecord[] },
  reading: Pick<GatheringOptions, 'closing' | 'tools' | 'dialects' | 'collectors' | 'telemetry'>,
): ReadonlyMap<string, Run> {
  const clock = manualClock();
  // The inputs are bounded; no run may close early for want of memory.
  const gather = gathering({ ...reading, clock, limits: { ...defaultGroupLimits, bytesMax: Number.MAX_SAFE_INTEGER } });
  const last = new Map<string, Run>();
  gather.addRecords(noTenant, records);
  gather.addSpans(noTenant, spans);
  for (let step = 0; step < stepsMax; step++) {
    for (const run of gather.due()) keepLast(last, run);
    const next = gather.nextDueMs();
    if (next === undefined) break;
    clock.advance(Math.max(0, next - clock.nowMs()));
  }
  return last;
}

/** A run that is part of another one is contained in that one. */
function keepLast(last: Map<string, Run>, run: Run): void {
  const place = `${run.traceId}/${run.spanId}`;
  if (run.partOf === undefined) last.set(place, run);
  else last.delete(place);
}
