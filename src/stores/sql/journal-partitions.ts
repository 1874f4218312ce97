/** Partitions of a shared journal. Every transaction that writes holds the lock of the store, so an epoch cannot change within one. */
import type { Kysely, Selectable, Transaction } from 'kysely';
import type { Fence, JournalPartitionStore, OwnedPartition } from '../../model/store/journal-partition-store.ts';
import type { Tables } from './tables.ts';

/** More partitions than a topic of any size has; bounds the list. */
const listedMax = 10_000;

export function journalPartitionStore(db: Kysely<Tables>): JournalPartitionStore {
  return {
    take: (partitions, { owner, at }) =>
      db.transaction().execute(async (tx) => {
        const taken: OwnedPartition[] = [];
        for (const { topic, partition } of partitions) {
          const row = await tx
            .insertInto('journal_partitions')
            .values({ topic, partition, epoch: 1, owner, next_offset: -1, read_offset: -1, open_offsets: '', changed_us: at })
            .onConflict((conflict) =>
              conflict
                .columns(['topic', 'partition'])
                .doUpdateSet(({ eb, ref }) => ({ epoch: eb(ref('journal_partitions.epoch'), '+', 1), owner, changed_us: at })),
            )
            .returningAll()
            .executeTakeFirstOrThrow();
          taken.push(partitionOf(row));
        }
        return taken;
      }),
    save: (progress, at) =>
      db.transaction().execute(async (tx) => {
        const ended: Fence[] = [];
        for (const { topic, partition, epoch, next, read, open } of progress) {
          const { numUpdatedRows } = await tx
            .updateTable('journal_partitions')
            .set({ next_offset: next, read_offset: read, open_offsets: open, changed_us: at })
            .where('topic', '=', topic)
            .where('partition', '=', partition)
            .where('epoch', '=', epoch)
            .executeTakeFirst();
          if (numUpdatedRows === 0n) ended.push({ topic, partition, epoch });
        }
        return ended;
      }),
    async list() {
      const rows = await db.selectFrom('journal_partitions').selectAll().orderBy('topic').orderBy('partition').limit(listedMax).execute();
      return rows.map(partitionOf);
    },
  };
}

/** For each fence, true when it has ended. */
export async function endedFences(tx: Transaction<Tables>, fences: readonly Fence[]): Promise<(fence: Fence) => boolean> {
  if (fences.length === 0) return () => false;
  const rows = await tx
    .selectFrom('journal_partitions')
    .select(['topic', 'partition', 'epoch'])
    .where('topic', 'in', [...new Set(fences.map(({ topic }) => topic))])
    .execute();
  const epochs = new Map(rows.map(({ topic, partition, epoch }) => [`${partition} ${topic}`, epoch]));
  return ({ topic, partition, epoch }) => epochs.get(`${partition} ${topic}`) !== epoch;
}

function partitionOf(row: Selectable<Tables['journal_partitions']>): OwnedPartition {
  const { topic, partition, epoch, owner, next_offset: next, read_offset: read, open_offsets: open, changed_us: changedAt } = row;
  return { topic, partition, epoch, owner, next, read, open, changedAt };
}
