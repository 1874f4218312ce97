/** The turns of a session in order, and the runs before and after one of them. */

export interface TurnRun {
  readonly trace_id: string;
  readonly span_id: string;
  readonly started_at: string;
}

/** Oldest first; of equal starts by id, so that the order is the same on every page. */
export function inOrder<Run extends TurnRun>(runs: readonly Run[]): readonly Run[] {
  return runs.toSorted((one, other) => compare(one.started_at, other.started_at) || compare(idOf(one), idOf(other)));
}

export interface Neighbours<Run extends TurnRun> {
  readonly before: Run | undefined;
  readonly after: Run | undefined;
  /** Position of the run among all, from 1. */
  readonly position: number;
  readonly count: number;
}

/** `others` may hold the run itself. */
export function neighboursOf<Run extends TurnRun>(run: Run, others: readonly Run[]): Neighbours<Run> {
  const all = inOrder([run, ...others.filter((other) => idOf(other) !== idOf(run))]);
  const at = all.indexOf(run);
  return { before: all[at - 1], after: all[at + 1], position: at + 1, count: all.length };
}

function idOf({ trace_id: trace, span_id: span }: TurnRun): string {
  return `${trace}/${span}`;
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
