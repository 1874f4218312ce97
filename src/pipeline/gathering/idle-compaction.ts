/**
 * Compacts open traces that receive nothing for a while: an agent waits for its model longer than for anything else. Their spans are packed and
 * compressed, a few traces at a time, when the host of the gathering has time for it.
 */
import type { Clock } from '../../model/clock.ts';
import type { Packing } from './held-spans.ts';
import { partsFromSpans } from './scan-planner.ts';
import type { Trace } from './trace-table.ts';

/** Most traces close within it. */
const idleMs = 2_000;

export interface IdleTraces {
  /** Something came for it, or its spans were asked for. */
  touched(trace: Trace): void;
  gone(trace: Trace): void;
  /** `true` when more traces are due. */
  pack(tracesMax: number): boolean;
}

export interface IdleTracesDeps {
  readonly clock: Clock;
  readonly packing: Packing;
  readonly isScanned: (trace: Trace) => boolean;
}

export function idleTraces({ clock, packing, isScanned }: IdleTracesDeps): IdleTraces {
  /** Not packed; the one that was touched longest ago comes first. */
  const awake = new Map<Trace, number>();
  return {
    touched(trace) {
      awake.delete(trace);
      awake.set(trace, clock.nowMs());
    },
    gone: (trace) => void awake.delete(trace),
    pack(tracesMax) {
      const untilMs = clock.nowMs() - idleMs;
      let packed = 0;
      for (const [trace, touchedMs] of awake) {
        if (touchedMs > untilMs) return false;
        if (packed++ >= tracesMax) return true;
        if (isScanned(trace)) continue;
        awake.delete(trace);
        // Parts of a large trace are read again and again.
        if (trace.held.size >= partsFromSpans) continue;
        trace.reading = undefined;
        if (trace.held.pack(packing)) trace.memory.release();
      }
      return false;
    },
  };
}
