/**
 * Items that an exporter is through with before their run is written, and of which the store must know all the same: dead letters, and revisions that
 * an older row has to make room for. Bounded: the oldest is forgotten first.
 */
import type { NewExport } from '../../model/store/export-store.ts';
import { itemRevision, type ExportItem } from '../../model/scored-run.ts';
import { trimOldest } from '../../runtime/lru.ts';
import { queueKey, type Entry } from './per-run-queue.ts';

type Already = NonNullable<NewExport['already']>;

interface Through extends Pick<Entry, 'key' | 'part' | 'nth' | 'offeredMs'> {
  readonly already: Already;
}

export interface UnstoredOutcomes {
  add(entry: Entry, already: Already): void;
  of(item: ExportItem): Through | undefined;
  /** True: it was here. */
  remove(item: ExportItem): boolean;
  /** Of the same run and part; 0: none is here. */
  revisionOf(item: ExportItem, part: string): number;
  /** Which item, counted from 1, is the first dead one here. */
  firstDead(): number | undefined;
}

export function unstoredOutcomes(itemsMax: number): UnstoredOutcomes {
  const items = new Map<ExportItem, Through>();
  return {
    add({ item, key, part, nth, offeredMs }, already) {
      items.set(item, { key, part, nth, offeredMs, already });
      trimOldest(items, itemsMax);
    },
    of: (item) => items.get(item),
    remove: (item) => items.delete(item),
    revisionOf({ run }, part) {
      const key = queueKey(run);
      return [...items].reduce(
        (newest, [item, one]) => (one.key === key && one.part === part ? Math.max(newest, itemRevision(item)) : newest),
        0,
      );
    },
    firstDead() {
      for (const { already, nth } of items.values()) if (already !== 'sent') return nth;
      return undefined;
    },
  };
}
