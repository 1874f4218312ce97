/** When a run closes if nothing more arrives, and as what. */
import type { Completeness } from '../../model/agent-trace.ts';
import type { Draft } from '../assembly/assemble.ts';

export interface ClosingTimes {
  readonly settleMs: number;
  readonly quietMs: number;
  readonly abandonMs: number;
  readonly lateMs: number;
}

export const defaultClosing: ClosingTimes = { settleMs: 500, quietMs: 5_000, abandonMs: 600_000, lateMs: 3_600_000 };

export function closesAt(draft: Draft, traceLastMs: number, closing: ClosingTimes): { readonly atMs: number; readonly completeness: Completeness } {
  if (!draft.rootArrived) return { atMs: traceLastMs + closing.abandonMs, completeness: 'abandoned' };
  if (draft.waitsFor.length > 0) return { atMs: draft.lastArrivedMs + closing.quietMs, completeness: 'partial' };
  // Its parent may still come and show that it works for another agent; one export interval is long enough to wait.
  if (draft.parentMissing) return { atMs: draft.lastArrivedMs + closing.quietMs, completeness: 'complete' };
  return { atMs: draft.lastArrivedMs + closing.settleMs, completeness: 'complete' };
}
