/** The positions of the traces in the journal, which a restart would have to read again. */
import { inOrder } from './trace-table.ts';
import type { Trace, TraceTable } from './trace-table.ts';

/** A trace whose runs are all closed. */
export interface FinishedTrace {
  /** Its key, and those of the traces that became part of it. */
  readonly keys: readonly string[];
  /** Positions of the requests that brought it, ascending. */
  readonly positions: readonly number[];
  /** Another gatherer has it from now on. */
  readonly leaves?: true;
}

/** Interface for the owner of the journal. */
export interface JournalReferences {
  /** The lowest position that an open trace needs; `undefined` when none needs any. */
  oldestPosition(): number | undefined;
  /** All positions that open traces need. */
  positions(): ReadonlySet<number>;
  /** The request at `from` was written again at `to`. */
  moved(from: number, to: number): void;
  /** True while something of the trace with this key is not closed yet. */
  isOpen(key: string): boolean;
  /** Keys of all traces that have something held, closed or not. */
  keys(): readonly string[];
  /** True while the trace with this key may hold runs that have no verdict yet. */
  isAwaited(key: string): boolean;
  /** Traces that were finished since the last call, or were already and had more spans come. */
  takeFinished(): readonly FinishedTrace[];
}

export interface JournalReference extends JournalReferences {
  /** Something of the trace came with the request at this position; undefined: with none that is written down. */
  add(trace: Trace, position: number | undefined): void;
  /** Nothing of it needs to be read again. */
  finish(trace: Trace): void;
  /** Another gatherer is to have it. */
  leave(trace: Trace): void;
  /** No run is in it so far. */
  showsNoRun(trace: Trace): void;
}

/** `settled` receives the keys of traces without anything open, or that have shown no run so far. Verdicts of their runs come in the same turn. */
export function journalReferences(
  traces: TraceTable,
  settled: (keys: readonly string[]) => void = () => undefined,
  left: () => void = () => undefined,
): JournalReference {
  let finished: FinishedTrace[] = [];
  return {
    add(trace, position) {
      if (position === undefined) return;
      inOrder(trace.positions, position);
      // Told of at once: read again from here on, a finished trace would be a part of itself.
      if (trace.done) finished.push({ keys: [trace.key, ...trace.joined], positions: [] });
    },
    showsNoRun: (trace) => settled([trace.key, ...trace.joined]),
    finish(trace) {
      settled([trace.key, ...trace.joined]);
      if (trace.positions.length === 0) return;
      finished.push({ keys: [trace.key, ...trace.joined], positions: trace.positions.splice(0) });
    },
    leave(trace) {
      settled([trace.key, ...trace.joined]);
      finished.push({ keys: [trace.key, ...trace.joined], positions: trace.positions.splice(0), leaves: true });
      left();
    },
    oldestPosition() {
      let oldest: number | undefined;
      for (const { positions } of traces.all()) {
        const [first] = positions;
        if (first !== undefined && (oldest === undefined || first < oldest)) oldest = first;
      }
      return oldest;
    },
    positions() {
      const all = new Set<number>();
      for (const trace of traces.all()) for (const position of trace.positions) all.add(position);
      return all;
    },
    moved(from, to) {
      for (const { positions } of traces.all()) {
        const at = positions.indexOf(from);
        if (at < 0) continue;
        positions.splice(at, 1);
        inOrder(positions, to);
      }
    },
    isOpen: (key) => traces.isOpen(key),
    keys: () => [...traces.all()].flatMap(({ key, joined }) => [key, ...joined]),
    isAwaited: (key) => traces.isAwaited(key),
    takeFinished() {
      const taken = finished;
      finished = [];
      return taken;
    },
  };
}
