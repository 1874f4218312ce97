/** Process models in the SQLite store. */
import type { Kysely, Selectable, Transaction } from 'kysely';
import { readProcessModel } from '../../../evaluators/process/model-json.ts';
import { halvedProcess, mergedProcess } from '../../analytics/process-learning.ts';
import type { Tenant } from '../../model/ids.ts';
import { jsonText, parseJson, type JsonValue } from '../../model/json.ts';
import { emptyProcess, type ProcessModel } from '../../model/process-model.ts';
import { processesMax, type ProcessKey, type ProcessRow, type ProcessStore, type StoredProcess } from '../../model/store/process-store.ts';
import type { Tables } from './tables.ts';

type Db = Kysely<Tables>;
type Row = Selectable<Tables['processes']>;

const rowColumns = ['tenant', 'agent', 'version', 'runs', 'is_frozen', 'began_us', 'changed_us'] as const;

export function processStore(db: Db): ProcessStore {
  return {
    async list({ tenant, agent, limit }) {
      const rows = await db
        .selectFrom('processes')
        .select(rowColumns)
        .$if(tenant !== undefined, (query) => query.where('tenant', '=', tenant ?? ''))
        .$if(agent !== undefined, (query) => query.where('agent', '=', agent ?? ''))
        .orderBy('used_us', 'desc')
        .orderBy('id', 'desc')
        .limit(limit)
        .execute();
      return rows.map(rowOf);
    },
    read: (key) => oneOf(db, key),
    async before({ tenant, agent, version, beganAt }) {
      const row = await db
        .selectFrom('processes')
        .selectAll()
        .where('tenant', '=', tenant)
        .where('agent', '=', agent)
        .where('version', '!=', version)
        .where('began_us', '<=', beganAt)
        .orderBy('began_us', 'desc')
        .orderBy('id', 'desc')
        .limit(1)
        .executeTakeFirst();
      return row === undefined ? undefined : processOf(row);
    },
    add: (key, learnt, { runsMax, freezes, at }) =>
      db.transaction().execute(async (tx) => {
        const known = await oneOf(tx, key);
        if (known?.isFrozen === true) return known;
        const sum = mergedProcess(known?.model ?? emptyProcess, learnt);
        const isFull = sum.runs >= runsMax;
        const model = isFull && !freezes ? halvedProcess(sum) : sum;
        const next: StoredProcess = {
          ...key,
          runs: model.runs,
          isFrozen: isFull && freezes,
          beganAt: known?.beganAt ?? at,
          changedAt: at,
          model,
        };
        await write(tx, next);
        if (known === undefined) await removeSurplus(tx, key.tenant);
        return next;
      }),
    async remove({ tenant, agent, version }) {
      const { numDeletedRows } = await db
        .deleteFrom('processes')
        .where('tenant', '=', tenant)
        .where('agent', '=', agent)
        .where('version', '=', version)
        .executeTakeFirst();
      return numDeletedRows > 0n;
    },
    async used(keys, at) {
      if (keys.length === 0) return;
      await db.transaction().execute(async (tx) => {
        for (const { tenant, agent, version } of keys)
          await tx
            .updateTable('processes')
            .set({ used_us: at })
            .where('tenant', '=', tenant)
            .where('agent', '=', agent)
            .where('version', '=', version)
            .execute();
      });
    },
  };
}

async function oneOf(db: Db, { tenant, agent, version }: ProcessKey): Promise<StoredProcess | undefined> {
  const row = await db
    .selectFrom('processes')
    .selectAll()
    .where('tenant', '=', tenant)
    .where('agent', '=', agent)
    .where('version', '=', version)
    .executeTakeFirst();
  return row === undefined ? undefined : processOf(row);
}

async function write(
  tx: Transaction<Tables>,
  { tenant, agent, version, runs, isFrozen, beganAt, changedAt, model }: StoredProcess,
): Promise<void> {
  const columns = {
    runs,
    is_frozen: isFrozen ? 1 : 0,
    changed_us: changedAt,
    used_us: changedAt,
    model: jsonText(model as unknown as JsonValue),
  };
  await tx
    .insertInto('processes')
    .values({ tenant, agent, version, began_us: beganAt, ...columns })
    .onConflict((conflict) => conflict.columns(['tenant', 'agent', 'version']).doUpdateSet(columns))
    .execute();
}

async function removeSurplus(tx: Transaction<Tables>, tenant: Tenant): Promise<void> {
  const surplus = await tx
    .selectFrom('processes')
    .select('id')
    .where('tenant', '=', tenant)
    .orderBy('used_us', 'desc')
    .orderBy('id', 'desc')
    .limit(processesMax)
    .offset(processesMax)
    .execute();
  for (const { id } of surplus) await tx.deleteFrom('processes').where('id', '=', id).execute();
}

function rowOf(row: Pick<Row, (typeof rowColumns)[number]>): ProcessRow {
  return {
    tenant: row.tenant as Tenant,
    agent: row.agent,
    version: row.version,
    runs: row.runs,
    isFrozen: row.is_frozen === 1,
    beganAt: row.began_us,
    changedAt: row.changed_us,
  };
}

function processOf(row: Row): StoredProcess {
  return { ...rowOf(row), model: modelOf(row.model) };
}

/** A model that another release wrote in another form begins anew. */
function modelOf(text: string): ProcessModel {
  const read = readProcessModel(parseJson(text));
  return read.kind === 'read' ? read.model : emptyProcess;
}
