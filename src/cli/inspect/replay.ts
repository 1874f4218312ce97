/** Recorded spans → runs, through the same gathering as in the service, under a clock that runs ahead. */
import type { Collector } from '../../../collectors/collector.ts';
import { configuredCollector, type DialectSettings } from '../../../collectors/configured/dialect.ts';
import { collectors } from '../../../collectors/index.ts';
import type { Run } from '../../model/agent-trace.ts';
import { manualClock } from '../../model/clock.ts';
import { noTenant, type SpanId } from '../../model/ids.ts';
import type { LogRecord } from '../../model/span.ts';
import { type GatheringOptions, gathering } from '../../pipeline/gathering/gatherer.ts';
import { spanReadingOf } from '../../pipeline/assembly/span-facts.ts';
import { defaultGroupLimits } from '../../pipeline/gathering/close-policy.ts';
import { metricRegistry, type MetricRegistry } from '../../telemetry/registry.ts';
import type { Recorded } from './recording.ts';

export interface Replayed {
  /** The last revision of each run, in order of start time, then as their spans are recorded. */
  readonly runs: readonly Run[];
  /** Spans by the collector that recognised them; a span may count for several. */
  readonly spansByDialect: ReadonlyMap<string, number>;
  readonly unrecognised: { readonly spans: number; readonly scopes: readonly ScopeCount[] };
  /** What the gathering left out, as its metrics count it. */
  readonly leftOut: readonly LeftOut[];
}

export interface LeftOut {
  readonly metric: string;
  readonly reason: string;
  readonly meaning: string;
  readonly count: number;
}

/** What of a configuration decides how spans are read. */
export type Reading = Required<Pick<GatheringOptions, 'closing'>> &
  Pick<GatheringOptions, 'tools'> & { readonly dialects?: readonly DialectSettings[] };

interface ScopeCount {
  readonly scope: string;
  readonly spans: number;
}

const scopesShown = 10;
/** Each step closes or drops something, so it ends; a fault in the gathering must not make it endless. */
const stepsMax = 1_000_000;

export function replayed(recorded: Recorded, { closing, tools = [], dialects = [] }: Reading): Replayed {
  const own = dialects.map(configuredCollector);
  const clock = manualClock();
  const telemetry = metricRegistry();
  // The inputs are bounded already; nothing may be closed early for want of memory.
  const gather = gathering({
    collectors,
    clock,
    telemetry,
    closing,
    tools,
    dialects: own,
    limits: { ...defaultGroupLimits, bytesMax: Number.MAX_SAFE_INTEGER },
  });
  const last = new Map<string, Run>();
  gather.addRecords(noTenant, recorded.records);
  gather.addSpans(noTenant, recorded.spans);
  for (let step = 0; step < stepsMax; step++) {
    for (const run of gather.due()) keepLast(last, run);
    const next = gather.nextDueMs();
    if (next === undefined) break;
    clock.advance(Math.max(0, next - clock.nowMs()));
  }
  const places = new Map(recorded.spans.map(({ traceId, spanId }, place) => [`${traceId}/${spanId}`, place]));
  return {
    runs: [...last.values()].sort(byStart(({ traceId, spanTraceId = traceId, spanId }) => places.get(`${spanTraceId}/${spanId}`) ?? 0)),
    leftOut: leftOut(telemetry),
    ...recognition(recorded, [...own, ...collectors]),
  };
}

/** What turned out to be part of another run is in that one. */
function keepLast(last: Map<string, Run>, run: Run): void {
  const place = `${run.traceId}/${run.spanId}`;
  if (run.partOf === undefined) last.set(place, run);
  else last.delete(place);
}

/** Of equal starts the one comes first whose span is recorded first. */
function byStart(placeOf: (run: Run) => number): (a: Run, b: Run) => number {
  return (a, b) => (a.startUnixNano === b.startUnixNano ? placeOf(a) - placeOf(b) : a.startUnixNano < b.startUnixNano ? -1 : 1);
}

function recognition({ spans, records }: Recorded, all: readonly Collector[]): Pick<Replayed, 'spansByDialect' | 'unrecognised'> {
  const spansByDialect = new Map<string, number>();
  const scopes = new Map<string, number>();
  const withRecords = new Set(records.flatMap(({ spanId }) => spanId ?? []));
  let unrecognised = 0;
  for (const span of spans) {
    const own = spanReadingOf({ collectors: all, records: noRecords }, span).dialects;
    for (const id of own) spansByDialect.set(id, (spansByDialect.get(id) ?? 0) + 1);
    if (own.length > 0 || withRecords.has(span.spanId)) continue;
    unrecognised++;
    scopes.set(span.scope.name, (scopes.get(span.scope.name) ?? 0) + 1);
  }
  const most = [...scopes].sort(([a, left], [b, right]) => right - left || (a < b ? -1 : 1)).slice(0, scopesShown);
  return { spansByDialect, unrecognised: { spans: unrecognised, scopes: most.map(([scope, count]) => ({ scope, spans: count })) } };
}

/** The reading of a single span. */
const noRecords: ReadonlyMap<SpanId, readonly LogRecord[]> = new Map();

function leftOut(telemetry: MetricRegistry): readonly LeftOut[] {
  const counted = telemetry.snapshot().filter(({ name }) => name === 'tracejury.traces.dropped' || name.startsWith('tracejury.spans.'));
  return counted.flatMap(({ name, row, points }) =>
    points.flatMap((point) => {
      if (point.kind !== 'number' || point.value === 0) return [];
      return [{ metric: name, reason: Object.values(point.labels)[0] ?? '', meaning: row.meaning, count: point.value }];
    }),
  );
}
