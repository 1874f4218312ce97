/** Writes revisions of a replay, with their exports and the checkpoint, in one transaction. */
import { sql, type Transaction } from 'kysely';
import type { RevisionFate } from '../../model/store/replay-store.ts';
import { addEntry, parsedEntries, type RunEntry } from '../run-record.ts';
import type { RevisionBatch } from './batch.ts';
import { endJobs } from './judge-jobs.ts';
import { type FaultChange, writeFaults } from './issue-writes.ts';
import { writeExports } from './outbox.ts';
import type { Rows } from './rows.ts';
import { readEntries } from './run-entries.ts';
import { verdictChanges, type WrittenRevision, writeRunRevisions } from './run-revisions.ts';
import type { Tables } from './tables.ts';
import { isSaidBy, keyText, knownRuns, saveEntries, type Known } from './write.ts';

type Tx = Transaction<Tables>;

/** Gives the fate of each revision, in their order. */
export async function writeRevisions(tx: Tx, to: Rows, { revisions, checkpoint }: RevisionBatch): Promise<readonly RevisionFate[]> {
  const known = await knownRuns(
    tx,
    revisions.map(({ key }) => key.traceId),
  );
  const fates = revisions.map(({ key, before }) => fateOf(known.get(keyText(key)), before));
  const written = revisions.filter((_, at) => fates[at] === 'written');
  const idOf = (key: (typeof written)[number]['key']): number => known.get(keyText(key))?.id ?? Number.NaN;
  const stored = await readEntries(
    tx,
    written.map(({ key }) => idOf(key)),
  );
  const all = new Map<string, ReadonlyMap<string, RunEntry>>();
  const rows: WrittenRevision[] = [];
  for (const { key, revision, record } of written) {
    const entries = new Map((stored.get(idOf(key)) ?? []).map((entry) => [entry.name, entry]));
    const changed = parsedEntries(record.verdicts);
    for (const entry of changed) addEntry(entries, entry);
    all.set(keyText(key), entries);
    rows.push({ runId: idOf(key), revision, changes: verdictChanges(stored.get(idOf(key)) ?? [], entries.values()) });
    const { startedAt } = known.get(keyText(key)) ?? {};
    if (startedAt !== undefined) await to.changed(startedAt);
    await tx.updateTable('runs').set({ revision }).where('id', '=', idOf(key)).execute();
    await endJobs(
      tx,
      changed.map(({ name }) => ({ runId: idOf(key), name, revision })),
    );
  }
  await saveEntries(to, all, known);
  await writeFaults(
    tx,
    written.flatMap((one) => faultChange(one, known.get(keyText(one.key)))),
  );
  await writeRunRevisions(tx, rows);
  const exports = written.flatMap(({ key, exports: own }) => own.map((one) => ({ ...one, runId: idOf(key) })));
  if (exports.length > 0) await writeExports(tx, to, exports);
  await writeCheckpoint(tx, checkpoint, fates);
  return fates;
}

function faultChange(
  { key: { tenant }, record, faults }: RevisionBatch['revisions'][number],
  known: Known | undefined,
): readonly FaultChange[] {
  if (known === undefined) return [];
  const { id: runId, startedAt, agent, version, session } = known;
  return [{ runId, isNew: false, tenant, agent, version, startedAt, session, sessionBefore: session, faults, isSaid: isSaidBy(record) }];
}

function fateOf(known: Known | undefined, before: number): RevisionFate {
  if (known === undefined) return 'gone';
  return known.revision === before && !known.isPart ? 'written' : 'changed';
}

/** The counts of fates add up over the batches of a replay. */
async function writeCheckpoint(
  tx: Tx,
  { id, state, to, after, at }: RevisionBatch['checkpoint'],
  fates: readonly RevisionFate[],
): Promise<void> {
  const count = (fate: RevisionFate): number => fates.filter((one) => one === fate).length;
  const row = { state, to_us: to, after_us: after.startedAt, after_id: after.id, at_us: at };
  await tx
    .insertInto('replays')
    .values({ id, ...row, written: count('written'), changed: count('changed'), gone: count('gone') })
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet({
        ...row,
        written: sql<number>`replays.written + excluded.written`,
        changed: sql<number>`replays.changed + excluded.changed`,
        gone: sql<number>`replays.gone + excluded.gone`,
      }),
    )
    .execute();
}
