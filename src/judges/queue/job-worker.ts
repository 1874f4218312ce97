/**
 * The job worker takes waiting jobs out of the store, oldest first, and gives each queue as many as it has slots. The transaction that
 * writes a verdict deletes the job's row, so the next process repeats exactly the unanswered jobs of a dead one. Processes that share a
 * store hold jobs by lease (decision 19).
 */
import type { Clock, Sleep } from '../../model/clock.ts';
import type { JudgeJobStore, WaitingJob } from '../../model/store/judge-store.ts';
import { type Lease, leaseOf, leaseRenewalMs } from '../../model/store/lease.ts';
import type { AskEnd } from '../../pipeline/jury/judge-driver.ts';
import type { ResumedJob } from '../../pipeline/judging.ts';
import type { DeliveryWatermarks, Watermark } from '../../model/watermark.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import { periodicTask, type PeriodicTask } from '../../runtime/periodic-task.ts';

export interface JobWorkerOptions {
  readonly store: JudgeJobStore;
  /** Identifies this process, and its successor over the same journal. */
  readonly owner: string;
  /** Limits of waiting jobs. The worker admits no more than `rows`; a job older than `ageMs` ends as overload. */
  readonly keep: { readonly rows: number; readonly ageMs: number };
  /** Slots of a queue. */
  readonly places: (queueKey: string) => number;
  /** Additional age limit of a queue's jobs. */
  readonly moreMs?: (queueKey: string) => number;
  readonly resume: (job: ResumedJob, done: (ended: boolean) => void, as?: AskEnd) => void;
  readonly watermarks: Pick<DeliveryWatermarks, 'delivered' | 'stored'>;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  readonly sleep: Sleep;
  /** Rests while there is no work. Default: `sleep`. */
  readonly rest?: Sleep | undefined;
  readonly onFault: (error: unknown) => void;
}

export interface JobWorker {
  /** Admits one more job of a queue, which then comes with the next item that is offered to the store. */
  admits(queueKey: string): boolean;
  /** Questions of all jobs that wait or are in progress. `questionsOf`: questions of one job of a queue. */
  waiting(questionsOf: (queueKey: string) => number): number;
  start(): void;
  /** Called when the store got a job that was not admitted here. */
  wake(): void;
  /** Takes no further jobs. May be called twice, and without `start`. */
  stop(): Promise<void>;
}

/** Pause between two rounds, by state: nothing waits, something waits, the store fails. */
const restMs = { idle: 1_000, busy: 50, faulty: 1_000 } as const;
/** Beyond this number the rows are counted once per `countEveryMs`. */
const fewRows = 1_000;
const countEveryMs = 1_000;
/** Limit of jobs that one round takes from a queue. */
const takeMax = 200;
/** Jobs taken per slot, so that a slot is not idle until the next round. */
const perPlace = 2;

interface Taken {
  readonly queueKey: string;
  /** An item at or below this watermark contains the verdict; absent while the job is in progress. */
  endedAt?: Watermark;
}

export function jobWorker({
  store,
  owner,
  keep,
  places,
  moreMs = () => 0,
  resume,
  watermarks,
  telemetry,
  clock,
  sleep,
  rest,
  onFault,
}: JobWorkerOptions): JobWorker {
  const ended = new AbortController();
  /** Jobs by row id. */
  const taken = new Map<number, Taken>();
  /** Admitted jobs that the store may not have yet. A job comes with the first item above `after`. */
  let admitted: { readonly after: Watermark; readonly queueKey: string }[] = [];
  let queues: Awaited<ReturnType<JudgeJobStore['counts']>> = [];
  let rows = 0;
  let countedMs = -Infinity;
  let reported: ReadonlySet<string> = new Set();
  /** Jobs that found no slot, so any process may take them. */
  const released: number[] = [];
  let renewedMs = clock.nowMs();
  let working: PeriodicTask | undefined;
  let state: keyof typeof restMs = 'busy';

  function count(outcome: 'kept' | 'refused' | 'too_old' | 'unreadable', jobs = 1): void {
    telemetry.add('tracejury.judge.jobs', jobs, { 'tracejury.outcome': outcome });
  }

  /** Forgets finished jobs once the store has their verdicts: from then on only the rows decide. */
  function forgetStored(): void {
    const stored = watermarks.stored();
    for (const [id, { endedAt }] of taken) if (endedAt !== undefined && endedAt <= stored) taken.delete(id);
    admitted = admitted.filter(({ after }) => after >= stored);
  }

  async function begin(job: WaitingJob, as?: AskEnd): Promise<void> {
    const { run } = job;
    if (run === undefined) {
      count('unreadable');
      return await store.drop([job.id]);
    }
    const place: Taken = { queueKey: job.queueKey };
    taken.set(job.id, place);
    resume(
      { ...job, run },
      (isEnded) => {
        if (isEnded) place.endedAt = watermarks.delivered();
        else if (taken.delete(job.id)) released.push(job.id);
      },
      as,
    );
  }

  const leased = (): Lease => leaseOf(owner, clock);

  async function tendLeases(): Promise<void> {
    if (released.length > 0) await store.release(owner, released.splice(0));
    if (clock.nowMs() - renewedMs < leaseRenewalMs) return;
    renewedMs = clock.nowMs();
    if (taken.size > 0) await store.renew(leased());
  }

  async function round(): Promise<void> {
    forgetStored();
    await tendLeases();
    await recount();
    await endOld();
    for (const { queueKey } of queues) {
      const own = [...taken].filter(([, one]) => one.queueKey === queueKey);
      const free = Math.min(takeMax, places(queueKey) * perPlace - own.filter(([, { endedAt }]) => endedAt === undefined).length);
      if (free <= 0) continue;
      for (const job of await store.take({ queueKey, limit: free, except: own.map(([id]) => id) }, leased()))
        if (!ended.signal.aborted) await begin(job);
    }
  }

  /** Limits how often many rows are counted. */
  async function recount(): Promise<void> {
    if (rows > fewRows && clock.nowMs() - countedMs < countEveryMs) return;
    queues = await store.counts();
    countedMs = clock.nowMs();
    rows = queues.reduce((sum, { waiting }) => sum + waiting, 0);
    report(queues);
  }

  async function endOld(): Promise<void> {
    for (const { queueKey, oldestAt } of queues) {
      const before = Math.floor((clock.nowMs() - keep.ageMs - moreMs(queueKey)) * 1_000);
      if (oldestAt >= before) continue;
      const old = await store.take({ queueKey, before, limit: takeMax, except: [...taken.keys()] }, leased());
      for (const job of old) await begin(job, { kind: 'overload', reason: 'too_old' });
      if (old.length > 0) count('too_old', old.length);
    }
  }

  function report(counts: Awaited<ReturnType<JudgeJobStore['counts']>>): void {
    const now = new Map(counts.map((one) => [one.queueKey, one] as const));
    for (const queueKey of new Set([...reported, ...now.keys()])) {
      const { waiting = 0, oldestAt } = now.get(queueKey) ?? {};
      telemetry.set('tracejury.judge.jobs.waiting', waiting, { 'tracejury.judge': queueKey });
      telemetry.set('tracejury.judge.jobs.age', oldestAt === undefined ? 0 : Math.max(0, clock.nowMs() / 1_000 - oldestAt / 1_000_000), {
        'tracejury.judge': queueKey,
      });
    }
    reported = new Set(now.keys());
  }

  async function work(): Promise<void> {
    await round();
    state = rows === 0 && admitted.length === 0 && taken.size === 0 ? 'idle' : 'busy';
  }

  return {
    admits(queueKey) {
      if (rows + admitted.length >= keep.rows) {
        count('refused');
        return false;
      }
      count('kept');
      admitted.push({ after: watermarks.delivered(), queueKey });
      if (state === 'idle') working?.wake();
      return true;
    },
    // A round that runs may have read the store before it got the job, so this ends the rest after it.
    wake: () => working?.wake(),
    waiting: (questionsOf) =>
      queues.reduce((sum, { queueKey, waiting }) => sum + waiting * questionsOf(queueKey), 0) +
      admitted.reduce((sum, { queueKey }) => sum + questionsOf(queueKey), 0),
    start: () =>
      void (working ??= periodicTask({
        everyMs: () => restMs[state],
        sleep,
        rest,
        hasWork: () => state !== 'idle',
        work,
        onFault: (error) => {
          state = 'faulty';
          onFault(error);
        },
      })),
    async stop() {
      ended.abort();
      await working?.stop();
    },
  };
}
