/** Closes due runs and compacts idle traces between requests. */
import { zstdDecompressSync } from 'node:zlib';
import type { Clock, Sleep } from '../model/clock.ts';
import { type SlabAllocator, slabs } from '../pipeline/gathering/slab-allocator.ts';
import type { Pipeline } from '../pipeline/pipeline.ts';
import { periodicTask, type PeriodicTask } from '../runtime/periodic-task.ts';
import { compressed } from '../stores/compression.ts';

/** Pieces between two readings of the clock. A trace is one piece of well under 1 ms, a large one many of some milliseconds each. */
const piecesPerStep = 1;
/** Bounds a tick should the clock stand still. */
const stepsPerTickMax = 1_000;
/** The longest sleep of the timer; it then checks later deadlines again. */
const timerMsMax = 60_000;
/** Duration of one tick while closing is in time; it grows with the lag. Requests wait for the length of a tick. */
const tickMsLeast = 1;
const tickMsUsual = 5;
const tickMsMax = 100;
/** Beyond this lag closing takes time from requests. */
export const lateMs = 100;
/** The same while a burst comes that fits in memory: its senders wait, and its runs do not. */
const burstLateMs = 1_000;
/** At this lag, closing gets nine tenths of the time. */
const laterMs = 900;
const partsMax = 9;
/** Between two checks of `mustWait`. */
const restMs = 20;
/**
 * Least time between the starts of two ticks, unless there is a backlog. Runs that end close to one another are scored, stored and sent together,
 * because each wake-up of a thread or a socket costs about as much as a span.
 */
const apartMs = 50;

export interface CloseScheduler {
  /** Reads the next deadline again. */
  readonly wake: () => void;
  readonly stop: () => void;
}

interface CloseSchedulerOptions {
  readonly flow: Pick<Pipeline, 'advance' | 'nextDueMs'>;
  readonly clock: Clock;
  /** `true` while the run writer is behind; runs then stay open a little longer. */
  readonly mustWait?: () => boolean;
  /** `true` while a burst comes that fits in memory. */
  readonly isBurst?: () => boolean;
  /** Receives the error of a trace that cannot be closed. */
  readonly onFault: (error: unknown) => void;
}

/** Advances the pipeline when a run is due: one timer, set to the next deadline. */
export function closeSchedulerOf({
  flow,
  clock,
  mustWait = () => false,
  isBurst = () => false,
  onFault,
}: CloseSchedulerOptions): CloseScheduler {
  let timer: NodeJS.Timeout | undefined;
  let turn: NodeJS.Immediate | undefined;
  let dueMs = Infinity;
  let endedMs = clock.nowMs();
  let restsUntilMs = 0;

  /** Negative when the next deadline is still to come. */
  function overdueMs(): number {
    return clock.nowMs() - (flow.nextDueMs() ?? Infinity);
  }

  function tick(): void {
    turn = undefined;
    dueMs = Infinity;
    const startMs = clock.nowMs();
    const overdueAtStartMs = overdueMs();
    const untilMs = startMs + tickMs(overdueAtStartMs, startMs - endedMs, isBurst() ? burstLateMs : lateMs);
    try {
      for (let step = 0; step < stepsPerTickMax && !mustWait(); step++) {
        flow.advance(piecesPerStep);
        if (overdueMs() < 0 || clock.nowMs() >= untilMs) break;
      }
    } catch (error) {
      // One trace that cannot be read must not stop the others.
      onFault(error);
    }
    endedMs = clock.nowMs();
    // A timer may fire early. Such a tick closes nothing, and the run that is due next must not wait for another one.
    if (overdueAtStartMs >= 0) restsUntilMs = overdueMs() < 0 ? startMs + apartMs : 0;
    wake();
  }

  function wake(): void {
    // The clock may have been set back.
    const next = Math.max(flow.nextDueMs() ?? Infinity, Math.min(restsUntilMs, clock.nowMs() + apartMs));
    if (next >= dueMs) return;
    clearTimeout(timer);
    dueMs = next;
    const waitMs = Math.min(timerMsMax, Math.ceil(next - clock.nowMs()));
    // An immediate runs after the requests that wait, and before any timer.
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
 * Maximum time of one tick. A stream of requests must not starve the closing, because spans that never close fill the memory.
 * When closing is behind, it takes a multiple of the time since the last tick; the multiple grows with the lag.
 */
function tickMs(overdueMs: number, othersMs: number, fromMs: number): number {
  if (overdueMs < fromMs) return tickMsLeast + (tickMsUsual - tickMsLeast) * Math.max(0, Math.min(1, overdueMs / lateMs));
  const parts = 1 + (partsMax - 1) * Math.min(1, (overdueMs - fromMs) / laterMs);
  return Math.min(tickMsMax, Math.max(tickMsUsual, othersMs * parts));
}

/** Compacting a trace of a dozen spans takes about 0.1 ms, so a turn takes an eighth of the time at most. */
const everyMs = 25;
const tracesPerTurn = 32;

/** About a dozen traces share a slab. One trace that stays for days holds no more memory than the gatherer counts for it. */
const compactedSlabBytes = 32 * 1024;

/** Keeps compressed spans in shared slabs. */
export function slabCompaction(): SlabAllocator {
  const { keep } = slabs(compactedSlabBytes);
  return { keep: (lent) => keep(compressed(lent)), bytes: (kept) => zstdDecompressSync(kept) };
}

export interface IdleCompactor {
  start(): void;
  /** May be called twice, and without `start`. */
  stop(): Promise<void>;
}

/** Compacts idle traces while `mayWork` is true. */
export function idleCompactorOf({
  flow,
  sleep,
  rest,
  mayWork,
}: {
  readonly flow: Pick<Pipeline, 'packIdle'>;
  readonly sleep: Sleep;
  /** Rests while no trace is due. */
  readonly rest?: Sleep;
  readonly mayWork: () => boolean;
}): IdleCompactor {
  let working: PeriodicTask | undefined;
  let isMore = false;

  function work(): void {
    isMore = !mayWork() || flow.packIdle(tracesPerTurn);
  }

  return {
    start() {
      working ??= periodicTask({ everyMs, sleep, rest, hasWork: () => isMore, work, onFault: () => undefined, restsFirst: true });
    },
    async stop() {
      await working?.stop();
    },
  };
}
