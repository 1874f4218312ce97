/** Runs of recorded spans, by the gathering of the service with a simulated clock. */
import type { Run } from '../../model/agent-trace.ts';
import { manualClock } from '../../model/clock.ts';
import { noTenant, type TraceId } from '../../model/ids.ts';
import type { LogRecord, Span } from '../../model/span.ts';
import { defaultGroupLimits } from './close-policy.ts';
import { gathering, type Gathering, type GatheringOptions } from './gatherer.ts';
import { traceIdOf } from './trace-table.ts';

/** Bounds the loop in case of a fault in the gathering. */
const stepsMax = 1_000_000;

interface Recording {
  readonly spans: readonly Span[];
  readonly records: readonly LogRecord[];
}

type RegatheringOptions = Pick<GatheringOptions, 'closing' | 'tools' | 'dialects' | 'collectors' | 'telemetry'>;

/** Runs by `trace/span`. */
type Runs = ReadonlyMap<string, Run>;

/** The last revision of each run, by `trace/span`, without a tenant. */
export function regatheredRuns(recording: Recording, reading: RegatheringOptions): Runs {
  const clock = manualClock();
  return runsOf(gathering({ ...reading, clock, limits }), clock, recording);
}

/** Gathers one trace after the other, each once it is complete. */
interface Regathering {
  /** The runs of whole traces. `left`: traces that go to `rest`, as others may hold parts of their runs, or complete their tool definitions. */
  whole(recording: Recording): { readonly runs: Runs; readonly left: ReadonlySet<TraceId> };
  /** The runs of all traces that were left, in one call after the last one of `whole`. */
  rest(recording: Recording): Runs;
}

export function regathering(reading: RegatheringOptions): Regathering {
  const clock = manualClock();
  /** Calls of one gatherer to the other, which is made between their turns. */
  const calls: (() => void)[] = [];
  const talk = { left: () => undefined, claim: () => undefined };
  const alone = gathering({
    ...reading,
    clock,
    limits,
    others: {
      ...talk,
      joins: () => false,
      leaves: ({ fragment, asksSession }) => fragment !== undefined || asksSession === true,
      publish: (note) => calls.push(() => joining.hear(note)),
    },
  });
  const joining = gathering({
    ...reading,
    clock,
    limits,
    others: { ...talk, joins: () => true, publish: (note) => calls.push(() => alone.hear(note)) },
  });
  const deliver = (): void => {
    for (const call of calls) call();
    calls.length = 0;
  };
  return {
    whole(recording) {
      const runs = new Map(runsOf(alone, clock, recording));
      const left = new Set(alone.references.takeFinished().flatMap(({ keys, leaves }) => (leaves === true ? keys.map(traceIdOf) : [])));
      for (const [place, { traceId }] of runs) if (left.has(traceId)) runs.delete(place);
      deliver();
      return { runs, left };
    },
    rest: (recording) => runsOf(joining, clock, recording, deliver),
  };
}

/** The inputs are bounded; no run may close early for want of memory. */
const limits = { ...defaultGroupLimits, bytesMax: Number.MAX_SAFE_INTEGER };

function runsOf(
  gather: Gathering,
  clock: ReturnType<typeof manualClock>,
  { spans, records }: Recording,
  between: () => void = () => undefined,
): Runs {
  const last = new Map<string, Run>();
  gather.addRecords(noTenant, records);
  gather.addSpans(noTenant, spans);
  for (let step = 0; step < stepsMax; step++) {
    for (const run of gather.due()) keepLast(last, run);
    between();
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
