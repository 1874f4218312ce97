/** Records of runs, read from blocks and carried over where a batch does not write them. */
import { sql, type Kysely } from 'kysely';
import { encodedEntries, parsedEntries, type RunEntry } from '../run-record.ts';
import type { RunRecord } from '../../model/store/store.ts';
import type { TextPlace } from './blocks.ts';
import { figuresBytes, markChars } from './marks.ts';
import { oneOf, type SaidColumns } from './rows.ts';
import type { Tables } from './tables.ts';

type Db = Kysely<Tables>;

/** Columns of the runs of that name in the statement, with the block of their verdicts as `b`. */
export const verdictsText = sql<string | null>`block_text(b.body, runs.verdicts_at, runs.verdicts_length)`;

/** Ordered by name. A run without entries is not there. */
export async function readEntries(db: Db, ids: readonly number[]): Promise<ReadonlyMap<number, readonly RunEntry[]>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('runs')
    .innerJoin('blocks as b', 'b.id', 'runs.verdicts_block')
    .select(['runs.id', verdictsText.as('verdicts')])
    .where('runs.id', 'in', oneOf(ids))
    // One block after the other is decompressed once.
    .orderBy('b.id')
    .execute();
  return new Map(rows.map(({ id, verdicts }) => [id, sorted(parsedEntries(verdicts ?? '[]'))]));
}

function sorted(entries: readonly RunEntry[]): readonly RunEntry[] {
  return entries.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

/** Entries of a run that is there. */
export async function writeEntries(tx: Db, id: number, entries: readonly RunEntry[]): Promise<void> {
  const { marks, figures, verdicts, failures } = encodedEntries(entries);
  const chars = await markChars(tx, marks);
  const place = entries.length === 0 ? undefined : { block: await blockOf(tx, Buffer.from(verdicts)), at: 0, length: null };
  await tx
    .updateTable('runs')
    .set(saidColumns({ marks: chars, figures, failures }, place))
    .where('id', '=', id)
    .execute();
}

/** Id of the row of one text. */
export async function blockOf(tx: Db, body: Uint8Array): Promise<number> {
  return (await tx.insertInto('blocks').values({ live: 1, body }).returning('id').executeTakeFirstOrThrow()).id;
}

/** The record of a run, with the characters of its marks. */
type Said = Pick<RunRecord, 'marks' | 'figures' | 'failures'>;

export function saidColumns({ marks, figures, failures }: Said, place: TextPlace | undefined): SaidColumns {
  return {
    marks,
    figures: figuresBytes(figures),
    failures,
    verdicts_block: place?.block ?? null,
    verdicts_at: place?.at ?? null,
    verdicts_length: place?.length ?? null,
  };
}
