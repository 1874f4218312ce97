/** Reads rows of the store into the queue: as many as it can send, and one for a probe. */
import { itemRevision, type ExportItem } from '../../model/scored-run.ts';
import { roughBytes } from '../../model/size-estimate.ts';
import type { WaitingExport, NewExport } from '../../model/store/export-store.ts';
import { type PerRunQueue, queueKey, type Entry } from './per-run-queue.ts';
import type { DeliveryMetrics } from './delivery-metrics.ts';
import type { DeliveryWorker } from './delivery-worker.ts';
import type { OutboxRows } from './outbox-rows.ts';
import type { ItemId } from '../../model/watermark.ts';

export interface OutboxPrefetchOptions {
  readonly rows: OutboxRows;
  readonly held: PerRunQueue;
  readonly unstored: UnstoredOutcomes;
  readonly backend: Pick<DeliveryWorker, 'circuit' | 'sending' | 'pump'>;
  readonly metrics: DeliveryMetrics;
  /** True: sending is over. */
  readonly isOver: () => boolean;
}

export interface OutboxPrefetch {
  /** Reads as many rows as there is room for, and sends them. Never rejects: a failed read is tried again. */
  fill(): Promise<void>;
  /** True: the last read found no row that can be sent now. The next read follows after the call below. */
  isEmpty(): boolean;
  retry(): void;
}

/** Items with a row in memory. */
export const prefetchMax = 400;

export function outboxPrefetch({ rows, held, unstored, backend, metrics, isOver }: OutboxPrefetchOptions): OutboxPrefetch {
  let isFilling = false;
  let isDry = false;

  /** Rows that may be read now. */
  function room(): number {
    if (isFilling || isDry || rows.waiting() <= held.rows()) return 0;
    if (backend.circuit() === 'half_open') return held.hasReady() || backend.sending() > 0 ? 0 : 1;
    return backend.circuit() === 'open' || held.size() > prefetchMax / 2 ? 0 : prefetchMax - held.size();
  }

  /** False: the row stays in the store alone. */
  function take({ id, part, item, attempts, offeredAt }: WaitingExport): boolean {
    if (isOver() || held.hasRow(id)) return false;
    if (item === undefined) {
      rows.dead(id, attempts, 'unreadable');
      metrics.count('failed');
      return true;
    }
    const newest = Math.max(held.revisionOf(item, part), unstored.revisionOf(item, part));
    // The queue holds the same item, and `written` is about to give it a row.
    const own = itemRevision(item);
    if (newest === own) return false;
    if (newest > own) rows.sent(id);
    else held.add(item, { part, attempts, offeredMs: offeredAt / 1_000, bytes: roughBytes(item), row: id });
    return true;
  }

  return {
    async fill() {
      const limit = room();
      if (limit === 0) return;
      isFilling = true;
      const taken = await rows.take(limit, held.rowIds()).catch((): readonly WaitingExport[] => []);
      isFilling = false;
      isDry = taken.filter(take).length === 0;
      backend.pump();
    },
    isEmpty: () => isDry,
    retry() {
      isDry = false;
    },
  };
}

type Already = NonNullable<NewExport['already']>;

interface UnstoredOutcome extends Pick<Entry, 'key' | 'part' | 'offeredMs'> {
  readonly revision: number;
  readonly already: Already;
}

export interface UnstoredOutcomes {
  add(id: ItemId, entry: Entry, already: Already): void;
  of(id: ItemId): UnstoredOutcome | undefined;
  /** False when there was none. */
  remove(id: ItemId): boolean;
  /** Newest revision of the same run and part; 0 when there is none. */
  revisionOf(item: ExportItem, part: string): number;
}

/** `forgotten`: called with the oldest item when there are more than `itemsMax`. */
export function unstoredOutcomes(itemsMax: number, forgotten: (id: ItemId) => void): UnstoredOutcomes {
  const outcomes = new Map<ItemId, UnstoredOutcome>();
  return {
    add(id, { item, key, part, offeredMs }, already) {
      outcomes.set(id, { key, part, offeredMs, already, revision: itemRevision(item) });
      for (const oldest of outcomes.keys()) {
        if (outcomes.size <= itemsMax) return;
        outcomes.delete(oldest);
        forgotten(oldest);
      }
    },
    of: (id) => outcomes.get(id),
    remove: (id) => outcomes.delete(id),
    revisionOf({ run }, part) {
      const key = queueKey(run);
      return [...outcomes.values()].reduce(
        (newest, one) => (one.key === key && one.part === part ? Math.max(newest, one.revision) : newest),
        0,
      );
    },
  };
}
