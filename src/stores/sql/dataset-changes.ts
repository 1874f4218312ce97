/** Changes of datasets in the SQLite store: each in one transaction, as one version. */
import type { Insertable, Kysely, Transaction } from 'kysely';
import { chunks } from '../../model/chunks.ts';
import type { DatasetExample } from '../../model/example.ts';
import { contentDigest, inputFingerprint } from '../../model/example-fingerprint.ts';
import { type JsonObject, jsonText } from '../../model/json.ts';
import {
  changedExamplesMax,
  datasetExamplesMax,
  datasetsMax,
  datasetVersionsMax,
  exampleBytesMax,
  type DatasetChange,
  type DatasetKey,
  type DatasetOutcome,
  type LeftOutExample,
} from '../../model/store/dataset-store.ts';
import { brief } from '../compression.ts';
import { oneOf } from './rows.ts';
import type { Tables } from './tables.ts';

type Tx = Transaction<Tables>;

/** Longer bodies are compressed. */
const plainBytesMax = 512;
/** SQLite takes 32,766 values in one statement, and a row has 11. */
const rowsPerInsert = 500;
const rowsPerRead = 1_000;

interface DatasetHead {
  readonly id: number;
  readonly version: number;
  readonly examples: number;
}

/** An example as its row has it, but for its place and versions. */
interface Candidate {
  readonly id: string;
  readonly columns: Pick<
    Insertable<Tables['dataset_examples']>,
    'example_id' | 'is_draft' | 'split' | 'tags' | 'fingerprint' | 'digest' | 'body'
  >;
}

/** Encodes before the transaction, while which other writers wait. */
export async function changeDataset(db: Kysely<Tables>, key: DatasetKey, change: DatasetChange): Promise<DatasetOutcome> {
  const put = new Map((change.put ?? []).map((example) => [example.id, example]));
  const removed = [...new Set(change.remove)].filter((id) => !put.has(id));
  const surplus = [...put.keys(), ...removed].slice(changedExamplesMax);
  const isSurplus = new Set(surplus);
  const leftOut: LeftOutExample[] = surplus.map((id) => ({ id, reason: 'surplus' }));
  const candidates = [...put.values()].flatMap((example) => {
    if (isSurplus.has(example.id)) return [];
    const candidate = candidateOf(example);
    if (candidate === undefined) leftOut.push({ id: example.id, reason: 'too_large' });
    return candidate ?? [];
  });
  const toRemove = removed.filter((id) => !isSurplus.has(id));
  return await db.transaction().execute(async (tx) => {
    const head = await headFor(tx, key, change);
    if (head === 'full') return { kind: 'full', of: 'datasets' };
    const outcome =
      change.expected !== undefined && change.expected !== head.version
        ? ({ kind: 'conflict', version: head.version } as const)
        : await applied(tx, head, { change, candidates, toRemove, leftOut });
    if (head.version === 0 && (outcome.kind !== 'written' || outcome.version === 0))
      await tx.deleteFrom('datasets').where('id', '=', head.id).execute();
    return outcome;
  });
}

/** `undefined` when it is too large. */
function candidateOf(example: DatasetExample): Candidate | undefined {
  const text = jsonText(example as unknown as JsonObject);
  if (Buffer.byteLength(text) > exampleBytesMax) return undefined;
  return {
    id: example.id,
    columns: {
      example_id: example.id,
      is_draft: example.review === 'draft' ? 1 : 0,
      split: example.split ?? null,
      tags: jsonText(example.tags ?? []),
      fingerprint: inputFingerprint(example.input),
      digest: contentDigest(example),
      body: brief(text, plainBytesMax),
    },
  };
}

/** The first statement writes, so that no other process writes between what is read and what follows from it. */
async function headFor(tx: Tx, { tenant, name }: DatasetKey, { at }: DatasetChange): Promise<DatasetHead | 'full'> {
  const row = await tx
    .insertInto('datasets')
    .values({ tenant, name, version: 0, examples: 0, created_us: at, changed_us: at })
    .onConflict((conflict) => conflict.columns(['tenant', 'name']).doUpdateSet(({ ref }) => ({ version: ref('datasets.version') })))
    .returning(['id', 'version', 'examples'])
    .executeTakeFirstOrThrow();
  if (row.version > 0) return row;
  const { datasets } = await tx
    .selectFrom('datasets')
    .select(({ fn }) => fn.countAll<number>().as('datasets'))
    .where('tenant', '=', tenant)
    .executeTakeFirstOrThrow();
  if (datasets <= datasetsMax) return row;
  await tx.deleteFrom('datasets').where('id', '=', row.id).execute();
  return 'full';
}

interface ChangeWork {
  readonly change: DatasetChange;
  readonly candidates: readonly Candidate[];
  readonly toRemove: readonly string[];
  readonly leftOut: LeftOutExample[];
}

interface PresentRow {
  readonly id: number;
  readonly example_id: string;
  readonly place: number;
  readonly is_draft: number;
  readonly digest: string;
}

async function applied(tx: Tx, head: DatasetHead, { change, candidates, toRemove, leftOut }: ChangeWork): Promise<DatasetOutcome> {
  const present = await presentRows(tx, head.id, [...candidates.map(({ id }) => id), ...toRemove]);
  const gone = toRemove.flatMap((id) => {
    const row = present.get(id);
    if (row === undefined) leftOut.push({ id, reason: 'unknown' });
    return row ?? [];
  });
  const taken = change.isDistinct === true ? await takenInputs(tx, head.id, candidates) : undefined;
  const { replaced, added, unchanged } = sorted({ change, candidates, present, taken, leftOut, room: roomIn(head, gone.length, change) });
  const counts = { added: added.length, changed: replaced.length, removed: gone.length, unchanged };
  const changedReviewed = replaced.filter(({ row }) => row.is_draft === 0).length;
  if (added.length + replaced.length + gone.length === 0)
    return { kind: 'written', version: head.version, ...counts, changedReviewed, leftOut };
  if (head.version >= datasetVersionsMax) return { kind: 'full', of: 'versions' };
  const version = head.version + 1;
  await ended(tx, version, [...gone, ...replaced.map(({ row }) => row)]);
  let place = await lastPlace(tx, head.id);
  await inserted(tx, head.id, version, [
    ...replaced.map(({ row, candidate }) => ({ candidate, place: row.place })),
    ...added.map((candidate) => ({ candidate, place: ++place })),
  ]);
  await noted(tx, { ...head, version, examples: head.examples + added.length - gone.length }, change, counts);
  return { kind: 'written', version, ...counts, changedReviewed, leftOut };
}

function roomIn(head: DatasetHead, gone: number, { examplesMax = datasetExamplesMax }: DatasetChange): number {
  return Math.min(examplesMax, datasetExamplesMax) - (head.examples - gone);
}

interface Sorting {
  readonly change: DatasetChange;
  readonly candidates: readonly Candidate[];
  readonly present: ReadonlyMap<string, PresentRow>;
  /** Ids of the examples of the dataset by their input; `undefined` when inputs may repeat. */
  readonly taken: Map<string, string> | undefined;
  readonly leftOut: LeftOutExample[];
  readonly room: number;
}

interface Sorted {
  readonly replaced: readonly { readonly row: PresentRow; readonly candidate: Candidate }[];
  readonly added: readonly Candidate[];
  readonly unchanged: number;
}

function sorted({ change: { replaces = 'all' }, candidates, present, taken, leftOut, room }: Sorting): Sorted {
  const replaced: { readonly row: PresentRow; readonly candidate: Candidate }[] = [];
  const added: Candidate[] = [];
  let unchanged = 0;
  for (const candidate of candidates) {
    const { id } = candidate;
    const row = present.get(id);
    const sameInput = taken?.get(candidate.columns.fingerprint) ?? id;
    if (row?.digest === candidate.columns.digest) unchanged++;
    else if (row !== undefined && (replaces === 'none' || (replaces === 'drafts' && row.is_draft === 0)))
      leftOut.push({ id, reason: 'kept' });
    else if (sameInput !== id) leftOut.push({ id, reason: 'duplicate' });
    else if (row === undefined && added.length >= room) leftOut.push({ id, reason: 'full' });
    else {
      taken?.set(candidate.columns.fingerprint, id);
      if (row === undefined) added.push(candidate);
      else replaced.push({ row, candidate });
    }
  }
  return { replaced, added, unchanged };
}

async function presentRows(tx: Tx, dataset: number, ids: readonly string[]): Promise<ReadonlyMap<string, PresentRow>> {
  const found = new Map<string, PresentRow>();
  for (const some of chunks(ids, rowsPerRead))
    for (const row of await tx
      .selectFrom('dataset_examples')
      .select(['id', 'example_id', 'place', 'is_draft', 'digest'])
      .where('dataset_id', '=', dataset)
      .where('example_id', 'in', oneOf(some))
      .where('until_version', 'is', null)
      .execute())
      found.set(row.example_id, row);
  return found;
}

async function takenInputs(tx: Tx, dataset: number, candidates: readonly Candidate[]): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const some of chunks(candidates, rowsPerRead))
    for (const row of await tx
      .selectFrom('dataset_examples')
      .select(['example_id', 'fingerprint'])
      .where('dataset_id', '=', dataset)
      .where('fingerprint', 'in', oneOf(some.map(({ columns }) => columns.fingerprint)))
      .where('until_version', 'is', null)
      .execute())
      found.set(row.fingerprint, row.example_id);
  return found;
}

async function ended(tx: Tx, version: number, rows: readonly PresentRow[]): Promise<void> {
  for (const some of chunks(rows, rowsPerRead))
    await tx
      .updateTable('dataset_examples')
      .set({ until_version: version })
      .where('id', 'in', oneOf(some.map(({ id }) => id)))
      .execute();
}

async function lastPlace(tx: Tx, dataset: number): Promise<number> {
  const row = await tx
    .selectFrom('dataset_examples')
    .select(({ fn }) => fn.max<number | null>('place').as('last'))
    .where('dataset_id', '=', dataset)
    .executeTakeFirst();
  return row?.last ?? 0;
}

async function inserted(
  tx: Tx,
  dataset: number,
  version: number,
  rows: readonly { readonly candidate: Candidate; readonly place: number }[],
): Promise<void> {
  for (const some of chunks(rows, rowsPerInsert))
    await tx
      .insertInto('dataset_examples')
      .values(
        some.map(({ candidate: { columns }, place }) => ({
          ...columns,
          dataset_id: dataset,
          place,
          from_version: version,
          until_version: null,
        })),
      )
      .execute();
}

async function noted(
  tx: Tx,
  { id, version, examples }: DatasetHead,
  { at, by, note }: DatasetChange,
  { added, changed, removed }: { readonly added: number; readonly changed: number; readonly removed: number },
): Promise<void> {
  await tx.updateTable('datasets').set({ version, examples, changed_us: at }).where('id', '=', id).execute();
  await tx
    .insertInto('dataset_versions')
    .values({ dataset_id: id, version, at_us: at, made_by: by, note: note ?? null, added, changed, removed, examples })
    .execute();
}
