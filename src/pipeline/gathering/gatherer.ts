/**
 * Gathers spans and log records by trace until their runs close:
 *
 *   spans, records → arrivals → traces, until they are due → trace closer → runs
 *
 * Traces that turn out to hold parts of one run are gathered together. Pure under its clock.
 */
import type { Run } from '../../model/agent-trace.ts';
import type { Tenant } from '../../model/ids.ts';
import type { MemoryReference } from '../../model/ingest.ts';
import type { LogRecord, Span } from '../../model/span.ts';
import { keyShapes } from '../../otlp/read/key-shapes.ts';
import { spanPacker } from '../../otlp/cut/span-packing.ts';
import { arrivals } from './arrivals.ts';
import { inForce, defaultGroupLimits, type GatheringSettings, type GroupLimits } from './close-policy.ts';
import { eviction, type Eviction } from './eviction.ts';
import { idleTraces } from './idle-compaction.ts';
import { joining } from './trace-joining.ts';
import { scanPlanner } from './scan-planner.ts';
import { sessionTools, type SessionNote } from '../assembly/session-tool-definitions.ts';
import { sharedJoining, type OtherGatherers } from './hand-over.ts';
import { reopening, type Reopening } from './late-spans.ts';
import { slabs, type SlabAllocator } from './slab-allocator.ts';
import { journalReferences, type JournalReferences } from './journal-references.ts';
import type { Steps } from '../../runtime/cooperative.ts';
import { contentHashing } from './revisions.ts';
import { roleDetection } from './role-detection.ts';
import { traceCloser } from './trace-closer.ts';
import { tenantOf, traceIdOf, traceTable, type Trace } from './trace-table.ts';
import { collectorsInForce, type Collector } from '../../../collectors/collector.ts';
import type { Context } from '../../telemetry/context.ts';

export function gathering(options: GatheringOptions): Gathering {
  const { clock, telemetry, limits = defaultGroupLimits } = options;
  let settings = inForce(options);
  const collectors = collectorsInForce(() => settings.dialects, options.collectors);
  const traces = traceTable(limits.tombstonesMax);
  const { others } = options;
  const sessions = sessionTools<Trace>(others?.publish);
  const packing = { packer: spanPacker(keyShapes()), slabs: slabs() };
  const idle = idleTraces({
    clock,
    packing: options.compaction === undefined ? packing : { ...packing, slabs: options.compaction },
    isScanned: (trace) => closer.isScanned(trace),
  });
  const contentHash = contentHashing();
  const references = journalReferences(traces, options.settled, others?.left);
  const roles = roleDetection(collectors);
  const planner = scanPlanner(() => settings.closing, roles.canCarryRun);
  const memory: Eviction = eviction({ limits, clock, traces, gone, evict: (trace) => closer.evict(trace) });
  const joinsHere = joining({ traces, telemetry, spansMax: limits.spansPerTraceMax, gone: memory.joined, linked: others?.claim });
  const joins = others === undefined ? joinsHere : sharedJoining(others, joinsHere);
  const shared = { clock, telemetry, limits, traces, memory, roles, joins, planner, references };
  const closer = traceCloser({
    ...shared,
    settings: () => settings,
    sessions,
    idle,
    packing,
    contentHash,
    bodies: options.bodies,
    beforeClose: options.beforeClose,
    isReceiving: options.isReceiving ?? (() => false),
    partsLateMs: others?.lateMs ?? (() => 0),
  });
  const arriving = arrivals({ ...shared, collectors, arrived: closer.arrived });

  function gone(trace: Trace): void {
    joins.forget(trace);
    closer.gone(trace);
    idle.gone(trace);
    sessions.forget(trace);
  }

  return {
    ...reopening({
      traces,
      references,
      telemetry,
      contentHash,
      takeSpans: arriving.spans,
      takeRecords: arriving.records,
      guarded: closer.guarded,
      drop: memory.drop,
      relieve: memory.relieve,
      emptied(trace) {
        closer.giveUp(trace);
        memory.emptied(trace);
      },
      openedUntilMs: () => clock.nowMs() - settings.closing.quietMs / 2,
      draftsOf: closer.draftsOf,
    }),
    addSpans(tenant, spans, position, origin, bodyMemory) {
      arriving.spans(tenant, spans, { position, origin, memory: bodyMemory });
      memory.relieve();
    },
    addRecords(tenant, records, position) {
      arriving.records(tenant, records, position);
      memory.relieve();
    },
    due: (piecesMax = Infinity) => closer.due(piecesMax),
    nextDueMs: closer.nextDueMs,
    closeAll: closer.closeAll,
    references,
    exchange(next) {
      settings = inForce(next);
      closer.scanAllAgain();
    },
    handOver(key) {
      const trace = traces.find(tenantOf(key), traceIdOf(key));
      // Its requests are released, so there is nothing to hand over, and its later spans complete it here.
      if (trace?.done === true) return;
      joins.claimed(key);
      if (trace !== undefined) closer.scanAgain(trace);
    },
    hear(note) {
      for (const trace of sessions.hear(note)) closer.scanAgain(trace);
    },
    drop(isLost) {
      const again = new Set<number>();
      for (const trace of traces.all()) {
        if (!trace.done && !trace.positions.some(isLost)) continue;
        for (const position of trace.positions) if (!isLost(position)) again.add(position);
        memory.drop(trace, 'left');
      }
      traces.forgetGone();
      // Another gatherer may join them now.
      for (const trace of traces.all()) closer.scanAgain(trace);
      return [...again];
    },
    relieve: memory.relieve,
    packIdle: idle.pack,
    isOldestActive: memory.isOldestActive,
    bytes: memory.bytes,
    openBytes: memory.openBytes,
    openTraces: memory.openTraces,
    traces: traces.size,
  };
}

/** Interface of the gathering of spans. */
export interface Gathering extends Reopening {
  /**
   * `position`: where the journal has the request that they came with; `origin`: where it had it before it was written again; `memory`: the memory
   * that holds them, where that is reused.
   */
  addSpans(tenant: Tenant, spans: readonly Span[], position?: number, origin?: number, memory?: MemoryReference): void;
  addRecords(tenant: Tenant, records: readonly LogRecord[], position?: number): void;
  readonly references: JournalReferences;
  /**
   * Runs that close now; does at most `piecesMax` pieces of scanning and as many of closing; the host does other work in between. With 0 it gives
   * those that had to close for want of room: the journal learns at once that they are finished, so the host asks in the turn that added or dropped
   * something.
   */
  due(piecesMax?: number): readonly Run[];
  /** When to ask again, in milliseconds since the epoch; undefined while nothing waits. */
  nextDueMs(): number | undefined;
  /** Closes everything that is open, for the end of the process. */
  closeAll(): readonly Run[];
  /** Applies to everything that closes from now on. Traces that a scan covered and has not closed are scanned again. */
  exchange(settings: GatheringSettings): void;
  /** The trace with this key belongs to another gatherer. */
  handOver(key: string): void;
  /** Another gatherer reports tools. */
  hear(note: SessionNote): void;
  /**
   * Another gatherer has the requests at these positions. Drops the traces that need one of them, and all closed ones: the other may continue them.
   * Returns the other positions of the dropped traces, whose requests are to be gathered again.
   */
  drop(isLost: (position: number) => boolean): readonly number[];
  /** Brings the held data within the limits, when one of them has become tighter. Runs that close are due at once. */
  relieve(): void;
  /** Compacts the spans of up to `tracesMax` idle traces. `true` when more are due. */
  packIdle(tracesMax: number): boolean;
  /** True while spans still come to the open trace that was begun first. */
  isOldestActive(): boolean;
  readonly bytes: () => number;
  /** Bytes of the traces that are not done. */
  readonly openBytes: () => number;
  /** Traces that are not done. The others wait for late spans. */
  readonly openTraces: () => number;
  readonly traces: () => number;
}

export interface GatheringOptions extends GatheringSettings, Pick<Context, 'clock' | 'telemetry'> {
  readonly collectors: readonly Collector[];
  readonly limits?: GroupLimits;
  /** Memory of the bodies that hold spans; without it, spans of closed traces are copied out of the bodies. */
  readonly bodies?: { readonly usedBytes: () => number };
  /** Compacts the spans of traces that are open for long; omitted to leave them unchanged. */
  readonly compaction?: SlabAllocator;
  /** Omitted when all traces are here. */
  readonly others?: OtherGatherers;
  /** Work on a large run, a piece at a time, before it closes: once it has closed, its verdicts must come in the same turn. */
  readonly beforeClose?: (run: Run) => Steps<void>;
  /** True while a request has begun whose spans are not here yet. Omitted when that cannot happen. */
  readonly isReceiving?: () => boolean;
  /** Receives the keys of traces without anything open, or that have shown no run so far; the verdicts of their runs come in the same turn. */
  readonly settled?: (keys: readonly string[]) => void;
}
