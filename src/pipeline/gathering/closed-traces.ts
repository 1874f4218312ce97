/** The traces that are done and only wait for stragglers, in the order in which they were, and what they hold together. */
import type { Trace } from './trace-table.ts';

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
