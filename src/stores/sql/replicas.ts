/** The processes of a store and their tasks. */
import { type Kysely, sql } from 'kysely';
import type { ReplicaStore } from '../../model/store/replica-store.ts';
import { leaseEnd, storeTime, storeTimeAt } from './leases.ts';
import type { Tables } from './tables.ts';

export function replicaStore(db: Kysely<Tables>, { isShared }: Pick<ReplicaStore, 'isShared'>): ReplicaStore {
  return {
    isShared,
    async time(now) {
      const { rows } = await sql<{ readonly time: number }>`select ${storeTime(now)} as time`.execute(db);
      return rows[0]?.time ?? now;
    },
    async seen({ id, host, version, configuration, startedAt, seenAt, skew = null }, forget) {
      const columns = { host, version, configuration, started_us: startedAt, seen_us: storeTime(seenAt), skew_us: skew };
      await db.transaction().execute(async (tx) => {
        await tx.deleteFrom('replicas').where('seen_us', '<', storeTimeAt(forget, seenAt)).execute();
        await tx
          .insertInto('replicas')
          .values({ id, ...columns })
          .onConflict((conflict) => conflict.column('id').doUpdateSet(columns))
          .execute();
      });
    },
    async hold(tasks, lease) {
      if (tasks.length === 0) return [];
      const [{ owner, now }, until] = [lease, leaseEnd(lease)];
      const held = await db
        .insertInto('tasks')
        .values(tasks.map((name) => ({ name, owner, until_us: until })))
        .onConflict((conflict) =>
          conflict
            .column('name')
            .doUpdateSet({ owner, until_us: until })
            .where((eb) => eb.or([eb('tasks.owner', '=', owner), eb('tasks.until_us', '<=', storeTime(now))])),
        )
        .returning('name')
        .execute();
      return held.map(({ name }) => name);
    },
    async left(id) {
      await db.transaction().execute(async (tx) => {
        await tx.deleteFrom('tasks').where('owner', '=', id).execute();
        await tx.deleteFrom('replicas').where('id', '=', id).execute();
      });
    },
    async list() {
      const rows = await db.selectFrom('replicas').selectAll().orderBy('started_us').orderBy('id').execute();
      return rows.map(({ id, host, version, configuration, started_us: startedAt, seen_us: seenAt, skew_us: skew }) => ({
        id,
        host,
        version,
        configuration,
        startedAt,
        seenAt,
        skew: skew ?? undefined,
      }));
    },
    tasks: async (now) =>
      await db.selectFrom('tasks').select(['name', 'owner']).where('until_us', '>', storeTime(now)).orderBy('name').execute(),
  };
}
