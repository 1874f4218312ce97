/**
 * Puts spans and log records into the traces that they belong to. A request brings several spans of one trace behind each other: what concerns the
 * trace as a whole is done once for them.
 */
import { takesEvent, type Collector } from '../../../collectors/collector.ts';
import { wire } from '../../model/attributes.ts';
import type { SpanId, Tenant, TraceId } from '../../model/ids.ts';
import type { MemoryReference } from '../../model/ingest.ts';
import type { LogRecord, Span } from '../../model/span.ts';
import { isRoot } from '../assembly/span-tree.ts';
import type { GroupLimits } from './close-policy.ts';
import type { Eviction } from './eviction.ts';
import { noPosition } from './held-spans.ts';
import type { JournalReference } from './journal-references.ts';
import type { RoleDetection } from './role-detection.ts';
import type { ScanPlanner } from './scan-planner.ts';
import type { Joining } from './trace-joining.ts';
import type { Trace, TraceTable } from './trace-table.ts';
import type { Context } from '../../telemetry/context.ts';

interface ArrivalDeps extends Pick<Context, 'clock' | 'telemetry'> {
  readonly limits: GroupLimits;
  readonly collectors: () => readonly Collector[];
  readonly traces: TraceTable;
  readonly memory: Eviction;
  readonly roles: RoleDetection;
  readonly joins: Joining;
  readonly planner: ScanPlanner;
  readonly references: JournalReference;
  /** Something came for the trace, which is to be scanned at `scanMs`. */
  readonly arrived: (trace: Trace, scanMs: number) => void;
}

/** Where the journal has a request, and where it had it first; the memory in which its spans lie, where that is used again. */
interface Place {
  readonly position?: number | undefined;
  readonly origin?: number | undefined;
  readonly memory?: MemoryReference | undefined;
}

interface Arrivals {
  spans(tenant: Tenant, spans: readonly Span[], place?: Place): void;
  records(tenant: Tenant, records: readonly LogRecord[], position?: number): void;
}

export function arrivals(deps: ArrivalDeps): Arrivals {
  const { clock, telemetry, limits, collectors, traces, memory, roles, joins, planner, references, arrived } = deps;
  /** Grows from span to span. */
  let ordinals = 0;
  let requests = 0;

  /** Adds up what consecutive spans bring to one trace; `flush` weighs and queues the trace once for all of them. */
  function grouped(tenant: Tenant, nowMs: number) {
    let traceId: TraceId | undefined;
    let opened: Trace | undefined;
    let grown: Trace | undefined;
    let [bytes, scanMs] = [0, 0];

    function flush(): void {
      if (grown === undefined) return;
      memory.grew(grown, bytes);
      arrived(grown, scanMs);
      grown = undefined;
      bytes = 0;
    }

    return {
      flush,
      open(of: TraceId): Trace | undefined {
        if (of === traceId) return opened;
        flush();
        traceId = of;
        return (opened = traces.open(tenant, of, nowMs));
      },
      /** The trace to which the span's trace now belongs. */
      joinedByLinks(trace: Trace, span: Span): Trace {
        flush();
        return (opened = joins.byLinks(trace, span, nowMs));
      },
      grew(trace: Trace, spanId: SpanId, by: number): void {
        grown = trace;
        bytes += by;
        const planned = planner.arrived(trace, spanId, nowMs);
        scanMs = joins.leaves(trace) ? nowMs : planned;
      },
    };
  }

  function hold(trace: Trace, span: Span, arrivedMs: number, { position, origin, memory: bodyMemory }: Place): void {
    if (trace.closed !== undefined) telemetry.add('tracejury.spans.late', 1, { 'tracejury.reason': 'after_close' });
    trace.held.set(span.spanId, { span, arrivedMs, position: origin ?? position ?? noPosition, ordinal: ordinals++ });
    if (span.asWritten !== undefined) trace.memory.add(bodyMemory);
    references.add(trace, position);
    if (trace.wasDone && trace.closed?.has(span.spanId) !== true && roles.canCarryRun(trace, span)) trace.wasDone = false;
    trace.mayClose ||= roles.canCarryRun(trace, span);
    trace.isRooted ||= isRoot(span);
    trace.isOneAgents ||= span.parentSpanId === undefined && roles.isAgents(trace, span);
  }

  return {
    spans(tenant, spans, place = {}) {
      const nowMs = clock.nowMs();
      const group = grouped(tenant, nowMs);
      requests++;
      for (const span of spans) {
        if (span.attribute(wire.generated) === true) {
          telemetry.add('tracejury.spans.own', 1);
          continue;
        }
        const opened = group.open(span.traceId);
        if (opened === undefined) telemetry.add('tracejury.spans.late', 1, { 'tracejury.reason': 'after_late' });
        else if (opened.held.has(span.spanId)) telemetry.add('tracejury.spans.duplicate', 1);
        else if (opened.held.size >= limits.spansPerTraceMax) telemetry.add('tracejury.spans.over_limit', 1);
        else {
          const followsLinks = span.links.length > 0 && roles.facts(opened, span)?.followsLinks === true;
          const trace = followsLinks ? group.joinedByLinks(opened, span) : opened;
          if (trace.lastRequest !== requests) {
            trace.lastRequest = requests;
            trace.requests++;
          }
          hold(trace, span, nowMs, place);
          group.grew(trace, span.spanId, span.wireBytes);
        }
      }
      group.flush();
    },
    records(tenant, records, position) {
      const group = grouped(tenant, clock.nowMs());
      for (const record of records) {
        if (
          record.spanId === undefined ||
          record.attribute(wire.generated) === true ||
          !collectors().some((collector) => takesEvent(collector, record.eventName))
        )
          continue;
        const trace = group.open(record.traceId);
        if (trace === undefined || trace.records.size >= limits.recordsPerTraceMax || !trace.records.add(record.spanId, record)) continue;
        trace.reading?.readingCache?.delete(record.spanId);
        references.add(trace, position);
        group.grew(trace, record.spanId, record.wireBytes);
      }
      group.flush();
    },
  };
}
