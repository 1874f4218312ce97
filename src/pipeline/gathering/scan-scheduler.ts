/**
 * The one look that is under way. A large trace is looked at, and its runs are closed, a piece at a time, and spans come in between. The look goes
 * on with what was there when it began: were it begun again for every span that comes, a trace that never goes quiet would never be looked at. It
 * closes what it would have closed just before they came, and they are news for the next look.
 */
import type { ScanProgress, ScanResult } from './scan-planner.ts';
import type { Clock } from '../../model/clock.ts';
import type { Deadlines } from '../../runtime/deadline-queue.ts';
import type { Steps } from '../../runtime/cooperative.ts';
import { earlier } from '../../model/nano-time.ts';
import type { Trace } from './trace-table.ts';

interface ScanScheduler {
  /** Does so many pieces of looking at most, and as many of closing. */
  goOn(piecesMax: number): void;
  /** What was looked at waits for those that are due with it. */
  scanned(trace: Trace, result: ScanResult): void;
  /** When the first trace was due, or is, that is not through; undefined: none will be. */
  nextMs(): number | undefined;
  /** Something has come for the trace: a look that is done in one turn is begun again. */
  arrived(trace: Trace): void;
  /** What is looked at is not what it was. */
  giveUp(trace: Trace): void;
  /** The trace is no more. */
  gone(trace: Trace): void;
  /** Gives the traces up that have been looked at, or are, and are not through. */
  giveUpAll(): readonly Trace[];
}

interface ScanSchedulerDeps {
  readonly clock: Clock;
  readonly queue: Deadlines<Trace>;
  /** When a step of it fails nothing goes on with the trace. */
  readonly guarded: (trace: Trace, step: () => void) => void;
  /** Looks at a trace, and says so by `looked`. */
  readonly scan: (trace: Trace, progress: ScanProgress) => Steps<void>;
  /** Closes what is due in it. */
  readonly settle: (trace: Trace, result: ScanResult) => Steps<void>;
}

/** A turn of looking that took so long leaves the closing to the next one. */
const longMs = 5;

export function scanScheduler({ clock, queue, guarded, scan, settle }: ScanSchedulerDeps): ScanScheduler {
  const waiting = joinWindow();
  let work: { readonly trace: Trace; readonly progress: ScanProgress; readonly steps: Steps<void> } | undefined;
  /** The last turn was one of looking: were it followed by another, nothing would close while all that is due takes long. */
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

  /** False: nothing is due. */
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

  /** False: nothing that was looked at may close by now. */
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
      // Nothing closes while a trace is looked at, and nothing else before: one that was looked at later may have shown that an earlier one is part of its run.
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

/** Traces that were looked at and wait for those that are due with them: one of these may show that it holds other parts of one of their runs. */

/** Traces that are due within so short a time may hold parts of one run: none of them closes before all were looked at. */
const joinWindowMs = 50;

interface JoinWindow {
  add(trace: Trace, result: ScanResult): void;
  remove(trace: Trace): void;
  /** Undefined: it does not wait here. */
  progressOf(trace: Trace): ScanProgress | undefined;
  /** The first one, if it need not wait any more while the next one to be looked at is due at `nextMs`. It is no longer among them. */
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
