/** Writing a batch of scored runs, in one transaction. */
import type { Transaction } from 'kysely';
import type { AddedExport } from '../../model/store/export-store.ts';
import type { RunKey } from '../../model/agent-trace.ts';
import { endJobs, writeChosen, chosenPairs, spoken } from './judge-jobs.ts';
import { lasting } from '../compression.ts';
import { storedDecisions } from '../row-mapping.ts';
import { settleAnnotations } from './annotations.ts';
import type { Batch, BatchItem, BatchRun } from './batch.ts';
import { type Rows, chunks, oneOf } from './rows.ts';
import { forgetTurns, writeTurns } from './sessions.ts';
import type { Tables } from './tables.ts';
import { writeExports } from './outbox.ts';

type Tx = Transaction<Tables>;

interface Known {
  readonly id: number;
  /** Before this batch; 0: there was no such run. */
  readonly revision: number;
  /** It turned out to be part of another run. */
  readonly isPart: boolean;
}

/** Resolves with the fate of each export, in their order. A batch without items has exports of runs that are written already. */
export async function writeBatch(tx: Tx, to: Rows, { items, exports }: Batch): Promise<readonly AddedExport[]> {
  const runs = newestRuns(items);
  const known = await knownRuns(tx, [...tracesOf(runs), ...(items.length === 0 ? exports.map(({ run }) => run.traceId) : [])]);
  if (items.length > 0) await writeItems(tx, to, { items, runs, known });
  const placed = exports.map((one) => ({ ...one, runId: known.get(keyText(one.run))?.id }));
  return exports.length === 0 ? [] : await writeExports(tx, to, placed);
}

async function writeItems(
  tx: Tx,
  to: Rows,
  { items, runs, known }: { readonly runs: ReadonlyMap<string, BatchRun>; readonly known: Map<string, Known> } & Pick<Batch, 'items'>,
): Promise<void> {
  const fresh = [...runs.values()].filter((run) => run.revision > (known.get(keyText(run))?.revision ?? 0));
  writeRuns(to, fresh, known);
  await writeToolCalls(tx, to, fresh, known);
  writeEvaluations(to, items, known);
  writeDecisions(
    to,
    items.map((item) => ({ ...item, decisions: spoken(item) })),
    known,
  );
  await writeAsked(tx, to, items, known);
  writeDecisions(to, await writeTurns(tx, items, (run) => idOf(known, run)), known);
  await forgetParts(tx, known);
  await settleAnnotations(tx, tracesOf(runs));
}

/** Of a run, or of a row that was one. */
function keyText({ tenant, traceId, spanId }: { readonly [part in keyof RunKey]: string }): string {
  return `${traceId}/${spanId}/${tenant}`;
}

/** Of each run the highest revision; of equal ones the first. */
function newestRuns(items: readonly BatchItem[]): ReadonlyMap<string, BatchRun> {
  const runs = new Map<string, BatchRun>();
  for (const { run } of items) {
    const key = keyText(run);
    const before = runs.get(key);
    if (before === undefined || run.revision > before.revision) runs.set(key, run);
  }
  return runs;
}

function tracesOf(runs: ReadonlyMap<string, BatchRun>): readonly string[] {
  return [...new Set([...runs.values()].map(({ traceId }) => traceId))];
}

async function knownRuns(tx: Tx, traces: readonly string[]): Promise<Map<string, Known>> {
  const rows = await tx
    .selectFrom('runs')
    .select(['id', 'revision', 'tenant', 'trace_id', 'span_id', 'part_of'])
    .where('trace_id', 'in', oneOf([...new Set(traces)]))
    .execute();
  return new Map(
    rows.map(({ id, revision, tenant, trace_id: traceId, span_id: spanId, part_of: partOf }) => [
      keyText({ tenant, traceId, spanId }),
      { id, revision, isPart: partOf !== null },
    ]),
  );
}

function writeRuns(to: Rows, runs: readonly BatchRun[], known: Map<string, Known>): void {
  for (const run of runs) {
    const {
      columns,
      content: { content, contentGone = null },
    } = run;
    const id = to.run({ ...columns, content: content === undefined ? null : lasting(content), content_gone: contentGone });
    known.set(keyText(run), { id, revision: known.get(keyText(run))?.revision ?? 0, isPart: columns.part_of !== null });
  }
}

async function writeToolCalls(tx: Tx, to: Rows, runs: readonly BatchRun[], known: ReadonlyMap<string, Known>): Promise<void> {
  const replaced = runs.flatMap((run) => (known.get(keyText(run))?.revision === 0 ? [] : [idOf(known, run)]));
  for (const some of chunks(replaced)) await tx.deleteFrom('tool_calls').where('run_id', 'in', some).execute();
  for (const run of runs) {
    const {
      columns: { agent, started_us: startedAt },
    } = run;
    const id = idOf(known, run);
    for (const [position, { name, ended, took }] of run.calls.entries())
      to.toolCall({ run_id: id, position, agent, name, ended, took_us: took, started_us: startedAt });
  }
}

function writeEvaluations(to: Rows, items: readonly BatchItem[], known: ReadonlyMap<string, Known>): void {
  for (const { run, evaluations } of items) {
    const id = idOf(known, run);
    for (const evaluation of evaluations)
      to.evaluation({ ...evaluation, run_id: id, agent: run.columns.agent, started_us: run.columns.started_us });
  }
}

/** After what is said for good, which decides over the same batch as over what was written before. */
async function writeAsked(tx: Tx, to: Rows, items: readonly BatchItem[], known: ReadonlyMap<string, Known>): Promise<void> {
  const id = (run: RunKey): number => idOf(known, run);
  const answered = items.filter((item) => item.answered === true);
  await endJobs(
    tx,
    answered.flatMap(({ run, decisions }) =>
      decisions.map(({ name }) => ({ runId: id(run), name, revision: run.session?.revision ?? run.revision })),
    ),
  );
  const chosen = await writeChosen(tx, chosenPairs(items, keyText), id);
  writeDecisions(
    to,
    chosen.map(({ run, what }) => ({ run, decisions: what.kind === 'decision' ? [what.decision] : [] })),
    known,
  );
}

function writeDecisions(to: Rows, items: readonly Pick<BatchItem, 'run' | 'decisions'>[], known: ReadonlyMap<string, Known>): void {
  for (const item of items) {
    const id = idOf(known, item.run);
    for (const { name, evaluator, revision, decision, reason, probability } of storedDecisions(item))
      to.decision({ run_id: id, name, evaluator, revision, decision, reason: reason ?? null, probability: probability ?? null });
  }
}

/** What was said of a run that turned out to be part of another one is said of that one now. */
async function forgetParts(tx: Tx, known: ReadonlyMap<string, Known>): Promise<void> {
  const parts = [...known.values()].flatMap(({ id, isPart }) => (isPart ? [id] : []));
  await forgetTurns(tx, parts);
  for (const some of chunks(parts))
    for (const table of ['evaluations', 'decisions', 'tool_calls', 'judge_jobs'] as const)
      await tx.deleteFrom(table).where('run_id', 'in', some).execute();
}

function idOf(known: ReadonlyMap<string, Known>, run: RunKey): number {
  const found = known.get(keyText(run));
  if (found === undefined) throw new Error('a run was written without an id');
  return found.id;
}
