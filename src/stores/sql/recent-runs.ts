/**
 * The runs that were written last, in the order of their writing, in the memory of the thread that has the connection. Where several processes
 * write, each write has a position in the store, and each process hears of all of them.
 */

/** Older ones are forgotten. */
export const runsMax = 10_000;

export interface RecentRuns {
  add(ids: Iterable<number>): void;
  /** Runs that were written behind a position; without one, only the position. A run that was written twice counts once, where it was written last. */
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

/** The same over writes of several processes, with positions of the store. */
export interface SharedRecentRuns extends Pick<RecentRuns, 'since'> {
  /** Runs at the positions up to this one. A write that was heard before changes nothing. */
  heard(position: number, ids: readonly number[]): void;
  /** The position of the store. Runs written before are unknown here. */
  begin(position: number): void;
}

export function sharedRecentRuns(keepMax = runsMax): SharedRecentRuns {
  /** Indexed by position modulo `keepMax`. */
  const ring: { readonly at: number; readonly id: number }[] = [];
  let position = 0;
  return {
    heard(to, ids) {
      for (const [nth, id] of ids.entries()) ring[(to - ids.length + nth) % keepMax] = { at: to - ids.length + nth, id };
      position = Math.max(position, to);
    },
    begin(at) {
      position = Math.max(position, at);
    },
    since(after = position) {
      // Another process may have heard more. A position far ahead belongs to another store.
      if (after > position && after - position <= keepMax) return { ids: [], position: after, forgotten: 0 };
      const from = after > position ? position : after;
      const first = Math.max(from, position - keepMax);
      const last = new Map<number, number>();
      let unheard = 0;
      for (let at = first; at < position; at++) {
        const written = ring[at % keepMax];
        if (written?.at !== at) {
          unheard++;
          continue;
        }
        last.delete(written.id);
        last.set(written.id, at);
      }
      return { ids: [...last.keys()], position, forgotten: first - from + unheard };
    },
  };
}
