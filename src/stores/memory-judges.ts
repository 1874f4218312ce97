/** What judges are still to be asked and what they have answered, in a store that ends with the process. */
import type { Run } from '../model/agent-trace.ts';
import type { DueQuery, JudgeAnswerStore, JudgeJobStore, KeptAnswer, WaitingJob } from '../model/store/judge-store.ts';
import type { NewJudgeJob } from '../model/judge-work.ts';
import { jobBody, jobRun } from './judge-job-codec.ts';
import type { Micros } from '../model/timestamp.ts';

export interface MemoryJobs extends JudgeJobStore {
  /** 0: there is none. `run`: its key in the store. */
  revision(run: string, name: string): number;
  /** Undefined: there is none. */
  probability(run: string, name: string): number | undefined;
  put(key: string, run: Run, job: NewJudgeJob): void;
  /** Those of this revision and older ones. */
  end(run: string, name: string, revision: number): void;
  /** The run is gone. Gives how many went with it. */
  forget(run: string): number;
  /** The keys of the runs about which something waits that was chosen since then. */
  awaited(since: Micros): ReadonlySet<string>;
  /** Of all that waits. */
  bytes(): number;
}

interface Kept extends Omit<WaitingJob, 'run'> {
  readonly revision: number;
  readonly body: Uint8Array;
  /** Who asks about it, and until when. */
  lease?: { readonly owner: string; readonly until: Micros } | undefined;
}

export function memoryJobs(): MemoryJobs {
  /** By run, then by evaluator. */
  const runs = new Map<string, Map<string, Kept>>();
  let ids = 0;
  const all = (): readonly Kept[] => [...runs.values()].flatMap((own) => [...own.values()]).sort((one, other) => one.id - other.id);

  const wanted = ({ party, before = Infinity, except }: DueQuery): readonly Kept[] =>
    all().filter((job) => (party === undefined || job.party === party) && job.offeredAt < before && !except.includes(job.id));
  const waitingJob = ({ body, revision: _revision, lease: _lease, ...job }: Kept): WaitingJob => ({ ...job, run: jobRun(body) });

  function remove(run: string, name: string): void {
    const own = runs.get(run);
    own?.delete(name);
    if (own?.size === 0) runs.delete(run);
  }

  return {
    revision: (run, name) => runs.get(run)?.get(name)?.revision ?? 0,
    probability: (run, name) => runs.get(run)?.get(name)?.probability,
    put(key, run, job) {
      const own = runs.get(key) ?? new Map<string, Kept>();
      own.set(job.name, { ...job, id: ++ids, revision: run.session?.revision ?? run.revision, body: jobBody(run) });
      runs.set(key, own);
    },
    end(run, name, revision) {
      if ((runs.get(run)?.get(name)?.revision ?? Infinity) <= revision) remove(run, name);
    },
    forget(run) {
      const gone = runs.get(run)?.size ?? 0;
      runs.delete(run);
      return gone;
    },
    awaited: (since) =>
      new Set([...runs].flatMap(([run, own]) => ([...own.values()].some(({ offeredAt }) => offeredAt >= since) ? [run] : []))),
    bytes: () => all().reduce((sum, { body }) => sum + body.length, 0),
    due: async (query) => wanted(query).slice(0, query.limit).map(waitingJob),
    async take(query, { owner, now, until }) {
      const free = wanted(query)
        .filter(({ lease }) => lease === undefined || lease.owner === owner || lease.until <= now)
        .slice(0, query.limit);
      for (const job of free) job.lease = { owner, until };
      return free.map(waitingJob);
    },
    async renew({ owner, until }) {
      for (const job of all()) if (job.lease?.owner === owner) job.lease = { owner, until };
    },
    async release(owner, ids) {
      for (const job of all()) if (ids.includes(job.id) && job.lease?.owner === owner) job.lease = undefined;
    },
    async drop(gone) {
      for (const [run, own] of runs) for (const { id, name } of own.values()) if (gone.includes(id)) remove(run, name);
    },
    counts: async () =>
      [...Map.groupBy(all(), ({ party }) => party)]
        .map(([party, own]) => ({ party, waiting: own.length, oldestAt: Math.min(...own.map(({ offeredAt }) => offeredAt)) }))
        .sort((one, other) => (one.party < other.party ? -1 : 1)),
  };
}

/** Whoever asks for them holds as many; beyond it those go that came first. */
const answersMax = 10_000;

export function memoryAnswers(): JudgeAnswerStore {
  const answers = new Map<string, KeptAnswer>();
  return {
    async find(key, since) {
      const found = answers.get(key);
      return found === undefined || found.answeredAt < since ? undefined : found;
    },
    async keep(more) {
      for (const one of more) {
        if (one.answeredAt < (answers.get(one.key)?.answeredAt ?? 0)) continue;
        answers.delete(one.key);
        answers.set(one.key, one);
      }
      for (const first of answers.keys()) if (answers.size > answersMax) answers.delete(first);
    },
    async prune({ before, rows, chars }) {
      let [kept, held] = [0, 0];
      for (const { key, value, answeredAt } of [...answers.values()].sort((one, other) => other.answeredAt - one.answeredAt)) {
        kept++;
        held += value.length;
        if (answeredAt < before || kept > rows || held > chars) answers.delete(key);
      }
    },
  };
}
