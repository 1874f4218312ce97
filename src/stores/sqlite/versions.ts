/** Figures by version in the SQLite store, and the states of alerts. */
import { sql, type Kysely } from 'kysely';
import type { VersionFigure, VersionFigureKind, VersionStore } from '../../model/store/version-store.ts';
import { versionFiguresMax } from '../../model/store/version-store.ts';
import type { Connection } from './connection.ts';
import { oneOf } from './rows.ts';
import type { Tables } from './tables.ts';
import { fineTime, windowWidths } from './version-sums.ts';

/** Sums of the times of these runs stay as they are from now on. */
export async function notePruned(tx: Kysely<Tables>, runs: readonly { readonly started_us: number }[]): Promise<void> {
  const last = runs.reduce((latest, run) => Math.max(latest, run.started_us), 0);
  await tx
    .updateTable('version_pruned')
    .set({ until_us: sql<number>`max(until_us, ${last})` })
    .execute();
}

export function versionStore({ db, refresh }: Pick<Connection, 'db' | 'refresh'>): VersionStore {
  return {
    refresh,
    async changedTimes(limit) {
      const { rows } = await sql<{ readonly changed: number }>`
        select count(*) as changed from (select at_us from version_changes union all select at_us from rollup_changes limit ${limit})`.execute(
        db,
      );
      return rows[0]?.changed ?? 0;
    },
    async figures({ agent, version, tenant, from, kinds, name, byTask = false, allVersions = false }) {
      const ofVersion = allVersions ? sql.lit('') : sql.ref('version');
      const rows = await db
        .selectFrom('version_figures')
        .select(['agent', 'task', 'kind', 'name'])
        .select(({ fn }) => [
          sql<string>`${ofVersion}`.as('of_version'),
          fn.sum<number>('runs').as('runs'),
          fn.sum<number>('weight').as('weight'),
          fn.sum<number>('value').as('value'),
          fn.max('weight_max').as('weight_max'),
          fn.min('first_us').as('first_us'),
          fn.max('last_us').as('last_us'),
        ])
        .where('kind', 'in', oneOf([...kinds]))
        .$if(!byTask, (select) => select.where('task', '=', ''))
        .$if(agent !== undefined, (select) => select.where('agent', '=', agent ?? ''))
        .$if(version !== undefined, (select) => select.where('version', '=', version ?? ''))
        .$if(tenant !== undefined, (select) => select.where('tenant', '=', tenant ?? ''))
        .$if(name !== undefined, (select) => select.where('name', '=', name ?? ''))
        // The widths lead to the index by time. A sum of all older runs is in no window.
        .$if(from !== undefined, (select) => select.where('width_us', 'in', oneOf(windowWidths)).where('at_us', '>=', fineTime(from ?? 0)))
        .groupBy(['agent', 'of_version', 'task', 'kind', 'name'])
        .orderBy('agent')
        .orderBy('kind')
        .orderBy('name')
        .orderBy('of_version')
        .orderBy('task')
        .limit(versionFiguresMax)
        .execute();
      return rows.map((row): VersionFigure => ({
        agent: row.agent,
        version: row.of_version,
        task: row.task,
        kind: row.kind as VersionFigureKind,
        name: row.name,
        runs: row.runs,
        weight: row.weight,
        value: row.value,
        weightMax: row.weight_max,
        firstAt: row.first_us,
        lastAt: row.last_us,
      }));
    },
    alertStates: async () => await db.selectFrom('alert_states').selectAll().orderBy('alert').orderBy('agent').execute(),
    async keepAlertStates(states) {
      await db.transaction().execute(async (tx) => {
        await tx.deleteFrom('alert_states').execute();
        for (const state of states) await tx.insertInto('alert_states').values(state).execute();
      });
    },
  };
}
