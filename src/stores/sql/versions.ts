/** Figures by version in the SQLite store, and the states of alerts. */
import { sql, type Kysely } from 'kysely';
import type { AlertMark, VersionStore } from '../../model/store/version-store.ts';
import type { Connection } from './connection.ts';
import type { Tables } from './tables.ts';

/** Sums of the times of these runs stay unchanged from now on. */
export async function notePruned(tx: Kysely<Tables>, runs: readonly { readonly started_us: number }[]): Promise<void> {
  const last = runs.reduce((latest, run) => Math.max(latest, run.started_us), 0);
  await tx
    .updateTable('version_pruned')
    .set({ until_us: sql<number>`max(until_us, ${last})` })
    .execute();
}

export function versionStore({ db, refresh, scan }: Pick<Connection, 'db' | 'refresh' | 'scan'>): VersionStore {
  return {
    refresh,
    async changedTimes(limit) {
      const { rows } = await sql<{ readonly changed: number }>`
        select count(*) as changed from (select at_us from version_changes union all select at_us from rollup_changes limit ${limit}) as all_changes`.execute(
        db,
      );
      return rows[0]?.changed ?? 0;
    },
    figures: (query) => scan({ of: 'versions', query }),
    alertStates: async () => await db.selectFrom('alert_states').selectAll().orderBy('alert').orderBy('agent').execute(),
    async keepAlertStates(states) {
      await db.transaction().execute(async (tx) => {
        await tx.deleteFrom('alert_states').execute();
        for (const state of states) await tx.insertInto('alert_states').values(state).execute();
      });
    },
    alertMarks: () => marksOf(db),
    changeAlertMarks: (next) =>
      db.transaction().execute(async (tx) => {
        const before = await marksOf(tx);
        const marks = next(before);
        if (marks === before) return before;
        await tx.deleteFrom('alert_marks').execute();
        for (const { kind, alert, agent = null, tenant, by, note, atMs, untilMs = null, firingMs = null } of marks)
          await tx
            .insertInto('alert_marks')
            .values({ kind, alert, agent, tenant, author: by, note, at_ms: atMs, until_ms: untilMs, firing_ms: firingMs })
            .execute();
        return marks;
      }),
  };
}

async function marksOf(db: Kysely<Tables>): Promise<readonly AlertMark[]> {
  const rows = await db.selectFrom('alert_marks').selectAll().orderBy('id').execute();
  return rows.map(({ kind, alert, agent, tenant, author, note, at_ms, until_ms, firing_ms }) => ({
    kind,
    alert,
    agent: agent ?? undefined,
    tenant,
    by: author,
    note,
    atMs: at_ms,
    untilMs: until_ms ?? undefined,
    firingMs: firing_ms ?? undefined,
  }));
}
