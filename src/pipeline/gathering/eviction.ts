/** Keeps the traces that are held within their bytes: first goes what is closed and only waits for stragglers, then the oldest open trace. */
import type { Clock } from '../../model/clock.ts';
import type { GroupLimits } from './close-policy.ts';
import type { Trace, TraceTable } from './trace-table.ts';

export interface ReliefOptions {
  readonly limits: GroupLimits;
  readonly clock: Clock;
  readonly closed: ClosedTraces;
  readonly traces: TraceTable;
  readonly bytes: () => number;
  readonly drop: (trace: Trace) => void;
  /** Closes it as it is, and drops it. */
  readonly evict: (trace: Trace) => void;
}

/** A trace to which nothing came for so long may go before the budget is quite used up. */
const activeMs = 60_000;

export interface Relief {
  relieve(): void;
  /** True: spans still come to the open trace that was begun first, so that it may well close by itself. */
  isOldestActive(): boolean;
}

export function relief({ limits, clock, closed, traces, bytes, drop, evict }: ReliefOptions): Relief {
  const isActive = (trace: Trace): boolean => trace.lastMs > clock.nowMs() - activeMs;

  function relieve(): void {
    const spareMax = Math.min(limits.bytesMax, limits.spareBytesMax?.() ?? Infinity);
    if (bytes() <= spareMax) return;
    for (const trace of closed.all()) {
      if (bytes() <= spareMax) return;
      drop(trace);
    }
    for (const trace of traces.all()) {
      if (bytes() <= limits.bytesMax && (bytes() <= spareMax || isActive(trace))) return;
      evict(trace);
    }
  }

  return {
    relieve,
    isOldestActive() {
      for (const trace of traces.all()) if (!trace.done) return isActive(trace);
      return false;
    },
  };
}

/** The traces that are done and only wait for stragglers, in the order in which they were, and what they hold together. */
export interface ClosedTraces {
  add(trace: Trace): void;
  delete(trace: Trace): void;
  /** Those that have been done for longest come first. */
  all(): Iterable<Trace>;
  /** As they weighed when they were done. */
  bytes(): number;
}

export function closedTraces(): ClosedTraces {
  const weights = new Map<Trace, number>();
  let bytes = 0;

  function remove(trace: Trace): void {
    bytes -= weights.get(trace) ?? 0;
    weights.delete(trace);
  }

  return {
    add(trace) {
      remove(trace);
      weights.set(trace, trace.bytes);
      bytes += trace.bytes;
    },
    delete: remove,
    all: () => weights.keys(),
    bytes: () => bytes,
  };
}
