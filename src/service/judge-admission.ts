/** Admits runs to the queue of a judge: in a durable store, otherwise in memory. */
import type { Config } from '../config/config.ts';
import { jobWorker, type JobWorker, type JobWorkerOptions } from '../judges/queue/job-worker.ts';
import type { SessionCounts } from '../model/store/session-store.ts';
import type { Store } from '../model/store/store.ts';
import { sampledBy } from '../model/verdict.ts';
import type { ToJudge } from '../pipeline/evaluation/evaluate.ts';
import type { SessionSettings } from '../pipeline/evaluation/session-turns.ts';
import type { Queued } from '../pipeline/judging.ts';
import { ofQuorum, slotsOf } from '../pipeline/jury/jury-panel.ts';
import type { Pipeline, PipelineOptions } from '../pipeline/pipeline.ts';
import type { LongRest } from '../runtime/activity.ts';
import { periodicTask, type PeriodicTask } from '../runtime/periodic-task.ts';
import { type JudgePool, judgesOfQueueKey, type Payer, questionsOf, queueKeyOf } from './judge-pool.ts';
import { clock, sleep } from './node-runtime.ts';
import type { OverloadMonitor } from './overload.ts';
import type { TaskContext } from '../telemetry/context.ts';

/** Functions give parts that are built later, and settings that change. */
interface JudgeAdmissionOptions extends Pick<JobWorkerOptions, 'telemetry' | 'watermarks' | 'onFault'> {
  readonly judges: Pick<JudgePool, 'places' | 'moreMs'>;
  readonly config: () => Pick<Config, 'evaluators' | 'sessions' | 'store'>;
  readonly flow: () => Pick<Pipeline, 'resume'>;
  readonly overload: () => Pick<OverloadMonitor, 'keepsJudges' | 'isCalm'>;
  /** Rests while there is no work. Default: `sleep`. */
  readonly rest?: LongRest | undefined;
}

export interface JudgeAdmission {
  /** The `queue` of the pipeline. */
  readonly place: (work: ToJudge) => Queued | undefined;
  /** Questions in the store that the budget of a judge or an evaluator pays for. */
  readonly waiting: (payer: Payer) => number;
  /** The `sessions` of the pipeline. */
  readonly sessions: NonNullable<PipelineOptions['sessions']>;
  /** `owner`: the name under which this process leases jobs. */
  open(store: Pick<Store, 'isDurable' | 'judgeJobs' | 'judgeSessions'>, owner: string): void;
  stop(): Promise<void>;
}

export function judgeAdmissionOf({ judges, config, flow, overload, ...options }: JudgeAdmissionOptions): JudgeAdmission {
  const keep = {
    get rows() {
      return config().store.judgeJobs.rows;
    },
    get ageMs() {
      return config().store.judgeJobs.ageMs;
    },
  };
  let own: JobWorker | undefined;
  let turns: SessionWatch | undefined;
  let isDurable = false;

  function places(queueKey: string): number {
    if (!overload().isCalm()) return 0;
    const planned = config().evaluators.find(
      (one) => (one.configured.kind === 'http' || one.panel !== undefined) && queueKeyOf(one) === queueKey,
    );
    if (planned?.configured.kind === 'http') return planned.configured.concurrency;
    // Without a quorum the votes decide nothing, and questions to the other judges only cost money.
    return planned?.panel === undefined
      ? judges.places(queueKey)
      : ofQuorum(slotsOf(planned.panel).map(({ judge }) => judges.places(judge)));
  }

  /** Votes wait for the slowest judge of the panel. */
  const moreMs = (queueKey: string): number => Math.max(...judgesOfQueueKey(queueKey, config().evaluators).map(judges.moreMs));

  return {
    place(work) {
      if (!overload().keepsJudges()) return { kind: 'overload', reason: 'stress' };
      // A store in memory ends with the process, so runs go to the judge at once; only sessions wait in it.
      if (own === undefined || !isDurable) return undefined;
      const { configured, probability } = work;
      const { name, evaluator, kind, optionsHash } = configured;
      const queueKey = queueKeyOf(work);
      if (!own.admits(queueKey)) return { kind: 'overload', reason: 'queue_full' };
      return {
        kind: 'job',
        job: {
          name,
          evaluator: evaluator.id,
          evaluatorKind: kind,
          queueKey,
          optionsHash,
          probability,
          ...sampledBy(work),
          offeredAt: Math.floor(clock.nowMs() * 1_000),
        },
      };
    },
    sessions: { queueKeyOf, refused: () => turns?.refused() },
    waiting(payer) {
      const questions = (queueKey: string): number => questionsOf(queueKey, payer, config().evaluators);
      return (own?.waiting(questions) ?? 0) + (turns?.waiting(questions) ?? 0);
    },
    open(store, owner) {
      isDurable = store.isDurable;
      own = jobWorker({
        ...options,
        owner,
        keep,
        store: store.judgeJobs,
        places,
        moreMs,
        resume: (job, done, as) => flow().resume(job, done, as),
        clock,
        sleep,
      });
      own.start();
      turns = sessionWatch({
        ...options,
        onHandedOn: own.wake,
        store,
        settings: () => config().sessions,
        isCalm: () => overload().isCalm(),
        clock,
        sleep,
      });
    },
    async stop() {
      await Promise.all([own?.stop(), turns?.stop()]);
    },
  };
}

interface SessionWatchOptions extends TaskContext {
  readonly store: Pick<Store, 'judgeSessions'>;
  /** The settings in force. */
  readonly settings: () => SessionSettings;
  /** `false` under pressure: sessions then wait. */
  readonly isCalm: () => boolean;
  /** Called when the judge queue got a job. */
  readonly onHandedOn: () => void;
  /** Rests while there is no work. Default: `sleep`. */
  readonly rest?: LongRest | undefined;
}

interface SessionWatch extends Pick<PeriodicTask, 'stop'> {
  /** Why the store takes no further session; `undefined` when it does. */
  refused(): string | undefined;
  /** Questions of sessions that are not in the judge queue yet. */
  waiting(questionsOf: (queueKey: string) => number): number;
}

const pollEveryMs = 1_000;
/** A session that waits is looked at this many times within `sessions.quiet`, also while nothing comes. */
const looksWhileQuiet = 60;
const pollEveryMsMax = 60_000;
/** Each session has all its turns in memory on its way to the judge queue. */
const atOnceMax = 3;
const forgottenAtOnceMax = 1_000;
/** Rows of all sessions; beyond it the oldest that do not wait are deleted, however young. */
export const rowsMax = 1_000_000;

/** Moves sessions that are quiet to the judge queue, and deletes those that were judged long ago. */
export function sessionWatch({
  store: { judgeSessions },
  settings,
  isCalm,
  onHandedOn,
  telemetry,
  clock,
  sleep,
  rest = sleep,
  onFault,
}: SessionWatchOptions): SessionWatch {
  const before = (ms: number): number => Math.floor((clock.nowMs() - ms) * 1_000);
  let counts: SessionCounts = { held: 0, rows: 0, waiting: [] };
  /** Sessions begun since the last count. */
  let begun = 0;

  async function handOn(): Promise<number> {
    const { quietMs, latestMs } = settings();
    const ripe = await judgeSessions.ripe({ quietBefore: before(quietMs), changedBefore: before(latestMs), limit: atOnceMax });
    for (const session of ripe) {
      if (!(await judgeSessions.handOn(session, before(0)))) continue;
      telemetry.add('tracejury.judge.sessions', 1, {
        'gen_ai.evaluation.name': session.name,
        'tracejury.outcome': session.turns.length === 0 ? 'unreadable' : 'judged',
      });
      if (session.leftOut > 0)
        telemetry.add('tracejury.judge.sessions.left_out', session.leftOut, { 'gen_ai.evaluation.name': session.name });
    }
    if (ripe.length > 0) onHandedOn();
    return ripe.length;
  }

  async function sweep(shutdown: AbortSignal): Promise<void> {
    begun = 0;
    counts = await judgeSessions.counts();
    telemetry.set(
      'tracejury.judge.sessions.waiting',
      counts.waiting.reduce((sum, { sessions }) => sum + sessions, 0),
    );
    telemetry.set('tracejury.judge.sessions.held', counts.held);
    while (!shutdown.aborted && isCalm() && (await handOn()) === atOnceMax);
    await judgeSessions.forget(before(counts.rows > rowsMax ? 0 : settings().keepMs), forgottenAtOnceMax);
  }

  const longestMs = (): number =>
    counts.waiting.length === 0 ? pollEveryMsMax : Math.min(pollEveryMsMax, settings().quietMs / looksWhileQuiet);
  // While turns come, each look also corrects the number of sessions.
  const working = periodicTask({
    everyMs: pollEveryMs,
    sleep: (ms, signal) => rest(ms, signal, longestMs()),
    work: sweep,
    onFault,
  });
  return {
    refused() {
      if (counts.held + begun < settings().rows) {
        begun++;
        return undefined;
      }
      telemetry.add('tracejury.judge.sessions', 1, { 'gen_ai.evaluation.name': '', 'tracejury.outcome': 'refused' });
      return 'queue_full';
    },
    waiting: (questionsOf) => counts.waiting.reduce((sum, { queueKey, sessions }) => sum + sessions * questionsOf(queueKey), 0),
    stop: working.stop,
  };
}
