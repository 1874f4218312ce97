/**
 * The one scan that is in progress. It scans a large trace, and closes its runs, a piece at a time; spans arrive in between. A scan continues
 * with the spans that were there when it began: if every span restarted it, a trace that never goes quiet would never be scanned. It closes
 * what it would have closed just before they arrived, and the next scan covers them.
 */
import type { ScanProgress, ScanResult } from './scan-planner.ts';
import type { Clock } from '../../model/clock.ts';
import type { Deadlines } from '../../runtime/deadline-queue.ts';
import type { Steps } from '../../runtime/cooperative.ts';
import { earlier } from '../../model/nano-time.ts';
import type { Trace } from './trace-table.ts';

interface ScanScheduler {
  /** Does at most `piecesMax` pieces of scanning, and as many of closing. */
  goOn(piecesMax: number): void;
  /** The result waits for the traces that are due with this one. */
  scanned(trace: Trace, result: ScanResult): void;
  /** When the first unfinished trace is, or was, due; `undefined` when none is. */
  nextMs(): number | undefined;
  /** A span or record arrived: a scan that ends within one turn begins again. */
  arrived(trace: Trace): void;
  /** A scan of the trace is in progress or waits to close: it reads the spans as it found them. */
  isScanned(trace: Trace): boolean;
  /** The trace no longer equals the scanned one. */
  giveUp(trace: Trace): void;
  /** The trace is gone. */
  gone(trace: Trace): void;
  /** Abandons all scans, and returns their traces. */
  giveUpAll(): readonly Trace[];
}

interface ScanSchedulerDeps {
  readonly clock: Clock;
  readonly queue: Deadlines<Trace>;
  /** When a step of it fails nothing goes on with the trace. */
  readonly guarded: (trace: Trace, step: () => void) => void;
  /** Scans a trace, and reports by `scanned`. */
  readonly scan: (trace: Trace, progress: ScanProgress) => Steps<void>;
  /** Closes what is due in it. */
  readonly settle: (trace: Trace, result: ScanResult) => Steps<void>;
}

/** A turn of scanning that took this long leaves closing to the next turn. */
const longMs = 5;

export function scanScheduler({ clock, queue, guarded, scan, settle }: ScanSchedulerDeps): ScanScheduler {
  const waiting = joinWindow();
  let work: { readonly trace: Trace; readonly progress: ScanProgress; readonly steps: Steps<void> } | undefined;
  /** The last turn scanned: if the next one did too, nothing would close while scans take long. */
  let closesNext = false;

  function begin(trace: Trace, progress: ScanProgress, steps: Steps<void>): void {
    work = { trace, progress, steps };
    piece();
  }

  function piece(): void {
    if (work === undefined) return;
    const { trace, progress, steps } = work;
    guarded(trace, () => {
      if (steps.next().done !== true) progress.isLong = true;
      else if (work?.steps === steps) work = undefined;
    });
  }

  /** False when nothing is due. */
  function scanOn(nowMs: number): boolean {
    if (work !== undefined) {
      piece();
      return true;
    }
    const dueMs = queue.nextMs() ?? nowMs;
    const trace = queue.takeDue(nowMs);
    if (trace === undefined) return false;
    const progress: ScanProgress = { dueMs, lastMs: trace.lastMs, isLong: false, newsMs: undefined };
    begin(trace, progress, scan(trace, progress));
    return true;
  }

  /** False when no scanned trace may close yet. */
  function settleOn(nowMs: number): boolean {
    if (work !== undefined) {
      piece();
      return true;
    }
    const [trace, result] = waiting.take(nowMs, queue.nextMs() ?? Infinity) ?? [];
    if (trace === undefined || result === undefined) return false;
    begin(trace, result.progress, settle(trace, result));
    return true;
  }

  return {
    goOn(piecesMax) {
      if (piecesMax === 0) return;
      const nowMs = clock.nowMs();
      const mayScan = !closesNext || piecesMax === Infinity;
      let pieces = 0;
      while (mayScan && pieces < piecesMax && scanOn(nowMs)) pieces++;
      // Nothing closes during a scan: a trace that is scanned later may show that an earlier one is part of its run.
      if (work !== undefined) return;
      closesNext = mayScan && piecesMax !== Infinity && clock.nowMs() - nowMs >= longMs;
      if (closesNext) return;
      pieces = 0;
      while (pieces < piecesMax && settleOn(nowMs)) pieces++;
    },
    scanned: waiting.add,
    nextMs: () => earlier(work?.progress.dueMs, earlier(waiting.sinceMs(), queue.nextMs())),
    arrived(trace) {
      const progress = work?.trace === trace ? work.progress : waiting.progressOf(trace);
      if (progress?.isLong === true) progress.newsMs ??= clock.nowMs();
      else if (progress !== undefined) waiting.remove(trace);
    },
    isScanned: (trace) => work?.trace === trace || waiting.progressOf(trace) !== undefined,
    giveUp(trace) {
      if (work?.trace === trace) work = undefined;
    },
    gone(trace) {
      if (work?.trace === trace) work = undefined;
      waiting.remove(trace);
      queue.remove(trace);
    },
    giveUpAll() {
      const all = waiting.takeAll();
      const trace = work?.trace;
      work = undefined;
      return trace === undefined ? all : [...all, trace];
    },
  };
}

/** Scanned traces that wait for those that are due with them: one of these may hold other parts of one of their runs. */

/** Traces that are due within this time may hold parts of one run: none of them closes before all are scanned. */
const joinWindowMs = 50;

interface JoinWindow {
  add(trace: Trace, result: ScanResult): void;
  remove(trace: Trace): void;
  /** Undefined: it does not wait here. */
  progressOf(trace: Trace): ScanProgress | undefined;
  /** Takes the first result, when it need not wait for a scan that is due at `nextMs`. */
  take(nowMs: number, nextMs: number): readonly [Trace, ScanResult] | undefined;
  takeAll(): readonly Trace[];
  /** When the first one of them was due. */
  sinceMs(): number | undefined;
}

function joinWindow(): JoinWindow {
  /** In the order in which they were due. */
  const results = new Map<Trace, ScanResult>();
  return {
    add: (trace, result) => void results.set(trace, result),
    remove: (trace) => void results.delete(trace),
    progressOf: (trace) => results.get(trace)?.progress,
    take(nowMs, nextMs) {
      const first = results.entries().next().value;
      if (first === undefined || (nextMs <= nowMs && nextMs <= first[1].progress.dueMs + joinWindowMs)) return undefined;
      results.delete(first[0]);
      return first;
    },
    takeAll() {
      const all = [...results.keys()];
      results.clear();
      return all;
    },
    sinceMs: () => results.values().next().value?.progress.dueMs,
  };
}
