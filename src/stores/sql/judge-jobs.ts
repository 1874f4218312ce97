/** Open questions to judges in the SQLite store. */
import type { Kysely, Selectable, Transaction } from 'kysely';
import type { RunKey } from '../../model/agent-trace.ts';
import { chunks as pieces } from '../../model/chunks.ts';
import type { DueQuery, JudgeJobStore, WaitingJob } from '../../model/store/judge-store.ts';
import type { EvaluatorKind, Decision } from '../../model/verdict.ts';
import type { BatchRun } from './batch.ts';
import { leaseEnd, mayTake } from './leases.ts';
import { chunks } from './rows.ts';
import type { Tables } from './tables.ts';
import { jobRun } from '../blob-codec.ts';
import type { RunDecision, ScoredRun } from '../../model/scored-run.ts';
import type { NewJudgeJob } from '../../model/judge-work.ts';

type Tx = Transaction<Tables>;

/** Rows of one statement: bodies are some kilobytes each. */
const rowsPerStatement = 100;

export interface Choices {
  readonly pairs: readonly ChosenPair<BatchRun>[];
  /** The row of a run. */
  idOf(run: RunKey): number;
  /** The revision that a run was decided about; 0: it was not. */
  decided(run: RunKey, name: string): number;
}

/** Gives the pairs that say how they ended; what was written before of the same or a newer revision stays. */
export async function writeChosen(tx: Tx, { pairs, idOf, decided }: Choices): Promise<readonly ChosenPair<BatchRun>[]> {
  if (pairs.length === 0) return [];
  const waiting = await waitingRevisions(tx, [...new Set(pairs.map(({ run }) => idOf(run)))]);
  const fresh = pairs.filter(({ run, name }) => Math.max(decided(run, name), waiting.get(`${idOf(run)} ${name}`) ?? 0) < run.revision);
  const rows = fresh.flatMap(({ run, name, what }) => {
    const { waiting: body } = run;
    if (what.kind !== 'job' || body === undefined) return [];
    const { evaluator, evaluatorKind, queueKey: party, optionsHash, probability, raisedBy, upstream, offeredAt } = what.job;
    return [
      {
        run_id: idOf(run),
        name,
        revision: run.revision,
        evaluator,
        kind: evaluatorKind,
        party,
        options_hash: optionsHash,
        probability,
        raised_by: raisedBy ?? null,
        upstream: upstream ?? null,
        offered_us: offeredAt,
        body,
      },
    ];
  });
  await endJobs(
    tx,
    fresh.map(({ run, name }) => ({ runId: idOf(run), name, revision: run.revision })),
  );
  for (const some of pieces(rows, rowsPerStatement)) await tx.insertInto('judge_jobs').values(some).execute();
  return fresh.filter(({ what }) => what.kind === 'decision');
}

/** Jobs of each run and evaluator that waits. */
async function waitingRevisions(tx: Tx, runIds: readonly number[]): Promise<ReadonlyMap<string, number>> {
  const rows = await tx.selectFrom('judge_jobs').select(['run_id', 'name', 'revision']).where('run_id', 'in', runIds).execute();
  return new Map(rows.map(({ run_id: id, name, revision }) => [`${id} ${name}`, revision]));
}

/** Jobs of these revisions and older ones. */
export async function endJobs(
  tx: Tx,
  ended: readonly { readonly runId: number; readonly name: string; readonly revision: number }[],
): Promise<void> {
  for (const { runId, name, revision } of ended)
    await tx.deleteFrom('judge_jobs').where('run_id', '=', runId).where('name', '=', name).where('revision', '<=', revision).execute();
}

/** Number of jobs of these runs. */
export async function jobsOf(db: Kysely<Tables>, runs: readonly number[]): Promise<number> {
  return runs.length === 0
    ? 0
    : (
        await db
          .selectFrom('judge_jobs')
          .select(({ fn }) => fn.countAll<number>().as('count'))
          .where('run_id', 'in', runs)
          .executeTakeFirstOrThrow()
      ).count;
}

export function jobStore(db: Kysely<Tables>): JudgeJobStore {
  /** As many as a query wants, the oldest first. */
  const wanted = ({ queueKey: party, before, limit, except }: DueQuery) =>
    db
      .selectFrom('judge_jobs')
      .$if(party !== undefined, (select) => select.where('party', '=', party ?? ''))
      .$if(before !== undefined, (select) => select.where('offered_us', '<', before ?? 0))
      .$if(except.length > 0, (select) => select.where('id', 'not in', except))
      .orderBy('id')
      .limit(limit);

  return {
    async due(query) {
      return (await wanted(query).selectAll().execute()).map(waitingJob);
    },
    async take(query, lease) {
      const free = wanted(query).where(mayTake(lease)).select('id');
      const rows = await db
        .updateTable('judge_jobs')
        .set({ owner: lease.owner, leased_us: leaseEnd(lease) })
        .where('id', 'in', free)
        .returningAll()
        .execute();
      return rows.sort((one, other) => one.id - other.id).map(waitingJob);
    },
    async renew(lease) {
      await db
        .updateTable('judge_jobs')
        .set({ leased_us: leaseEnd(lease) })
        .where('owner', '=', lease.owner)
        .execute();
    },
    async release(owner, ids) {
      for (const some of chunks(ids))
        await db
          .updateTable('judge_jobs')
          .set({ owner: null, leased_us: null })
          .where('owner', '=', owner)
          .where('id', 'in', some)
          .execute();
    },
    async drop(ids) {
      if (ids.length > 0) await db.deleteFrom('judge_jobs').where('id', 'in', ids).execute();
    },
    async counts() {
      const rows = await db
        .selectFrom('judge_jobs')
        .select(({ fn }) => ['party', fn.countAll<number>().as('waiting'), fn.min('offered_us').as('oldest')])
        .groupBy('party')
        .orderBy('party')
        .execute();
      return rows.map(({ party, waiting, oldest }) => ({ queueKey: party, waiting, oldestAt: oldest }));
    },
  };
}

function waitingJob(row: Selectable<Tables['judge_jobs']>): WaitingJob {
  return {
    id: row.id,
    name: row.name,
    evaluator: row.evaluator,
    evaluatorKind: row.kind as EvaluatorKind,
    queueKey: row.party,
    optionsHash: row.options_hash,
    probability: row.probability,
    ...(row.raised_by === null ? {} : { raisedBy: row.raised_by }),
    ...(row.upstream === null ? {} : { upstream: row.upstream }),
    offeredAt: row.offered_us,
    run: jobRun(row.body),
  };
}

/** The part of an item that carries choices. */
type ChoiceItem<Run> = Pick<ScoredRun, 'decisions' | 'jobs' | 'answered'> & { readonly run: Run };

export interface ChosenPair<Run> {
  readonly run: Run;
  readonly name: string;
  readonly what: { readonly kind: 'job'; readonly job: NewJudgeJob } | { readonly kind: 'decision'; readonly decision: RunDecision };
}

/**
 * Separates choices from final decisions: a replayed run may be chosen differently, by another rate or budget. The first written choice of a
 * revision stays.
 */
export function chosenPairs<Run extends { readonly revision: number }>(
  items: readonly ChoiceItem<Run>[],
  keyText: (run: Run) => string,
): readonly ChosenPair<Run>[] {
  const newest = new Map<string, ChosenPair<Run>>();
  for (const item of items) {
    if (item.answered === true) continue;
    const { run, jobs = [], decisions } = item;
    const own: readonly ChosenPair<Run>[] = [
      ...jobs.map((job) => ({ run, name: job.name, what: { kind: 'job', job } as const })),
      ...decisions.filter(isChoice).map((decision) => ({ run, name: decision.name, what: { kind: 'decision', decision } as const })),
    ];
    for (const pair of own) {
      const key = `${keyText(run)} ${pair.name}`;
      if ((newest.get(key)?.run.revision ?? 0) < run.revision) newest.set(key, pair);
    }
  }
  return [...newest.values()];
}

/** Every other decision is final. */
export function spoken({ answered, decisions }: Pick<ScoredRun, 'decisions' | 'answered'>): readonly RunDecision[] {
  return answered === true ? decisions : decisions.filter((decision) => !isChoice(decision));
}

/** Decisions of a pair that no judge was asked about. */
const unasked: ReadonlySet<Decision> = new Set(['filtered', 'sampled_out', 'over_budget', 'overload']);

function isChoice({ evaluatorKind, decision }: RunDecision): boolean {
  return evaluatorKind !== 'rule' && unasked.has(decision);
}
