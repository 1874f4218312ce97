/** What waits for backends, written with the runs that it is of. */
import type { Transaction } from 'kysely';
import type { BatchExport } from './batch.ts';
import { chunks, oneOf } from './chunks.ts';
import type { ExportRow, Rows } from './rows.ts';
import type { Tables } from './tables.ts';

type Tx = Transaction<Tables>;

interface RunExport extends BatchExport {
  readonly runId: number;
}

/** Within the transaction that writes their runs. Gives the row of each, in their order; undefined: a newer revision is there. */
export async function writeExports(tx: Tx, to: Rows, exports: readonly RunExport[]): Promise<readonly (number | undefined)[]> {
  const newest = new Map<string, RunExport>();
  for (const one of exports) {
    const before = newest.get(keyText(one));
    if (before !== undefined && one.revision < before.revision) continue;
    // A newer revision stands at its own place in the order, as it does when a batch of its own brings it.
    newest.delete(keyText(one));
    newest.set(keyText(one), one);
  }
  await giveWay(tx, newest);
  const ids = new Map<string, number>();
  for (const [key, one] of newest) if (one.already !== 'sent') ids.set(key, to.exported(newRow(one)));
  return exports.map((one) => (newest.get(keyText(one)) === one ? ids.get(keyText(one)) : undefined));
}

function newRow({ runId, exporter, part, revision, item, offeredAt, already }: RunExport): ExportRow {
  const dead = typeof already === 'object' ? already : undefined;
  return {
    run_id: runId,
    exporter,
    part,
    revision,
    state: dead === undefined ? 'waiting' : 'dead',
    attempts: dead?.attempts ?? 0,
    offered_us: offeredAt,
    due_us: 0,
    reason: dead?.reason ?? null,
    item,
  };
}

/** Rows of older revisions make room; where there is a newer one, nothing is written. */
async function giveWay(tx: Tx, newest: Map<string, RunExport>): Promise<void> {
  const runs = [...new Set([...newest.values()].map(({ runId }) => runId))];
  const rows = await tx
    .selectFrom('exports')
    .select(['id', 'run_id', 'exporter', 'part', 'revision'])
    .where('run_id', 'in', oneOf(runs))
    .execute();
  const older: number[] = [];
  for (const { id, run_id: runId, exporter, part, revision } of rows) {
    const key = keyText({ runId, exporter, part });
    const one = newest.get(key);
    if (one === undefined) continue;
    if (one.revision < revision) newest.delete(key);
    else older.push(id);
  }
  for (const some of chunks(older)) await tx.deleteFrom('exports').where('id', 'in', some).execute();
}

function keyText({ runId, exporter, part }: Pick<RunExport, 'runId' | 'exporter' | 'part'>): string {
  return `${runId} ${exporter} ${part}`;
}
