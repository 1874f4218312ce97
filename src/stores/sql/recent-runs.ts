/** The runs that were written last, in the order of their writing, in the memory of the thread that has the file. */

/** Older ones are forgotten. */
export const runsMax = 10_000;

export interface RecentRuns {
  add(ids: Iterable<number>): void;
  /** Runs that were written behind a position; without one, the position alone. A run that was written twice counts once, where it was written last. */
  since(position: number | undefined): Recent;
}

export interface Recent {
  readonly ids: readonly number[];
  /** Behind the last of them. */
  readonly position: number;
  /** Writes behind the position of the question that are forgotten. */
  readonly forgotten: number;
}

export function recentRuns(keepMax = runsMax): RecentRuns {
  /** The last `keepMax` writes, by position modulo `keepMax`. */
  const ring: number[] = [];
  let position = 0;
  return {
    add(ids) {
      for (const id of ids) ring[position++ % keepMax] = id;
    },
    since(after = position) {
      // Positions begin anew with each thread, so a later one is of an earlier thread.
      const from = after > position ? 0 : after;
      const first = Math.max(from, position - keepMax);
      const last = new Map<number, number>();
      for (let at = first; at < position; at++) {
        const id = ring[at % keepMax] ?? 0;
        last.delete(id);
        last.set(id, at);
      }
      return { ids: [...last.keys()], position, forgotten: first - from };
    },
  };
}
