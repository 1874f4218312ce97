/** Traces that were looked at and wait for those that are due with them: one of these may show that it holds other parts of one of their runs. */
import type { Looked } from './looks.ts';
import type { Trace } from './traces.ts';

/** Traces that are due within so short a time may hold parts of one run: none of them closes before all were looked at. */
const togetherMs = 50;

export interface Together {
  add(trace: Trace, look: Looked): void;
  remove(trace: Trace): void;
  /** Those that need not wait any more while the next one to be looked at is due at `nextMs`, so many at most. They are no longer among them. */
  take(nowMs: number, nextMs: number, tracesMax: number): readonly (readonly [Trace, Looked])[];
  takeAll(): readonly Trace[];
  /** When the first one of them was due. */
  sinceMs(): number | undefined;
}

export function together(): Together {
  /** In the order in which they were due. */
  const looked = new Map<Trace, Looked>();
  return {
    add: (trace, look) => void looked.set(trace, look),
    remove: (trace) => void looked.delete(trace),
    take(nowMs, nextMs, tracesMax) {
      const taken: (readonly [Trace, Looked])[] = [];
      for (const entry of looked) {
        const [trace, { dueMs }] = entry;
        if (taken.length >= tracesMax || (nextMs <= nowMs && nextMs <= dueMs + togetherMs)) break;
        looked.delete(trace);
        taken.push(entry);
      }
      return taken;
    },
    takeAll() {
      const all = [...looked.keys()];
      looked.clear();
      return all;
    },
    sinceMs: () => looked.values().next().value?.dueMs,
  };
}
