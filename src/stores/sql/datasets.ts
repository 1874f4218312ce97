/** Datasets in the SQLite store: reading. `dataset-changes.ts` writes. */
import { sql, type Kysely, type Selectable } from 'kysely';
import type { DatasetExample } from '../../model/example.ts';
import type { Tenant } from '../../model/ids.ts';
import { parseJson } from '../../model/json.ts';
import {
  examplesPageMax,
  type DatasetDifference,
  type DatasetKey,
  type DatasetStore,
  type DatasetVersion,
  type ExamplePage,
  type ExampleQuery,
  type ExampleRevision,
  type StoredDataset,
  type StoredExample,
} from '../../model/store/dataset-store.ts';
import { briefText } from '../compression.ts';
import { bodyPage } from './body-pages.ts';
import { changeDataset } from './dataset-changes.ts';
import type { Tables } from './tables.ts';

type Db = Kysely<Tables>;

export function datasetStore(db: Db): DatasetStore {
  return {
    change: (key, change) => changeDataset(db, key, change),
    list: (tenant) => listed(db, tenant),
    dataset: async (key) => (await listed(db, key.tenant, key.name))[0],
    versions: (key, query) => versionsOf(db, key, query),
    examples: (key, version, query) => pageOf(db, key, version, query),
    example: (key, version, id) => oneOf(db, key, version, id),
    history: (key, id, limit) => historyOf(db, key, id, limit),
    diff: (key, versions, query) => difference(db, key, versions, query),
    async delete({ tenant, name }) {
      const { numDeletedRows } = await db.deleteFrom('datasets').where('tenant', '=', tenant).where('name', '=', name).executeTakeFirst();
      return numDeletedRows > 0n;
    },
  };
}

async function listed(db: Db, tenant: Tenant | undefined, name?: string): Promise<readonly StoredDataset[]> {
  const rows = await db
    .selectFrom('datasets as d')
    .selectAll('d')
    .select(({ selectFrom, fn }) =>
      selectFrom('dataset_examples as e')
        .select(fn.countAll<number>().as('drafts'))
        .whereRef('e.dataset_id', '=', 'd.id')
        .where('e.until_version', 'is', null)
        .where('e.is_draft', '=', sql<number>`1`)
        .as('drafts'),
    )
    .$if(tenant !== undefined, (query) => query.where('d.tenant', '=', tenant ?? ''))
    .$if(name !== undefined, (query) => query.where('d.name', '=', name ?? ''))
    .orderBy('d.name')
    .orderBy('d.tenant')
    .execute();
  return rows.map((row) => ({
    tenant: row.tenant as Tenant,
    name: row.name,
    version: row.version,
    examples: row.examples,
    drafts: row.drafts ?? 0,
    createdAt: row.created_us,
    changedAt: row.changed_us,
  }));
}

/** `undefined`: there is no such dataset, or no such version. */
async function versionOf(
  db: Db,
  { tenant, name }: DatasetKey,
  version: number | undefined,
): Promise<{ readonly id: number; readonly version: number } | undefined> {
  const found = await db
    .selectFrom('datasets')
    .select(['id', 'version'])
    .where('tenant', '=', tenant)
    .where('name', '=', name)
    .executeTakeFirst();
  if (found === undefined || version === undefined) return found;
  return version >= 1 && version <= found.version ? { id: found.id, version } : undefined;
}

async function versionsOf(
  db: Db,
  key: DatasetKey,
  { limit, before }: { readonly limit: number; readonly before?: number },
): Promise<readonly DatasetVersion[]> {
  const dataset = await versionOf(db, key, undefined);
  if (dataset === undefined) return [];
  const rows = await db
    .selectFrom('dataset_versions')
    .selectAll()
    .where('dataset_id', '=', dataset.id)
    .$if(before !== undefined, (query) => query.where('version', '<', before ?? 0))
    .orderBy('version', 'desc')
    .limit(limit)
    .execute();
  return rows.map(versionRow);
}

function versionRow(row: Omit<Selectable<Tables['dataset_versions']>, 'dataset_id'>): DatasetVersion {
  const { version, made_by: by, note, added, changed, removed, examples } = row;
  return { version, at: row.at_us, by, note: note ?? undefined, added, changed, removed, examples };
}

/** The bodies that one version has. */
function validAt(db: Db, dataset: number, version: number) {
  return db
    .selectFrom('dataset_examples')
    .where('dataset_id', '=', dataset)
    .where('from_version', '<=', version)
    .where(({ eb, or }) => or([eb('until_version', 'is', null), eb('until_version', '>', version)]));
}

async function pageOf(
  db: Db,
  key: DatasetKey,
  wanted: number | undefined,
  { limit, after, split, tag, isDraft }: ExampleQuery,
): Promise<ExamplePage | undefined> {
  const dataset = await versionOf(db, key, wanted);
  if (dataset === undefined) return undefined;
  const { rows, next } = await bodyPage(
    { limit: Math.min(limit, examplesPageMax), after },
    {
      read: async (behind, count) =>
        await validAt(db, dataset.id, dataset.version)
          .select(['place', 'from_version', 'body'])
          .$if(behind !== undefined, (query) => query.where('place', '>', behind ?? 0))
          .$if(split !== undefined, (query) => query.where('split', '=', split ?? ''))
          .$if(tag !== undefined, (query) => query.where(sql<boolean>`exists (select 1 from json_each(tags) where value = ${tag ?? ''})`))
          .$if(isDraft !== undefined, (query) => query.where('is_draft', '=', sql<number>`${isDraft === true ? 1 : 0}`))
          .orderBy('place')
          .limit(count)
          .execute(),
      placeOf: ({ place }) => place,
    },
  );
  return {
    version: dataset.version,
    examples: rows.map(({ row: { from_version: since }, text }) => ({ example: parseJson(text) as unknown as DatasetExample, since })),
    next,
  };
}

async function oneOf(db: Db, key: DatasetKey, version: number | undefined, id: string): Promise<StoredExample | undefined> {
  const dataset = await versionOf(db, key, version);
  if (dataset === undefined) return undefined;
  const row = await validAt(db, dataset.id, dataset.version)
    .select(['from_version', 'body'])
    .where('example_id', '=', id)
    .executeTakeFirst();
  return row === undefined ? undefined : storedExample(row);
}

async function historyOf(db: Db, key: DatasetKey, id: string, limit: number): Promise<readonly ExampleRevision[]> {
  const dataset = await versionOf(db, key, undefined);
  if (dataset === undefined) return [];
  const rows = await db
    .selectFrom('dataset_examples as e')
    .innerJoin('dataset_versions as v', (join) => join.onRef('v.dataset_id', '=', 'e.dataset_id').onRef('v.version', '=', 'e.from_version'))
    .selectAll('v')
    .select(['e.until_version', 'e.body'])
    .where('e.dataset_id', '=', dataset.id)
    .where('e.example_id', '=', id)
    .orderBy('e.from_version', 'desc')
    .limit(limit)
    .execute();
  return rows.map((row) => ({ from: versionRow(row), until: row.until_version ?? undefined, example: bodyOf(row.body) }));
}

interface DifferenceRow {
  readonly place: number;
  readonly example_id: string;
  readonly before: Uint8Array | null;
  readonly after: Uint8Array | null;
}

async function difference(
  db: Db,
  key: DatasetKey,
  { from, to }: { readonly from: number; readonly to: number },
  { limit, after = 0 }: { readonly limit: number; readonly after?: number },
): Promise<DatasetDifference | undefined> {
  const [old, young] = [await versionOf(db, key, from), await versionOf(db, key, to)];
  if (old === undefined || young === undefined) return undefined;
  const isIn = (version: number) => sql`(from_version <= ${version} and (until_version is null or until_version > ${version}))`;
  const columns = sql`example_id, place, digest, body`;
  const differing = sql`
    with b as (select ${columns} from dataset_examples where dataset_id = ${old.id} and ${isIn(from)} and not ${isIn(to)}),
         a as (select ${columns} from dataset_examples where dataset_id = ${old.id} and ${isIn(to)} and not ${isIn(from)}),
         differing as (
           select coalesce(a.place, b.place) as place, coalesce(a.example_id, b.example_id) as example_id, b.body as before, a.body as after
           from a full join b on a.example_id = b.example_id where a.digest is distinct from b.digest)`;
  const counts = await sql<{ readonly added: number; readonly changed: number; readonly removed: number }>`${differing}
    select count(*) filter (where before is null) as added, count(*) filter (where before is not null and after is not null) as changed,
           count(*) filter (where after is null) as removed from differing`.execute(db);
  const size = Math.min(limit, examplesPageMax);
  const found = await sql<DifferenceRow>`${differing}
    select * from differing where place > ${after} order by place limit ${size + 1}`.execute(db);
  const page = found.rows.slice(0, size);
  return {
    ...(counts.rows[0] ?? { added: 0, changed: 0, removed: 0 }),
    examples: page.map((row) => ({
      id: row.example_id,
      before: row.before === null ? undefined : bodyOf(row.before),
      after: row.after === null ? undefined : bodyOf(row.after),
    })),
    next: found.rows.length > size ? page.at(-1)?.place : undefined,
  };
}

function storedExample({ from_version: since, body }: { readonly from_version: number; readonly body: Uint8Array }): StoredExample {
  return { example: bodyOf(body), since };
}

function bodyOf(body: Uint8Array): DatasetExample {
  return parseJson(briefText(body)) as unknown as DatasetExample;
}
