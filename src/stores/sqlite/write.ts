/** Writing a batch of scored runs: a few statements of many rows, in one transaction. */
import type { Insertable, Transaction } from 'kysely';
import type { RunKey } from '../../model/agent-trace.ts';
import { jsonText } from '../../model/json.ts';
import { chosenPairs, spoken } from '../chosen-pairs.ts';
import { storedDecisions, storedVerdict } from '../item.ts';
import { settleAnnotations } from './annotations.ts';
import type { Batch, BatchItem, BatchRun } from './batch.ts';
import { chunks } from './chunks.ts';
import { endJobs, writeChosen } from './judge-jobs.ts';
import type { Tables } from './tables.ts';
import { writeExports } from './write-exports.ts';

type Tx = Transaction<Tables>;

interface Known {
  readonly id: number;
  /** Before this batch; 0: there was no such run. */
  readonly revision: number;
}

/** Gives the rows of the exports, in their order. */
export async function writeBatch(tx: Tx, { items, exports }: Batch): Promise<readonly (number | undefined)[]> {
  const runs = newestRuns(items);
  const known = await knownRuns(tx, runs);
  const fresh = [...runs.values()].filter((run) => run.revision > (known.get(keyText(run))?.revision ?? 0));
  for (const [key, id] of await writtenRuns(tx, fresh)) known.set(key, { id, revision: known.get(key)?.revision ?? 0 });
  await writeToolCalls(tx, fresh, known);
  await writeEvaluations(tx, items, known);
  await writeDecisions(tx, items.map((item) => ({ ...item, decisions: spoken(item) })), known);
  await writeAsked(tx, items, known);
  await forgetParts(tx, known);
  await settleAnnotations(tx, [...new Set([...runs.values()].map(({ traceId }) => traceId))]);
  return exports.length === 0 ? [] : await writeExports(tx, exports.map((one) => ({ ...one, runId: idOf(known, one.run) })));
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

async function knownRuns(tx: Tx, runs: ReadonlyMap<string, BatchRun>): Promise<Map<string, Known>> {
  const known = new Map<string, Known>();
  const traces = [...new Set([...runs.values()].map(({ traceId }) => traceId))];
  for (const some of chunks(traces)) {
    const rows = await tx.selectFrom('runs').select(['id', 'revision', 'tenant', 'trace_id', 'span_id']).where('trace_id', 'in', some).execute();
    for (const { id, revision, tenant, trace_id: traceId, span_id: spanId } of rows) known.set(keyText({ tenant, traceId, spanId }), { id, revision });
  }
  return known;
}

async function writtenRuns(tx: Tx, runs: readonly BatchRun[]): Promise<ReadonlyMap<string, number>> {
  const ids = new Map<string, number>();
  for (const some of chunks(runs)) {
    const rows = await tx
      .insertInto('runs')
      .values(some.map(({ columns, content: { content = null, contentGone = null } }) => ({ ...columns, content, content_gone: contentGone })))
      .onConflict((conflict) =>
        conflict.columns(['tenant', 'trace_id', 'span_id']).doUpdateSet(({ ref }) => ({
          agent: ref('excluded.agent'),
          service: ref('excluded.service'),
          version: ref('excluded.version'),
          session_id: ref('excluded.session_id'),
          model: ref('excluded.model'),
          started_us: ref('excluded.started_us'),
          ended_us: ref('excluded.ended_us'),
          completeness: ref('excluded.completeness'),
          status: ref('excluded.status'),
          revision: ref('excluded.revision'),
          part_of: ref('excluded.part_of'),
          content: ref('excluded.content'),
          content_gone: ref('excluded.content_gone'),
        })),
      )
      .returning(['id', 'tenant', 'trace_id', 'span_id'])
      .execute();
    for (const { id, tenant, trace_id: traceId, span_id: spanId } of rows) ids.set(keyText({ tenant, traceId, spanId }), id);
  }
  return ids;
}

async function writeToolCalls(tx: Tx, runs: readonly BatchRun[], known: ReadonlyMap<string, Known>): Promise<void> {
  const replaced = runs.flatMap((run) => (known.get(keyText(run))?.revision === 0 ? [] : [idOf(known, run)]));
  for (const some of chunks(replaced)) await tx.deleteFrom('tool_calls').where('run_id', 'in', some).execute();
  const rows = runs.flatMap((run) => {
    const id = idOf(known, run);
    return run.calls.map(({ name, ended, took }, position): Insertable<Tables['tool_calls']> => ({ run_id: id, position, agent: run.columns.agent, name, ended, took_us: took, started_us: run.columns.started_us }));
  });
  for (const some of chunks(rows)) await tx.insertInto('tool_calls').values(some).execute();
}

async function writeEvaluations(tx: Tx, items: readonly BatchItem[], known: ReadonlyMap<string, Known>): Promise<void> {
  const rows = new Map<string, Insertable<Tables['evaluations']>>();
  for (const { run, evaluations } of items) {
    const id = idOf(known, run);
    for (const evaluation of evaluations) {
      const { verdict, evidence, details, score, reason, sampleProbability, ...rest } = storedVerdict(evaluation);
      const before = rows.get(`${id} ${rest.name}`);
      if (before !== undefined && before.revision > rest.revision) continue;
      rows.set(`${id} ${rest.name}`, {
        ...rest,
        run_id: id,
        kind: evaluation.evaluatorKind,
        options_hash: evaluation.optionsHash,
        verdict,
        score: score ?? null,
        reason: reason ?? null,
        evidence: jsonText([...evidence]),
        details: jsonText(details),
        sample_probability: sampleProbability,
        agent: run.columns.agent,
        started_us: run.columns.started_us,
      });
    }
  }
  for (const some of chunks([...rows.values()])) {
    await tx
      .insertInto('evaluations')
      .values(some)
      .onConflict((conflict) =>
        conflict
          .columns(['run_id', 'name'])
          .doUpdateSet(({ ref }) => ({
            evaluator: ref('excluded.evaluator'),
            kind: ref('excluded.kind'),
            version: ref('excluded.version'),
            options_hash: ref('excluded.options_hash'),
            revision: ref('excluded.revision'),
            verdict: ref('excluded.verdict'),
            score: ref('excluded.score'),
            label: ref('excluded.label'),
            explanation: ref('excluded.explanation'),
            reason: ref('excluded.reason'),
            evidence: ref('excluded.evidence'),
            details: ref('excluded.details'),
            sample_probability: ref('excluded.sample_probability'),
            agent: ref('excluded.agent'),
            started_us: ref('excluded.started_us'),
          }))
          .whereRef('excluded.revision', '>=', 'evaluations.revision'),
      )
      .execute();
  }
}

/** After what is said for good, which decides over the same batch as over what was written before. */
async function writeAsked(tx: Tx, items: readonly BatchItem[], known: ReadonlyMap<string, Known>): Promise<void> {
  const id = (run: RunKey): number => idOf(known, run);
  const answered = items.filter((item) => item.answered === true);
  await endJobs(tx, answered.flatMap(({ run, decisions }) => decisions.map(({ name }) => ({ runId: id(run), name, revision: run.revision }))));
  const chosen = await writeChosen(tx, chosenPairs(items, keyText), id);
  await writeDecisions(tx, chosen.map(({ run, what }) => ({ run, decisions: what.kind === 'decision' ? [what.decision] : [] })), known);
}

async function writeDecisions(tx: Tx, items: readonly Pick<BatchItem, 'run' | 'decisions'>[], known: ReadonlyMap<string, Known>): Promise<void> {
  const rows = new Map<string, Insertable<Tables['decisions']>>();
  for (const item of items) {
    const id = idOf(known, item.run);
    for (const { name, evaluator, revision, decision, reason } of storedDecisions(item)) {
      if ((rows.get(`${id} ${name}`)?.revision ?? 0) <= revision) rows.set(`${id} ${name}`, { run_id: id, name, evaluator, revision, decision, reason: reason ?? null });
    }
  }
  for (const some of chunks([...rows.values()])) {
    await tx
      .insertInto('decisions')
      .values(some)
      .onConflict((conflict) =>
        conflict
          .columns(['run_id', 'name'])
          .doUpdateSet(({ ref }) => ({ evaluator: ref('excluded.evaluator'), revision: ref('excluded.revision'), decision: ref('excluded.decision'), reason: ref('excluded.reason') }))
          .whereRef('excluded.revision', '>=', 'decisions.revision'),
      )
      .execute();
  }
}

/** What was said of a run that turned out to be part of another one is said of that one now. */
async function forgetParts(tx: Tx, known: ReadonlyMap<string, Known>): Promise<void> {
  for (const some of chunks([...known.values()].map(({ id }) => id))) {
    const parts = (await tx.selectFrom('runs').select('id').where('id', 'in', some).where('part_of', 'is not', null).execute()).map(({ id }) => id);
    if (parts.length === 0) continue;
    for (const table of ['evaluations', 'decisions', 'tool_calls', 'judge_jobs'] as const) await tx.deleteFrom(table).where('run_id', 'in', parts).execute();
  }
}

function idOf(known: ReadonlyMap<string, Known>, run: RunKey): number {
  const found = known.get(keyText(run));
  if (found === undefined) throw new Error('a run was written without an id');
  return found.id;
}
