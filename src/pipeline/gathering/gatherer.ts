/**
 * Gathers spans and log records by trace and closes runs by accounting, not by silence alone. Pure under its clock.
 *
 * A run closes when its agent's span has arrived and
 *   - everything that its spans announce has arrived, `settle` after its last span: complete;
 *   - something is still missing, `quiet` after its last span: partial.
 * Without an agent's span (or a root that stands in) only `abandon` after the trace's last span closes it: abandoned.
 * When memory runs short the oldest trace closes at once: evicted.
 * Spans that come later, within `late`, make the next revision, and only if they change the content.
 * Traces that turn out to hold parts of one run are gathered together (`trace-joining.ts`).
 */
import type { Completeness, Run } from '../../model/agent-trace.ts';
import { wire } from '../../model/attributes.ts';
import type { SpanId, Tenant } from '../../model/ids.ts';
import type { LogRecord, Span } from '../../model/span.ts';
import { keyShapes } from '../../otlp/read/key-shapes.ts';
import { spanPacker } from '../../otlp/cut/span-packing.ts';
import { assembling, type Draft } from '../assembly/assemble.ts';
import { closedTraces, relief } from './eviction.ts';
import { closesAt, inForce, defaultGroupLimits, type GatheringSettings, type GroupLimits } from './close-policy.ts';
import { deadlines } from '../../runtime/deadline-queue.ts';
import type { Reading } from '../assembly/span-facts.ts';
import { noPosition } from './held-spans.ts';
import { idleTraces } from './idle-compaction.ts';
import { joining } from './trace-joining.ts';
import { withLastingKeys, type Lasting } from './run-identity.ts';
import { scanPlanner, type Scan, type ScanResult, type Pending, type ScanProgress } from './scan-planner.ts';
import { offeredTools, sessionTools } from '../assembly/session-tool-definitions.ts';
import { reopening, type Reopening } from './late-spans.ts';
import { closing } from './revisions.ts';
import { slabs, type SlabAllocator } from './slab-allocator.ts';
import { journalReferences, type JournalReferences } from './journal-references.ts';
import { runSteps, type Steps } from '../../runtime/cooperative.ts';
import { spansPerStep, isRoot } from '../assembly/span-tree.ts';
import { roleDetection } from './role-detection.ts';
import { traceTable, type Trace } from './trace-table.ts';
import { scanScheduler } from './scan-scheduler.ts';
import { collectorsInForce, type Collector } from '../../../collectors/collector.ts';
import type { Clock } from '../../model/clock.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';

const noRun = { 'tracejury.reason': 'no_agent_model_or_tool_span' } as const;
const noRunEvicted = { 'tracejury.reason': 'evicted_without_a_run' } as const;

/** Where the journal has a request, and where it had it first. */
interface Place {
  readonly position?: number | undefined;
  readonly origin?: number | undefined;
}

export function gathering(options: GatheringOptions): Gathering {
  const { clock, telemetry, limits = defaultGroupLimits } = options;
  let settings = inForce(options);
  const collectors = collectorsInForce(() => settings.dialects, options.collectors);
  const traces = traceTable(limits.tombstonesMax);
  const closed = closedTraces();
  const sessions = sessionTools<Trace>();
  const packing = { packer: spanPacker(keyShapes()), slabs: slabs() };
  const idle = idleTraces(clock, options.compaction === undefined ? packing : { ...packing, slabs: options.compaction });
  const references = journalReferences(traces, options.settled);
  const queue = deadlines<Trace>();
  const to = { ready: [] as Run[], telemetry, beforeClose: options.beforeClose };
  const scheduler = scanScheduler({ clock, queue, guarded, scan, settle });
  const roles = roleDetection(collectors);
  const planner = scanPlanner(() => settings.closing, roles.canCarryRun);
  const joins = joining({ traces, telemetry, spansMax: limits.spansPerTraceMax, gone: forget });
  const { relieve, isOldestActive } = relief({
    limits,
    clock,
    closed,
    traces,
    bytes: () => bytes,
    drop,
    evict: (trace) => guarded(trace, () => end(trace, () => 'evicted', noRunEvicted)),
  });
  let [bytes, ordinals] = [0, 0];

  function grew(trace: Trace, spanId: SpanId, by: number): void {
    trace.bytes += by;
    bytes += by;
    scheduler.arrived(trace);
    reopen(trace);
    idle.touched(trace);
    queue.set(trace, planner.arrived(trace, spanId, clock.nowMs()));
  }

  function reopen(trace: Trace): void {
    trace.done = false;
    closed.delete(trace);
  }

  function scanAgain(trace: Trace): void {
    scheduler.giveUp(trace);
    reopen(trace);
    trace.scanWholeAtMs = clock.nowMs();
    queue.set(trace, trace.scanWholeAtMs);
  }

  function hold(opened: Trace, span: Span, { position, origin }: Place): void {
    const nowMs = clock.nowMs();
    const trace = span.links.length > 0 && roles.facts(opened, span)?.followsLinks === true ? joins.byLinks(opened, span, nowMs) : opened;
    if (trace.closed !== undefined) telemetry.add('tracejury.spans.late', 1, { 'tracejury.reason': 'after_close' });
    trace.held.set(span.spanId, { span, arrivedMs: nowMs, position: origin ?? position ?? noPosition, ordinal: ordinals++ });
    references.add(trace, position);
    if (trace.wasDone && trace.closed?.has(span.spanId) !== true && roles.canCarryRun(trace, span)) trace.wasDone = false;
    trace.mayClose ||= roles.canCarryRun(trace, span);
    trace.isRooted ||= isRoot(span);
    trace.isOneAgents ||= span.parentSpanId === undefined && roles.isAgents(trace, span);
    grew(trace, span.spanId, span.wireBytes);
  }

  /** The trace is no more: it was dropped, or became part of another one. */
  function forget(trace: Trace): void {
    closed.delete(trace);
    scheduler.gone(trace);
    idle.gone(trace);
    sessions.forget(trace);
  }

  function drop(trace: Trace, over?: 'over'): void {
    traces.remove(trace, over);
    joins.forget(trace);
    forget(trace);
    bytes -= trace.bytes;
  }

  function draftsOf(trace: Trace): Lasting {
    return runSteps(drafting(trace, planner.whole(trace), roles.reading(trace)));
  }

  function* drafting(trace: Trace, { held }: Scan, reading: Reading): Steps<Lasting> {
    const assembled = yield* assembling({ ...reading, tenant: trace.tenant, held });
    for (const other of sessions.learn(trace, assembled)) scanAgain(other);
    const drafts = sessions.filled(assembled);
    if (settings.tools.size === 0) return withLastingKeys(drafts, trace.closed);
    const offered = drafts.map((draft) => ({
      ...draft,
      trace: { ...draft.trace, toolDefinitions: offeredTools(draft.trace.toolDefinitions, settings.tools) },
    }));
    return withLastingKeys(offered, trace.closed);
  }

  /** What runs are in a trace, joined to the traces that hold their other parts. */
  function* scan(trace: Trace, progress: ScanProgress): Steps<void> {
    if (trace.done) return drop(trace);
    const at = planner.due(trace, clock.nowMs());
    const reading = roles.reading(trace);
    // A record that comes before it is over must find what was read.
    if (at.held.length > spansPerStep) trace.reading = reading;
    const lasting = yield* drafting(trace, at, reading);
    const whole = joins.byFragments(trace, lasting.drafts);
    if (whole === undefined) scheduler.scanned(trace, { progress, isWhole: at.isWhole, lasting, reading });
    else scanAgain(whole);
  }

  /** Closes what is due in one trace and sets its next deadline. */
  function* settle(trace: Trace, { progress, isWhole, lasting, reading }: ScanResult): Steps<void> {
    const now = progress.newsMs ?? clock.nowMs();
    const pending: Pending[] = [];
    yield* closing(to, trace, lasting, (draft) => {
      const { atMs, completeness } = closesAt(draft, progress.lastMs, settings.closing);
      if (atMs <= now) return completeness;
      pending.push({ spanId: draft.span.spanId, atMs });
      return undefined;
    });
    const scanAtMs = planner.over(trace, pending, progress);
    const goesOn = pending.length > 0 || !isWhole || progress.newsMs !== undefined;
    trace.reading = goesOn ? reading : undefined;
    if (goesOn) {
      idle.touched(trace);
      return queue.set(trace, scanAtMs);
    }
    idle.gone(trace);
    const { drafts } = lasting;
    const endMs = trace.lastMs + (drafts.length === 0 ? settings.closing.abandonMs : settings.closing.lateMs);
    trace.done = drafts.length > 0;
    if (trace.done) {
      trace.wasDone = true;
      closed.add(trace);
      trace.held.pack(packing);
      references.finish(trace);
    } else references.showsNoRun(trace);
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

  /** Whatever may still come, and at once. */
  function end(trace: Trace, closes: (draft: Draft) => Completeness, withoutRun: { readonly 'tracejury.reason': string }): void {
    const lasting = draftsOf(trace);
    runSteps(closing(to, trace, lasting, closes));
    if (lasting.drafts.length === 0) telemetry.add('tracejury.traces.dropped', 1, withoutRun);
    references.finish(trace);
    drop(trace);
  }

  function takeSpans(tenant: Tenant, spans: readonly Span[], place: Place = {}): void {
    for (const span of spans) {
      if (span.attribute(wire.generated) === true) {
        telemetry.add('tracejury.spans.own', 1);
        continue;
      }
      const trace = traces.open(tenant, span.traceId, clock.nowMs());
      if (trace === undefined) telemetry.add('tracejury.spans.late', 1, { 'tracejury.reason': 'after_late' });
      else if (trace.held.has(span.spanId)) telemetry.add('tracejury.spans.duplicate', 1);
      else if (trace.held.size >= limits.spansPerTraceMax) telemetry.add('tracejury.spans.over_limit', 1);
      else hold(trace, span, place);
    }
  }

  function takeRecords(tenant: Tenant, records: readonly LogRecord[], position?: number): void {
    for (const record of records) {
      if (
        record.spanId === undefined ||
        record.attribute(wire.generated) === true ||
        !collectors().some((collector) => collector.logs?.events.includes(record.eventName))
      )
        continue;
      const trace = traces.open(tenant, record.traceId, clock.nowMs());
      if (trace === undefined || trace.records.size >= limits.recordsPerTraceMax || !trace.records.add(record.spanId, record)) continue;
      trace.reading?.readingCache?.delete(record.spanId);
      references.add(trace, position);
      grew(trace, record.spanId, record.wireBytes);
    }
  }

  function emptied(trace: Trace): void {
    scheduler.giveUp(trace);
    bytes -= trace.bytes;
    trace.bytes = 0;
  }

  return {
    ...reopening({
      traces,
      references,
      telemetry,
      takeSpans,
      takeRecords,
      guarded,
      drop,
      relieve,
      emptied,
      openedUntilMs: () => clock.nowMs() - settings.closing.quietMs / 2,
      draftsOf: (trace) => draftsOf(trace).drafts,
    }),
    addSpans(tenant, spans, position, origin) {
      takeSpans(tenant, spans, { position, origin });
      relieve();
    },
    addRecords(tenant, records, position) {
      takeRecords(tenant, records, position);
      relieve();
    },
    due(piecesMax = Infinity) {
      scheduler.goOn(piecesMax);
      return to.ready.splice(0);
    },
    nextDueMs: scheduler.nextMs,
    closeAll() {
      scheduler.giveUpAll();
      for (const trace of traces.all()) {
        guarded(trace, () => {
          if (trace.done) drop(trace);
          else end(trace, (draft) => closesAt(draft, trace.lastMs, settings.closing).completeness, noRun);
        });
      }
      return to.ready.splice(0);
    },
    references,
    exchange(next) {
      settings = inForce(next);
      for (const trace of scheduler.giveUpAll()) scanAgain(trace);
    },
    relieve,
    packIdle: idle.pack,
    isOldestActive,
    bytes: () => bytes,
    openBytes: () => bytes - closed.bytes(),
    traces: () => traces.size(),
  };
}

/** What the gathering of spans offers, and what it needs. */
export interface Gathering extends Reopening {
  /** `position` tells where the journal has the request that they came with, `origin` where it had it before it was written again. */
  addSpans(tenant: Tenant, spans: readonly Span[], position?: number, origin?: number): void;
  addRecords(tenant: Tenant, records: readonly LogRecord[], position?: number): void;
  readonly references: JournalReferences;
  /**
   * Runs that close now; does at most so many pieces of scanning and as many of closing; the host does other work in between. With 0 it gives those
   * that had to close for want of room: the journal learns at once that they are finished, so the host asks in the turn that added or dropped something.
   */
  due(piecesMax?: number): readonly Run[];
  /** When to ask again, in milliseconds since the epoch; undefined while nothing waits. */
  nextDueMs(): number | undefined;
  /** Closes everything that is open, for the end of the process. */
  closeAll(): readonly Run[];
  /** For everything that closes from now on. What a scan covered and has not closed is scanned again. */
  exchange(settings: GatheringSettings): void;
  /** Brings what is held within the limits, when one of them has become tighter. What closes is due at once. */
  relieve(): void;
  /** Makes the spans of so many open traces smaller to which nothing has come for a while. */
  packIdle(tracesMax: number): void;
  /** True: spans still come to the open trace that was begun first. */
  isOldestActive(): boolean;
  readonly bytes: () => number;
  /** Of these, what belongs to traces that are not done. */
  readonly openBytes: () => number;
  readonly traces: () => number;
}

export interface GatheringOptions extends GatheringSettings {
  readonly collectors: readonly Collector[];
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly limits?: GroupLimits;
  /** Makes the spans of traces smaller that are open for long; absent: they stay as long as they are. */
  readonly compaction?: SlabAllocator;
  /** Work on a large run, a piece at a time, before it closes: once it has closed, its verdicts must come in the same turn. */
  readonly beforeClose?: (run: Run) => Steps<void>;
  /** Told of the keys of traces of which nothing is open any more, or that have shown no run so far; the verdicts of their runs come in the same turn. */
  readonly settled?: (keys: readonly string[]) => void;
}
