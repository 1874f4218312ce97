/** Traces that were looked at and wait for those that are due with them: one of these may show that it holds other parts of one of their runs. */
import type { ScanResult, ScanProgress } from './scan-planner.ts';
import type { Trace } from './trace-table.ts';

/** Traces that are due within so short a time may hold parts of one run: none of them closes before all were looked at. */
const togetherMs = 50;

export interface JoinWindow {
  add(trace: Trace, look: ScanResult): void;
  remove(trace: Trace): void;
  /** Undefined: it does not wait here. */
  courseOf(trace: Trace): ScanProgress | undefined;
  /** The first one, if it need not wait any more while the next one to be looked at is due at `nextMs`. It is no longer among them. */
  take(nowMs: number, nextMs: number): readonly [Trace, ScanResult] | undefined;
  takeAll(): readonly Trace[];
  /** When the first one of them was due. */
  sinceMs(): number | undefined;
}

export function joinWindow(): JoinWindow {
  /** In the order in which they were due. */
  const looked = new Map<Trace, ScanResult>();
  return {
    add: (trace, look) => void looked.set(trace, look),
    remove: (trace) => void looked.delete(trace),
    courseOf: (trace) => looked.get(trace)?.course,
    take(nowMs, nextMs) {
      const first = looked.entries().next().value;
      if (first === undefined || (nextMs <= nowMs && nextMs <= first[1].course.dueMs + togetherMs)) return undefined;
      looked.delete(first[0]);
      return first;
    },
    takeAll() {
      const all = [...looked.keys()];
      looked.clear();
      return all;
    },
    sinceMs: () => looked.values().next().value?.course.dueMs,
  };
}
