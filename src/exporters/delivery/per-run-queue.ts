/** Items of one exporter in memory. Items of one run keep their order, and only the first of them may be sent. */
import { runTargetId } from '../../model/verdict.ts';
import { itemRevision, type ExportedRun, type ExportItem } from '../../model/scored-run.ts';
import type { ItemId } from '../../model/watermark.ts';

/** State of an item when it enters the queue. */
interface EntryParts {
  readonly part: string;
  /** When it was scored. */
  readonly offeredMs: number;
  /** `undefined` when an earlier process delivered the item: it came from the store. */
  readonly id?: ItemId;
  readonly bytes: number;
  readonly attempts: number;
  readonly row?: number;
}

export interface Entry extends Omit<EntryParts, 'id' | 'row' | 'attempts'> {
  readonly item: ExportItem;
  readonly id: ItemId | undefined;
  /** Queue key of its run. */
  readonly key: string;
  attempts: number;
  /** `behind` another item of its run; `resting`: in backoff. */
  state: 'behind' | 'ready' | 'sending' | 'resting' | 'gone';
  /** Ends the backoff. */
  rest: AbortController | undefined;
  /** Id of its row in the store; `undefined` when it has none. */
  row: number | undefined;
  /** True when the store has the item or a newer revision, or has deleted the run. */
  isKept: boolean;
  /** True when the store has the run, with or without the item. */
  isRunStored: boolean;
}

export interface PerRunQueue {
  add(item: ExportItem, parts: EntryParts): void;
  /** Does nothing when the entry is not in the queue. */
  remove(entry: Entry): void;
  /** The store has the item. `row`: id of its row. */
  keep(entry: Entry, row: number | undefined): void;
  has(entry: Entry): boolean;
  hasRow(row: number): boolean;
  of(id: ItemId): Entry | undefined;
  /** Newest revision of the same run and part; 0 when the queue has none. */
  revisionOf(item: ExportItem, part: string): number;
  makeReady(entry: Entry): void;
  /** Takes the next one that may be sent. */
  next(): Entry | undefined;
  hasReady(): boolean;
  /** Oldest first. */
  all(): SetIterator<Entry>;
  rowIds(): readonly number[];
  size(): number;
  /** Items with a row. */
  rows(): number;
  bytes(): number;
}

export function perRunQueue(): PerRunQueue {
  const entries = new Set<Entry>();
  const byId = new Map<ItemId, Entry>();
  const byRun = new Map<string, Set<Entry>>();
  const ready = new Set<Entry>();
  const rows = new Set<number>();
  let bytes = 0;

  function makeReady(entry: Entry): void {
    entry.state = 'ready';
    ready.add(entry);
  }

  return {
    add(item, { row, id, ...parts }) {
      const key = queueKey(item.run);
      const entry: Entry = {
        ...parts,
        id,
        item,
        key,
        state: 'behind',
        rest: undefined,
        row,
        isKept: row !== undefined,
        isRunStored: row !== undefined,
      };
      const siblings = byRun.get(key) ?? new Set();
      byRun.set(key, siblings.add(entry));
      entries.add(entry);
      if (id !== undefined) byId.set(id, entry);
      if (row !== undefined) rows.add(row);
      bytes += entry.bytes;
      if (siblings.size === 1) makeReady(entry);
    },
    remove(entry) {
      if (!entries.delete(entry)) return;
      if (entry.id !== undefined) byId.delete(entry.id);
      entry.state = 'gone';
      entry.rest?.abort();
      if (entry.row !== undefined) rows.delete(entry.row);
      bytes -= entry.bytes;
      ready.delete(entry);
      const siblings = byRun.get(entry.key);
      siblings?.delete(entry);
      const [next] = siblings ?? [];
      if (next === undefined) byRun.delete(entry.key);
      else if (next.state === 'behind') makeReady(next);
    },
    keep(entry, row) {
      entry.row = row;
      entry.isKept = true;
      if (row !== undefined) rows.add(row);
    },
    has: (entry) => entries.has(entry),
    hasRow: (row) => rows.has(row),
    of: (id) => byId.get(id),
    revisionOf: ({ run }, part) =>
      [...(byRun.get(queueKey(run)) ?? [])].reduce(
        (newest, entry) => (entry.part === part ? Math.max(newest, itemRevision(entry.item)) : newest),
        0,
      ),
    makeReady,
    next() {
      const [entry] = ready;
      if (entry !== undefined) ready.delete(entry);
      return entry;
    },
    hasReady: () => ready.size > 0,
    all: () => entries.values(),
    rowIds: () => [...rows],
    size: () => entries.size,
    rows: () => rows.size,
    bytes: () => bytes,
  };
}

/** Verdicts on a session keep their order, even from different turns. */
export function queueKey(run: ExportedRun): string {
  const {
    session,
    tenant,
    trace: { sessionId },
  } = run;
  return session === undefined || sessionId === undefined ? `${tenant}/${runTargetId(run)}` : `${tenant}/session ${sessionId}`;
}

/** A newer revision replaces an older one of the same part: all rules are one part, each judge is one. */
export function partOf({ run, evaluations, decisions, calls }: ExportItem): string {
  if (run.partOf !== undefined || evaluations.some(({ evaluatorKind }) => evaluatorKind === 'rule')) return 'rules';
  // Judges were asked and gave no verdict.
  if (evaluations.length === 0 && calls !== undefined)
    return decisions
      .map(({ name }) => name)
      .sort()
      .join(',');
  return evaluations
    .map(({ key }) => key.name)
    .sort()
    .join(',');
}
