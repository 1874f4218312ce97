/**
 * Gathers spans and log records by trace and closes runs by accounting, not by silence alone. Pure under its clock.
 *
 * A run closes when its agent's span has arrived and
 *   - everything that its spans announce has arrived, `settle` after its last span: complete;
 *   - something is still missing, `quiet` after its last span: partial.
 * Without an agent's span (or a root that stands in) only `abandon` after the trace's last span closes it: abandoned.
 * When memory runs short the oldest trace closes at once: evicted.
 * Spans that come later, within `late`, make the next revision, and only if they change the content.
 */
import type { Collector } from '../../collectors/collector.ts';
import type { Completeness, Run, ToolDefinition } from '../model/agent-trace.ts';
import { wire } from '../model/attributes.ts';
import type { Clock } from '../model/clock.ts';
import type { Tenant } from '../model/ids.ts';
import type { LogRecord, Span } from '../model/span.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { assemble, type Draft } from './assemble.ts';
import { deadlines } from './deadlines.ts';
import { toldOf } from './facts.ts';
import { withLastingKeys } from './lasting-keys.ts';
import { recordKey } from './records.ts';
import { fragmentIndex } from './fragments.ts';
import { offeredTools } from './offered-tools.ts';
import { contentHash, runOf } from './run.ts';
import { traceTable, type Trace } from './traces.ts';
import { isElsewhere } from './tree.ts';

export interface ClosingTimes {
  readonly settleMs: number;
  readonly quietMs: number;
  readonly abandonMs: number;
  readonly lateMs: number;
}

export interface GroupLimits {
  /** Bytes on the wire of all spans and records that are held. */
  readonly bytesMax: number;
  readonly spansPerTraceMax: number;
  readonly recordsPerTraceMax: number;
  /** Traces that are done are remembered up to this number, so that a straggler founds no new run. */
  readonly tombstonesMax: number;
}

export const defaultClosing: ClosingTimes = { settleMs: 500, quietMs: 5_000, abandonMs: 600_000, lateMs: 3_600_000 };
export const defaultGroupLimits: GroupLimits = { bytesMax: 256 * 1024 * 1024, spansPerTraceMax: 50_000, recordsPerTraceMax: 50_000, tombstonesMax: 100_000 };

export interface Gathering {
  addSpans(tenant: Tenant, spans: readonly Span[]): void;
  addRecords(tenant: Tenant, records: readonly LogRecord[]): void;
  /** Runs that close now; looks at no more than so many traces, so that whoever asks can do other work in between. */
  due(tracesMax?: number): readonly Run[];
  /** When to ask again, in milliseconds since the epoch; undefined while nothing waits. */
  nextDueMs(): number | undefined;
  /** Closes everything that is open, for the end of the process. */
  closeAll(): readonly Run[];
  readonly bytes: () => number;
  readonly traces: () => number;
}

export interface GatheringOptions {
  readonly collectors: readonly Collector[];
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly closing?: ClosingTimes;
  readonly limits?: GroupLimits;
  /** Definitions for runs whose spans carry none. */
  readonly tools?: readonly ToolDefinition[];
}

/** Looking at a trace takes time for each of its spans: the larger it is, the less often it is looked at while it grows. */
const lookMsPerSpan = 0.1;

const noRun = { 'tracejury.reason': 'no_agent_model_or_tool_span' } as const;

export function gathering(options: GatheringOptions): Gathering {
  const { collectors, clock, telemetry, closing = defaultClosing, limits = defaultGroupLimits, tools = [] } = options;
  const configuredTools = new Map(tools.map((definition) => [definition.name, definition] as const));
  const traces = traceTable(limits.tombstonesMax);
  /** The traces that are done, in the order in which they were. */
  const closedTraces = new Set<Trace>();
  const fragments = fragmentIndex<Trace>();
  const queue = deadlines<Trace>();
  const ready: Run[] = [];
  let bytes = 0;

  function grew(trace: Trace, by: number): void {
    trace.bytes += by;
    bytes += by;
    trace.lastMs = clock.nowMs();
    trace.done = false;
    closedTraces.delete(trace);
    const waitMs = trace.mayClose ? Math.max(closing.settleMs, trace.held.size * lookMsPerSpan) : closing.abandonMs;
    queue.set(trace, trace.lastMs + waitMs);
  }

  /** True for a span that a run can hang on: an agent's, or one without a parent in its process. */
  function canCarryRun(trace: Trace, span: Span): boolean {
    if (span.parentSpanId === undefined || isElsewhere(span)) return true;
    try {
      const { role } = toldOf({ collectors, records: trace.records, toldCache: trace.told }, span).facts;
      return role === 'agent' || role === 'workflow';
    } catch {
      // What cannot be read is dropped when the trace is looked at.
      return true;
    }
  }

  function drop(trace: Trace): void {
    traces.remove(trace);
    closedTraces.delete(trace);
    queue.remove(trace);
    fragments.forget(trace);
    bytes -= trace.bytes;
  }

  /** Moves a trace into the one whose run it continues. */
  function join(part: Trace, whole: Trace): void {
    traces.join(part, whole, limits.spansPerTraceMax);
    closedTraces.delete(part);
    queue.remove(part);
    fragments.forget(part);
    whole.bytes += part.bytes;
    whole.done = false;
    closedTraces.delete(whole);
    queue.set(whole, clock.nowMs());
  }

  /** Joins a trace that is nothing but requests without a span around them to its earlier or later parts. True: what came of it is looked at anew. */
  function joined(trace: Trace, drafts: readonly Draft[]): boolean {
    const fragment = drafts.length === 1 ? drafts[0]?.fragment : undefined;
    if (fragment === undefined) return false;
    const whole = fragments.earlier(trace, trace.tenant, fragment);
    if (whole !== undefined) join(trace, whole);
    const parts = whole === undefined ? fragments.remember(trace, trace.tenant, fragment) : [];
    for (const part of parts) join(part, trace);
    return whole !== undefined || parts.length > 0;
  }

  function close(trace: Trace, draft: Draft, completeness: Completeness): void {
    const before = trace.closed.get(draft.key.spanId);
    const hash = contentHash(draft);
    if (before?.contentHash === hash) return;
    const revision = (before?.revision ?? 0) + 1;
    trace.closed.set(draft.key.spanId, { revision, contentHash: hash });
    ready.push(runOf(draft, { completeness, revision, contentHash: hash }));
  }

  function draftsOf(trace: Trace): readonly Draft[] {
    const drafts = assemble({ collectors, tenant: trace.tenant, held: [...trace.held.values()], records: trace.records, toldCache: trace.told });
    if (configuredTools.size === 0) return withLastingKeys(drafts, trace.closed);
    const offered = drafts.map((draft) => ({ ...draft, trace: { ...draft.trace, toolDefinitions: offeredTools(draft.trace.toolDefinitions, configuredTools) } }));
    return withLastingKeys(offered, trace.closed);
  }

  /** Closes what is due in one trace and sets its next deadline. */
  function settle(trace: Trace): void {
    if (trace.done) return drop(trace);
    const now = clock.nowMs();
    const drafts = draftsOf(trace);
    if (joined(trace, drafts)) return;
    let next = Infinity;
    for (const draft of drafts) {
      const { atMs, completeness } = closesAt(draft, trace.lastMs, closing);
      if (atMs <= now) close(trace, draft, completeness);
      else next = Math.min(next, atMs);
    }
    if (next !== Infinity) return queue.set(trace, next);
    const endMs = trace.lastMs + (drafts.length === 0 ? closing.abandonMs : closing.lateMs);
    trace.done = drafts.length > 0;
    if (trace.done) {
      closedTraces.add(trace);
      // Spans that are read a second time are rare, and what they tell takes more memory than they do.
      trace.told.clear();
    }
    if (endMs > now) return queue.set(trace, endMs);
    if (drafts.length === 0) telemetry.add('tracejury.traces.dropped', 1, noRun);
    drop(trace);
  }

  /** A trace that cannot be read is dropped and counted; the others go on. */
  function guarded(trace: Trace, step: (trace: Trace) => void): void {
    try {
      step(trace);
    } catch {
      telemetry.add('tracejury.traces.dropped', 1, { 'tracejury.reason': 'unreadable' });
      drop(trace);
    }
  }

  /** Frees memory: first what is closed and only waits for stragglers, then the oldest open trace. */
  function relieve(): void {
    if (bytes <= limits.bytesMax) return;
    for (const trace of closedTraces) {
      if (bytes <= limits.bytesMax) return;
      drop(trace);
    }
    for (const trace of traces.all()) {
      if (bytes <= limits.bytesMax) return;
      guarded(trace, evict);
    }
  }

  function evict(trace: Trace): void {
    const drafts = draftsOf(trace);
    for (const draft of drafts) close(trace, draft, 'evicted');
    if (drafts.length === 0) telemetry.add('tracejury.traces.dropped', 1, { 'tracejury.reason': 'evicted_without_a_run' });
    drop(trace);
  }

  return {
    addSpans(tenant, spans) {
      for (const span of spans) {
        if (span.attribute(wire.generated) === true) {
          telemetry.add('tracejury.spans.own', 1);
          continue;
        }
        const trace = traces.open(tenant, span.traceId, clock.nowMs());
        if (trace === undefined) telemetry.add('tracejury.spans.late', 1, { 'tracejury.reason': 'after_late' });
        else if (trace.held.has(span.spanId)) telemetry.add('tracejury.spans.duplicate', 1);
        else if (trace.held.size >= limits.spansPerTraceMax) telemetry.add('tracejury.spans.over_limit', 1);
        else {
          if (trace.closed.size > 0) telemetry.add('tracejury.spans.late', 1, { 'tracejury.reason': 'after_close' });
          trace.held.set(span.spanId, { span, arrivedMs: clock.nowMs() });
          trace.mayClose ||= canCarryRun(trace, span);
          grew(trace, span.wireBytes);
        }
      }
      relieve();
    },
    addRecords(tenant, records) {
      for (const record of records) {
        if (record.spanId === undefined || record.attribute(wire.generated) === true || !collectors.some((collector) => collector.logs?.events.includes(record.eventName))) continue;
        const trace = traces.open(tenant, record.traceId, clock.nowMs());
        if (trace === undefined || trace.recordKeys.size >= limits.recordsPerTraceMax) continue;
        const key = recordKey(record);
        if (trace.recordKeys.has(key)) continue;
        trace.recordKeys.add(key);
        const known = trace.records.get(record.spanId);
        if (known === undefined) trace.records.set(record.spanId, [record]);
        else known.push(record);
        trace.told.delete(record.spanId);
        grew(trace, record.wireBytes);
      }
      relieve();
    },
    due(tracesMax = Infinity) {
      const now = clock.nowMs();
      for (let looked = 0; looked < tracesMax; looked++) {
        const trace = queue.takeDue(now);
        if (trace === undefined) break;
        guarded(trace, settle);
      }
      return ready.splice(0);
    },
    nextDueMs: () => (ready.length > 0 ? clock.nowMs() : queue.nextMs()),
    closeAll() {
      for (const trace of traces.all()) {
        guarded(trace, () => {
          if (trace.done) return drop(trace);
          const drafts = draftsOf(trace);
          for (const draft of drafts) close(trace, draft, closesAt(draft, trace.lastMs, closing).completeness);
          if (drafts.length === 0) telemetry.add('tracejury.traces.dropped', 1, noRun);
          drop(trace);
        });
      }
      return ready.splice(0);
    },
    bytes: () => bytes,
    traces: () => traces.size(),
  };
}

/** When a draft closes if nothing more arrives, and as what. */
function closesAt(draft: Draft, traceLastMs: number, closing: ClosingTimes): { readonly atMs: number; readonly completeness: Completeness } {
  if (!draft.rootArrived) return { atMs: traceLastMs + closing.abandonMs, completeness: 'abandoned' };
  if (draft.waitsFor.length > 0) return { atMs: draft.lastArrivedMs + closing.quietMs, completeness: 'partial' };
  // Its parent may still come and show that it works for another agent; one export interval is long enough to wait.
  if (draft.parentMissing) return { atMs: draft.lastArrivedMs + closing.quietMs, completeness: 'complete' };
  return { atMs: draft.lastArrivedMs + closing.settleMs, completeness: 'complete' };
}
