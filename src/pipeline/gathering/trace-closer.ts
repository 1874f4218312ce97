/**
 * Scans the traces that are due and closes their runs by accounting, not only by silence.
 *
 * A run closes when its agent's span has arrived and
 *   - everything that its spans announce has arrived, `settle` after its last span: complete. The shorter of the two defaults holds for the first
 *     close of a trace that came in one request, while no other request is being received;
 *   - something is still missing, `quiet` after its last span: partial.
 * Without an agent's span (or a root that replaces it) only `abandon` after the trace's last span closes it: abandoned.
 * When memory runs short the oldest trace closes at once: evicted.
 * Spans that come later, within `late`, make the next revision, and only if they change the content.
 */
import type { Completeness, Run } from '../../model/agent-trace.ts';
import { deadlines } from '../../runtime/deadline-queue.ts';
import { runSteps, type Steps } from '../../runtime/cooperative.ts';
import { assembling, type Draft } from '../assembly/assemble.ts';
import { offeredTools, type SessionTools } from '../assembly/session-tool-definitions.ts';
import type { Reading } from '../assembly/span-facts.ts';
import { spansPerStep } from '../assembly/span-tree.ts';
import { closesAt, settleMsOf, type InForce } from './close-policy.ts';
import type { Eviction } from './eviction.ts';
import type { Packing } from './held-spans.ts';
import type { IdleTraces } from './idle-compaction.ts';
import type { JournalReference } from './journal-references.ts';
import { closing, type ContentHash } from './revisions.ts';
import type { RoleDetection } from './role-detection.ts';
import { withLastingKeys, type Lasting } from './run-identity.ts';
import type { Pending, Scan, ScanPlanner, ScanProgress, ScanResult } from './scan-planner.ts';
import { scanScheduler } from './scan-scheduler.ts';
import type { Joining } from './trace-joining.ts';
import type { Trace, TraceTable } from './trace-table.ts';
import type { Context } from '../../telemetry/context.ts';

interface CloserDeps extends Pick<Context, 'clock' | 'telemetry'> {
  readonly settings: () => InForce;
  readonly traces: TraceTable;
  readonly memory: Eviction;
  readonly roles: RoleDetection;
  readonly planner: ScanPlanner;
  readonly joins: Joining;
  readonly sessions: SessionTools<Trace>;
  readonly idle: IdleTraces;
  readonly references: JournalReference;
  readonly packing: Packing;
  readonly contentHash: ContentHash;
  /** Memory of the bodies that hold spans; without it, memory is never reused, and spans of closed traces are copied out of it. */
  readonly bodies?: { readonly usedBytes: () => number } | undefined;
  readonly beforeClose?: ((run: Run) => Steps<void>) | undefined;
  /** A request has begun whose spans are not here yet. */
  readonly isReceiving: () => boolean;
  /** Milliseconds that parts of runs may need until they are here. */
  readonly partsLateMs: () => number;
}

interface TraceCloser {
  /** Something came for the trace, which is to be scanned at `scanMs`. */
  arrived(trace: Trace, scanMs: number): void;
  /** The trace is gone. */
  gone(trace: Trace): void;
  giveUp(trace: Trace): void;
  /** A scan of the trace is in progress or waits to close: it reads the spans as it found them. */
  isScanned(trace: Trace): boolean;
  /** Scans and closes what is due, in at most `piecesMax` pieces. */
  due(piecesMax: number): readonly Run[];
  nextDueMs(): number | undefined;
  evict(trace: Trace): void;
  closeAll(): readonly Run[];
  /** Scans again what was scanned and has not closed: other settings hold. */
  scanAllAgain(): void;
  scanAgain(trace: Trace): void;
  draftsOf(trace: Trace): readonly Draft[];
  /** A trace that cannot be read is dropped and counted; the others go on. */
  guarded(trace: Trace, step: (trace: Trace) => void): void;
}

const noRun = { 'tracejury.reason': 'no_agent_model_or_tool_span' } as const;
const noRunEvicted = { 'tracejury.reason': 'evicted_without_a_run' } as const;

/**
 * Closed traces stay in the bodies that brought them while these take at most this many bytes, and this many for each byte of the traces: one small
 * trace must not hold a large body.
 */
const lyingBytesMax = 16 * 1024 * 1024;
const lyingShareMax = 1.5;

export function traceCloser(deps: CloserDeps): TraceCloser {
  const {
    clock,
    telemetry,
    settings,
    traces,
    memory,
    roles,
    planner,
    joins,
    sessions,
    idle,
    references,
    packing,
    bodies,
    contentHash,
    beforeClose,
    isReceiving,
    partsLateMs,
  } = deps;
  const queue = deadlines<Trace>();
  const to = { ready: [] as Run[], telemetry, beforeClose, contentHash, versionKey: () => settings().versionKey };
  const scheduler = scanScheduler({ clock, queue, guarded, scan, settle });

  function scanAgain(trace: Trace): void {
    scheduler.giveUp(trace);
    memory.reopened(trace);
    trace.scanWholeAtMs = clock.nowMs();
    queue.set(trace, trace.scanWholeAtMs);
  }

  function wholeOf(trace: Trace): Lasting {
    return runSteps(drafting(trace, planner.whole(trace), roles.reading(trace)));
  }

  function* drafting(trace: Trace, { held }: Scan, reading: Reading): Steps<Lasting> {
    const assembled = yield* assembling({ ...reading, tenant: trace.tenant, held });
    for (const other of sessions.learn(trace, assembled)) scanAgain(other);
    const drafts = sessions.filled(assembled);
    const { tools } = settings();
    if (tools.size === 0) return withLastingKeys(drafts, trace.closed);
    const offered = drafts.map((draft) => ({
      ...draft,
      trace: { ...draft.trace, toolDefinitions: offeredTools(draft.trace.toolDefinitions, tools) },
    }));
    return withLastingKeys(offered, trace.closed);
  }

  /** A request that is being received may bring more of the trace. */
  function settleMsNow(trace: Trace): number {
    const { closing: times } = settings();
    return isReceiving() ? times.settleMs : settleMsOf(trace, times);
  }

  /** Finds the runs of a trace, joined to the traces that hold their other parts. */
  function* scan(trace: Trace, progress: ScanProgress): Steps<void> {
    if (trace.done) return memory.drop(trace);
    if (joins.leaves(trace)) return leave(trace);
    const { closing: times } = settings();
    const settledMs = trace.lastMs + times.settleMs;
    // A scan now would close nothing.
    if (isReceiving() && settleMsOf(trace, times) < times.settleMs && clock.nowMs() < settledMs) return queue.set(trace, settledMs);
    const at = planner.due(trace, clock.nowMs());
    const reading = roles.reading(trace);
    // A record that comes before it is over must find what was read.
    if (at.held.length > spansPerStep) trace.reading = reading;
    const lasting = yield* drafting(trace, at, reading);
    if (joins.leaves(trace, lasting.drafts, reading)) return leave(trace);
    const whole = joins.byFragments(trace, lasting.drafts);
    if (whole === undefined) scheduler.scanned(trace, { progress, isWhole: at.isWhole, lasting, reading });
    else scanAgain(whole);
  }

  function leave(trace: Trace): void {
    references.leave(trace);
    memory.drop(trace, 'left');
  }

  /** Closes what is due in one trace and sets its next deadline. */
  function* settle(trace: Trace, { progress, isWhole, lasting, reading }: ScanResult): Steps<void> {
    const now = progress.newsMs ?? clock.nowMs();
    const times = settings().closing;
    const arrival = { lastMs: progress.lastMs, settleMs: settleMsNow(trace), partsLateMs: partsLateMs() };
    const pending: Pending[] = [];
    yield* closing(to, trace, lasting, (draft) => {
      const { atMs, completeness } = closesAt(draft, arrival, times);
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
    const endMs = trace.lastMs + (drafts.length === 0 ? times.abandonMs : times.lateMs);
    if (drafts.length === 0) references.showsNoRun(trace);
    else {
      memory.done(trace);
      pack(trace);
      references.finish(trace);
    }
    if (endMs > now) return queue.set(trace, endMs);
    if (drafts.length === 0) telemetry.add('tracejury.traces.dropped', 1, noRun);
    memory.drop(trace);
  }

  /** Copying a trace that may never be read again costs a tenth of a span's whole cost. */
  function pack(trace: Trace): void {
    if (trace.memory.isWhole && bodies !== undefined && bodies.usedBytes() <= lyingBytesMax + memory.bytes() * lyingShareMax)
      trace.held.packInPlace(packing.packer);
    else if (trace.held.pack(packing)) trace.memory.release();
  }

  function guarded(trace: Trace, step: (trace: Trace) => void): void {
    try {
      step(trace);
    } catch {
      telemetry.add('tracejury.traces.dropped', 1, { 'tracejury.reason': 'unreadable' });
      memory.drop(trace);
    }
  }

  /** Closes at once, without waiting for what may still come. */
  function end(trace: Trace, closes: (draft: Draft) => Completeness, withoutRun: { readonly 'tracejury.reason': string }): void {
    const lasting = wholeOf(trace);
    runSteps(closing(to, trace, lasting, closes));
    if (lasting.drafts.length === 0) telemetry.add('tracejury.traces.dropped', 1, withoutRun);
    references.finish(trace);
    memory.drop(trace);
  }

  return {
    arrived(trace, scanMs) {
      scheduler.arrived(trace);
      idle.touched(trace);
      queue.set(trace, scanMs);
    },
    gone: scheduler.gone,
    giveUp: scheduler.giveUp,
    isScanned: scheduler.isScanned,
    due(piecesMax) {
      scheduler.goOn(piecesMax);
      return to.ready.splice(0);
    },
    nextDueMs: scheduler.nextMs,
    evict: (trace) => guarded(trace, () => end(trace, () => 'evicted', noRunEvicted)),
    closeAll() {
      scheduler.giveUpAll();
      for (const trace of traces.all()) {
        guarded(trace, () => {
          if (trace.done) memory.drop(trace);
          else end(trace, (draft) => closesAt(draft, { lastMs: trace.lastMs, settleMs: 0 }, settings().closing).completeness, noRun);
        });
      }
      return to.ready.splice(0);
    },
    scanAllAgain() {
      for (const trace of scheduler.giveUpAll()) scanAgain(trace);
    },
    scanAgain,
    draftsOf: (trace) => wholeOf(trace).drafts,
    guarded,
  };
}
