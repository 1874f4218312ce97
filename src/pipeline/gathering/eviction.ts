/**
 * The size of the gathered traces, and the order in which they go when it is too large: first those that are closed and only wait for stragglers,
 * then the oldest open one.
 */
import type { Clock } from '../../model/clock.ts';
import type { GroupLimits } from './close-policy.ts';
import type { Trace, TraceTable } from './trace-table.ts';

interface EvictionDeps {
  readonly limits: GroupLimits;
  readonly clock: Clock;
  readonly traces: TraceTable;
  /** The trace is gone: it was dropped, or became part of another one. */
  readonly gone: (trace: Trace) => void;
  /** Closes the trace in its present state, and drops it. */
  readonly evict: (trace: Trace) => void;
}

/** A trace to which nothing came for so long may go before the budget is quite used up. */
const activeMs = 60_000;

export interface Eviction {
  /** Something came for the trace, which is open again even where it was closed. */
  grew(trace: Trace, bytes: number): void;
  reopened(trace: Trace): void;
  /** Everything in it is closed. */
  done(trace: Trace): void;
  /** Nothing of it is held any more. */
  emptied(trace: Trace): void;
  /** It became part of another trace, which weighs as much more. */
  joined(part: Trace): void;
  drop(trace: Trace, over?: 'over' | 'left'): void;
  /** Drops, and closes, as many traces as it takes to hold the limits. */
  relieve(): void;
  /** True while spans still come to the open trace that was begun first, so that it may well close by itself. */
  isOldestActive(): boolean;
  bytes(): number;
  /** Bytes of the traces that are not done. */
  openBytes(): number;
  /** Traces that are not done. */
  openTraces(): number;
}

export function eviction({ limits, clock, traces, gone, evict }: EvictionDeps): Eviction {
  /** The traces that are done, in the order in which they were, with what they weighed then. */
  const closed = new Map<Trace, number>();
  let [bytes, closedBytes] = [0, 0];

  function leaveClosed(trace: Trace): void {
    closedBytes -= closed.get(trace) ?? 0;
    closed.delete(trace);
  }

  function reopened(trace: Trace): void {
    trace.done = false;
    leaveClosed(trace);
  }

  function forget(trace: Trace): void {
    leaveClosed(trace);
    gone(trace);
  }

  function drop(trace: Trace, over?: 'over' | 'left'): void {
    traces.remove(trace, over);
    forget(trace);
    trace.memory.release();
    bytes -= trace.bytes;
  }

  function isActive(trace: Trace): boolean {
    return trace.lastMs > clock.nowMs() - activeMs;
  }

  return {
    grew(trace, by) {
      trace.bytes += by;
      bytes += by;
      reopened(trace);
    },
    reopened,
    done(trace) {
      leaveClosed(trace);
      trace.done = true;
      trace.wasDone = true;
      closed.set(trace, trace.bytes);
      closedBytes += trace.bytes;
    },
    emptied(trace) {
      bytes -= trace.bytes;
      trace.bytes = 0;
    },
    joined: forget,
    drop,
    relieve() {
      const spareMax = Math.min(limits.bytesMax, limits.spareBytesMax?.() ?? Infinity);
      if (bytes <= spareMax) return;
      for (const trace of closed.keys()) {
        if (bytes <= spareMax) return;
        drop(trace);
      }
      for (const trace of traces.all()) {
        if (bytes <= limits.bytesMax && (bytes <= spareMax || isActive(trace))) return;
        evict(trace);
      }
    },
    isOldestActive() {
      for (const trace of traces.all()) if (!trace.done) return isActive(trace);
      return false;
    },
    bytes: () => bytes,
    openBytes: () => bytes - closedBytes,
    openTraces: () => traces.size() - closed.size,
  };
}
