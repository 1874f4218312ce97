/** Experiments and their results in the SQLite store. */
import { type Kysely, type Selectable, type SelectQueryBuilder, sql, type Transaction } from 'kysely';
import {
  type Experiment,
  type ExperimentResult,
  type ExperimentState,
  experimentStates,
  type ResultStatus,
  resultStatuses,
  spanExperimentOpenMicros,
  statusOfResult,
} from '../../model/experiment.ts';
import type { Tenant } from '../../model/ids.ts';
import type { Micros } from '../../model/timestamp.ts';
import { type JsonObject, jsonText, parseJson } from '../../model/json.ts';
import {
  type AddedResult,
  deletedExperimentsMax,
  type ExperimentKey,
  type ExperimentQuery,
  type ExperimentPage,
  type ExperimentStore,
  experimentsMax,
  experimentsPageMax,
  resultBytesMax,
  resultsMax,
  resultsPageMax,
  spanExperimentsMax,
  type StoredExperiment,
} from '../../model/store/experiment-store.ts';
import { brief, briefText } from '../compression.ts';
import { bodyPage } from './body-pages.ts';
import type { Tables } from './tables.ts';

type Db = Kysely<Tables>;
type Tx = Transaction<Tables>;

/** Longer bodies are compressed. */
const plainBytesMax = 512;

export function experimentStore(db: Db): ExperimentStore {
  return {
    begin: (experiment) => begun(db, experiment),
    async update(key, { state, endedAt, provenance }) {
      const { numUpdatedRows } = await db
        .updateTable('experiments')
        .set({ state, ended_us: endedAt ?? null, ...(provenance === undefined ? {} : { provenance: jsonOf(provenance) }) })
        .where('tenant', '=', key.tenant)
        .where('experiment_id', '=', key.id)
        .where('state', '!=', done)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    add: (key, result) => added(db, key, result),
    merge: (key, result, at) => merged(db, key, result, at),
    list: (query) => listed(db, query),
    experiment: async (key) => (await listed(db, { tenant: key.tenant, limit: 1 }, key.id)).experiments[0],
    async results(key, { limit, after, status, exampleId }) {
      const { rows, next } = await bodyPage(
        { limit: Math.min(limit, resultsPageMax), after },
        {
          read: async (behind, count) =>
            await ofExperiment(db, key)
              .select(['r.id', 'r.body'])
              .$if(behind !== undefined, (query) => query.where('r.id', '>', behind ?? 0))
              .$if(status !== undefined, (query) => query.where('r.status', '=', status ?? ''))
              .$if(exampleId !== undefined, (query) => query.where('r.example_id', '=', exampleId ?? ''))
              .orderBy('r.id')
              .limit(count)
              .execute(),
          placeOf: ({ id }) => id,
        },
      );
      return { results: rows.map(({ text }) => ofJson<ExperimentResult>(text)), next };
    },
    async done(key) {
      const rows = await ofExperiment(db, key).select(['r.example_id', 'r.repeat']).execute();
      return rows.map(({ example_id: exampleId, repeat }) => ({ exampleId, repeat }));
    },
    delete: async ({ tenant, id }) =>
      (await deleted(db, db.selectFrom('experiments').select('id').where('tenant', '=', tenant).where('experiment_id', '=', id))) > 0,
    deleteSome: async ({ tenant, name, dataset, before }) =>
      await deleted(
        db,
        db
          .selectFrom('experiments')
          .select('id')
          .where('tenant', '=', tenant)
          .$if(name !== undefined, (query) => query.where('name', '=', name ?? ''))
          .$if(dataset !== undefined, (query) => query.where('dataset', '=', dataset ?? ''))
          .$if(before !== undefined, (query) => query.where('changed_us', '<', before ?? 0))
          .orderBy('id')
          .limit(deletedExperimentsMax),
      ),
    async prune({ now, before, limit }) {
      await db
        .updateTable('experiments')
        .set(({ ref }) => ({ state: done, ended_us: ref('changed_us') }))
        .where('from_spans', '=', 1)
        .where('state', '=', 'running')
        .where('changed_us', '<', now - spanExperimentOpenMicros)
        .execute();
      return await deleted(
        db,
        db.selectFrom('experiments').select('id').where('changed_us', '<', before).orderBy('changed_us').limit(limit),
      );
    },
  };
}

const done = 'done' satisfies ExperimentState;
/** Other writers wait for each statement. */
const resultsPerDelete = 5_000;

/** Results go first, some at a time. A process that ends meanwhile leaves an experiment with fewer results, which is deleted again. */
async function deleted(db: Db, which: SelectQueryBuilder<Tables, 'experiments', { id: number }>): Promise<number> {
  const ids = (await which.execute()).map(({ id }) => id);
  for (const id of ids) {
    for (let gone = resultsPerDelete; gone >= resultsPerDelete;) {
      const some = db.selectFrom('experiment_results').select('id').where('experiment', '=', id).limit(resultsPerDelete);
      const { numDeletedRows } = await db.deleteFrom('experiment_results').where('id', 'in', some).executeTakeFirst();
      gone = Number(numDeletedRows);
    }
    await db.deleteFrom('experiments').where('id', '=', id).execute();
  }
  return ids.length;
}

function ofExperiment(db: Db, { tenant, id }: ExperimentKey) {
  return db
    .selectFrom('experiments as e')
    .innerJoin('experiment_results as r', 'r.experiment', 'e.id')
    .where('e.tenant', '=', tenant)
    .where('e.experiment_id', '=', id);
}

/** The first statement writes, so that no other process writes between what is counted and what follows from it. */
async function begun(
  db: Db,
  { id, tenant, name, dataset, repeats, state, beganAt, endedAt, provenance, evaluators, isFromSpans }: Experiment,
) {
  const from = isFromSpans === true ? 1 : 0;
  return await db.transaction().execute(async (tx) => {
    if (from === 0) await giveUpId(tx, { tenant, id });
    const made = await tx
      .insertInto('experiments')
      .values({
        tenant,
        experiment_id: id,
        name,
        dataset: dataset?.name ?? null,
        repeats,
        state,
        began_us: beganAt,
        ended_us: endedAt ?? null,
        from_spans: from,
        changed_us: beganAt,
        dataset_facts: dataset === undefined ? null : jsonOf(dataset),
        provenance: jsonOf(provenance),
        evaluators: jsonOf(evaluators),
      })
      .onConflict((conflict) => conflict.doNothing())
      .returning('id')
      .executeTakeFirst();
    if (made === undefined) return 'known';
    const { count } = await tx
      .selectFrom('experiments')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('tenant', '=', tenant)
      .where('from_spans', '=', from)
      .executeTakeFirstOrThrow();
    if (count <= (isFromSpans === true ? spanExperimentsMax : experimentsMax)) return 'begun';
    await tx.deleteFrom('experiments').where('id', '=', made.id).execute();
    return 'full';
  });
}

/** A new id for an experiment made only of spans whose id is taken. The row id makes it unique; ids have 100 characters at most. */
async function giveUpId(tx: Tx, { tenant, id }: ExperimentKey): Promise<void> {
  await tx
    .updateTable('experiments')
    .set({ experiment_id: sql<string>`substr(experiment_id, 1, 80) || '.spans-' || id` })
    .where('tenant', '=', tenant)
    .where('experiment_id', '=', id)
    .where('from_spans', '=', 1)
    .execute();
}

async function added(db: Db, key: ExperimentKey, given: ExperimentResult): Promise<AddedResult> {
  const result = withinBytes(given);
  return await db.transaction().execute(async (tx) => {
    const experiment = await lockedRow(tx, key, result.endedAt);
    if (experiment === undefined) return 'unknown';
    if (experiment.state === done || experiment.from_spans === 1) return 'closed';
    if (experiment.results >= resultsMax) return (await existing(tx, experiment.id, result)) === undefined ? 'full' : 'known';
    return await inserted(tx, experiment.id, result);
  });
}

async function inserted(tx: Tx, experiment: number, result: ExperimentResult): Promise<AddedResult> {
  const row = await tx
    .insertInto('experiment_results')
    .values({
      experiment,
      example_id: result.exampleId,
      repeat: result.repeat,
      status: result.status,
      trace_id: result.run?.traceId ?? null,
      span_id: result.run?.spanId ?? null,
      body: brief(jsonOf(result), plainBytesMax),
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst();
  if (row === undefined) return 'known';
  await tx
    .updateTable('experiments')
    .set(({ eb }) => ({ results: eb('results', '+', 1) }))
    .where('id', '=', experiment)
    .execute();
  return 'added';
}

async function existing(tx: Tx, experiment: number, { exampleId, repeat }: ExperimentResult) {
  return await tx
    .selectFrom('experiment_results')
    .select('id')
    .where('experiment', '=', experiment)
    .where('example_id', '=', exampleId)
    .where('repeat', '=', repeat)
    .executeTakeFirst();
}

async function merged(
  db: Db,
  key: ExperimentKey,
  result: ExperimentResult & Required<Pick<ExperimentResult, 'run'>>,
  at: Micros,
): Promise<AddedResult> {
  return await db.transaction().execute(async (tx) => {
    const experiment = await lockedRow(tx, key, at);
    if (experiment === undefined) return 'unknown';
    if (experiment.state === done || experiment.from_spans === 0) return 'closed';
    const known = await tx
      .selectFrom('experiment_results')
      .select(['id', 'body'])
      .where('experiment', '=', experiment.id)
      .where('trace_id', '=', result.run.traceId)
      .where('span_id', '=', result.run.spanId)
      .executeTakeFirst();
    if (known === undefined) {
      if (experiment.results >= resultsMax) return 'full';
      const { last } = await tx
        .selectFrom('experiment_results')
        .select(({ fn }) => fn.max<number | null>('repeat').as('last'))
        .where('experiment', '=', experiment.id)
        .where('example_id', '=', result.exampleId)
        .executeTakeFirstOrThrow();
      return await inserted(tx, experiment.id, withinBytes({ ...result, repeat: (last ?? 0) + 1 }));
    }
    const before = bodyOf(known.body);
    const names = new Set(result.verdicts.map(({ name }) => name));
    const verdicts = [...before.verdicts.filter(({ name }) => !names.has(name)), ...result.verdicts];
    const { error, ...first } = before;
    // A later revision of the run may have ended well.
    const kept = error === undefined || error.kind === 'run_error' ? {} : { error };
    const whole = { ...first, ...kept, ...result, repeat: before.repeat, verdicts };
    const after = withinBytes({ ...whole, status: statusOfResult(whole) });
    await tx
      .updateTable('experiment_results')
      .set({ status: after.status, body: brief(jsonOf(after), plainBytesMax) })
      .where('id', '=', known.id)
      .execute();
    return 'known';
  });
}

type LockedRow = Pick<Selectable<Tables['experiments']>, 'id' | 'results' | 'state' | 'from_spans'>;

/** After this write no other process writes until the end of the transaction. */
async function lockedRow(tx: Tx, { tenant, id }: ExperimentKey, at: Micros): Promise<LockedRow | undefined> {
  return await tx
    .updateTable('experiments')
    .set(({ eb, ref }) => ({
      changed_us: eb.case().when('state', '=', done).then(ref('changed_us')).else(at).end(),
    }))
    .where('tenant', '=', tenant)
    .where('experiment_id', '=', id)
    .returning(['id', 'results', 'state', 'from_spans'])
    .executeTakeFirst();
}

async function listed(db: Db, { tenant, name, dataset, isFromSpans, limit, after }: ExperimentQuery, id?: string): Promise<ExperimentPage> {
  const size = Math.min(limit, experimentsPageMax);
  const rows = await db
    .selectFrom('experiments as e')
    .selectAll('e')
    .$if(tenant !== undefined, (query) => query.where('e.tenant', '=', tenant ?? ''))
    .$if(name !== undefined, (query) => query.where('e.name', '=', name ?? ''))
    .$if(dataset !== undefined, (query) => query.where('e.dataset', '=', dataset ?? ''))
    .$if(isFromSpans !== undefined, (query) => query.where('e.from_spans', '=', Number(isFromSpans)))
    .$if(id !== undefined, (query) => query.where('e.experiment_id', '=', id ?? ''))
    .$if(after !== undefined, (query) => query.where('e.id', '<', after ?? 0))
    .orderBy('e.id', 'desc')
    .limit(size + 1)
    .execute();
  const page = rows.slice(0, size);
  const counts = await statusCounts(
    db,
    page.map((row) => row.id),
  );
  return {
    experiments: page.map((row) => experimentOf(row, counts.get(row.id))),
    next: rows.length > size ? page.at(-1)?.id : undefined,
  };
}

async function statusCounts(db: Db, ids: readonly number[]): Promise<ReadonlyMap<number, ReadonlyMap<string, number>>> {
  const found = new Map<number, Map<string, number>>();
  if (ids.length === 0) return found;
  const rows = await db
    .selectFrom('experiment_results')
    .select(['experiment', 'status', sql<number>`count(*)`.as('count')])
    .where('experiment', 'in', ids)
    .groupBy(['experiment', 'status'])
    .execute();
  for (const { experiment, status, count } of rows)
    found.set(experiment, (found.get(experiment) ?? new Map<string, number>()).set(status, count));
  return found;
}

function experimentOf(row: Selectable<Tables['experiments']>, counts: ReadonlyMap<string, number> | undefined): StoredExperiment {
  const count = (status: ResultStatus): number => counts?.get(status) ?? 0;
  return {
    id: row.experiment_id,
    tenant: row.tenant as Tenant,
    name: row.name,
    ...(row.dataset_facts === null ? {} : { dataset: ofJson<NonNullable<Experiment['dataset']>>(row.dataset_facts) }),
    repeats: row.repeats,
    state: experimentStates.find((state) => state === row.state) ?? 'stopped',
    beganAt: row.began_us,
    endedAt: row.ended_us ?? undefined,
    provenance: ofJson<Experiment['provenance']>(row.provenance),
    evaluators: ofJson<Experiment['evaluators']>(row.evaluators),
    ...(row.from_spans === 1 ? { isFromSpans: true as const } : {}),
    results: row.results,
    statuses: Object.fromEntries(resultStatuses.map((status) => [status, count(status)])) as StoredExperiment['statuses'],
  };
}

/** Characters of each explanation that remain of a result that is too large. */
const explanationCharsMax = 500;
const verdictsMax = 200;

function withinBytes(result: ExperimentResult): ExperimentResult {
  if (Buffer.byteLength(jsonOf(result)) <= resultBytesMax) return result;
  const cut = (text: string): string => text.slice(0, explanationCharsMax);
  return {
    ...result,
    ...(result.error === undefined ? {} : { error: { ...result.error, message: cut(result.error.message) } }),
    verdicts: result.verdicts.slice(0, verdictsMax).map((one) => ({ ...one, explanation: cut(one.explanation), label: cut(one.label) })),
  };
}

function jsonOf(value: object): string {
  return jsonText(value as JsonObject);
}

function ofJson<Kept>(text: string): Kept {
  return parseJson(text) as unknown as Kept;
}

function bodyOf(body: Uint8Array): ExperimentResult {
  return ofJson<ExperimentResult>(briefText(body));
}
