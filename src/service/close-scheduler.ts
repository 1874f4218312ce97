/** Lets runs close when they are due, between the requests that are answered. */
import { zstdDecompressSync } from 'node:zlib';
import type { Clock, Sleep } from '../model/clock.ts';
import { type SlabAllocator, slabs } from '../pipeline/gathering/slab-allocator.ts';
import type { Pipeline } from '../pipeline/pipeline.ts';
import { periodicTask, type PeriodicTask } from '../runtime/periodic-task.ts';
import { compressed } from '../stores/compression.ts';

/** Done before the clock is looked at again. A trace is one piece of well under a millisecond, a large one many of some milliseconds each. */
const piecesPerStep = 1;
/** However slowly the clock goes. */
const stepsPerTickMax = 1_000;
/** The longest that a timer sleeps: a later deadline is looked at again then. */
const timerMsMax = 60_000;
/** Of one tick, while closing is in time: the more the later it is. A request waits so long for it in every turn that it takes. */
const tickMsLeast = 1;
const tickMsUsual = 5;
const tickMsMax = 100;
/** From here on closing is behind, and takes time from the requests. */
const lateMs = 100;
/** When it is this late it gets nine parts of ten. */
const veryLateMs = 1_000;
const partsMax = 9;
/** Until whoever takes what closes is asked again whether they have caught up. */
const restMs = 20;

export interface CloseScheduler {
  /** Looks at the next deadline again. */
  readonly wake: () => void;
  readonly stop: () => void;
}

interface CloseSchedulerOptions {
  readonly flow: Pick<Pipeline, 'advance' | 'nextDueMs'>;
  readonly clock: Clock;
  /** True: whoever takes what closes is behind, so that runs stay open a little longer. */
  readonly mustWait?: () => boolean;
  /** Told of a trace that could not be closed. */
  readonly onFault: (error: unknown) => void;
}

/** Advances the flow when something is due: one timer, set to the next deadline. */
export function closeSchedulerOf({ flow, clock, mustWait = () => false, onFault }: CloseSchedulerOptions): CloseScheduler {
  let timer: NodeJS.Timeout | undefined;
  let turn: NodeJS.Immediate | undefined;
  let dueMs = Infinity;
  let endedMs = clock.nowMs();

  /** How late the next deadline is; negative: it is still to come. */
  function overdueMs(): number {
    return clock.nowMs() - (flow.nextDueMs() ?? Infinity);
  }

  function tick(): void {
    turn = undefined;
    dueMs = Infinity;
    const startMs = clock.nowMs();
    const untilMs = startMs + tickMs(overdueMs(), startMs - endedMs);
    try {
      for (let step = 0; step < stepsPerTickMax && !mustWait(); step++) {
        flow.advance(piecesPerStep);
        if (overdueMs() < 0 || clock.nowMs() >= untilMs) break;
      }
    } catch (error) {
      // One trace that cannot be read must not stop the others; the fault is ours, so it is told loudly.
      onFault(error);
    }
    endedMs = clock.nowMs();
    wake();
  }

  function wake(): void {
    const next = flow.nextDueMs();
    if (next === undefined || next >= dueMs) return;
    clearTimeout(timer);
    dueMs = next;
    const waitMs = Math.min(timerMsMax, Math.ceil(next - clock.nowMs()));
    // What is overdue comes after the requests that wait, and before anything else.
    if (mustWait()) timer = setTimeout(tick, Math.max(restMs, waitMs));
    else if (waitMs <= 0) turn ??= setImmediate(tick);
    else timer = setTimeout(tick, waitMs);
  }

  function stop(): void {
    clearTimeout(timer);
    clearImmediate(turn);
  }

  return { wake, stop };
}

/**
 * How long one tick may take. Requests that keep coming must not starve the closing: what is accepted and never closed fills the memory. So when
 * it is behind it takes as much time as others had since the last tick, and a growing multiple of it the later it is; those who send then wait.
 */
function tickMs(overdueMs: number, othersMs: number): number {
  if (overdueMs < lateMs) return tickMsLeast + ((tickMsUsual - tickMsLeast) * Math.max(0, overdueMs)) / lateMs;
  const parts = 1 + (partsMax - 1) * Math.min(1, (overdueMs - lateMs) / (veryLateMs - lateMs));
  return Math.min(tickMsMax, Math.max(tickMsUsual, othersMs * parts));
}

// Makes what waits in memory smaller while the service has time for it.

/** A trace of a dozen spans takes about a tenth of a millisecond, so this is an eighth of the time at most, and more traces than are scored in it. */
const everyMs = 25;
const tracesPerTurn = 32;

/** A dozen traces share so many bytes. Should one of them stay for days, it holds no more than the bytes on the wire that it is counted with. */
const compactedSlabBytes = 32 * 1024;

/** Squeezed. */
export function slabCompaction(): SlabAllocator {
  const { keep } = slabs(compactedSlabBytes);
  return { keep: (lent) => keep(compressed(lent)), bytes: (kept) => zstdDecompressSync(kept) };
}

export interface IdleCompactor {
  start(): void;
  /** May be called twice, and without `start`. */
  stop(): Promise<void>;
}

/** `mayWork`: false while there is more urgent work. */
export function idleCompactorOf({
  flow,
  sleep,
  mayWork,
}: {
  readonly flow: Pick<Pipeline, 'packIdle'>;
  readonly sleep: Sleep;
  readonly mayWork: () => boolean;
}): IdleCompactor {
  let working: PeriodicTask | undefined;

  function work(): void {
    if (mayWork()) flow.packIdle(tracesPerTurn);
  }

  return {
    start() {
      working ??= periodicTask({ everyMs, sleep, work, onFault: () => undefined, restsFirst: true });
    },
    async stop() {
      await working?.stop();
    },
  };
}
