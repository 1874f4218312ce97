/** Admits runs to the queue of a judge: in the store where it outlives the process, otherwise in memory. */
import type { Config } from '../config/config.ts';
import { jobWorker, type JobWorker, type JobWorkerOptions } from '../judges/queue/job-worker.ts';
import type { ToJudge } from '../pipeline/evaluation/evaluate.ts';
import { ofQuorum, slotsOf } from '../pipeline/jury/jury-panel.ts';
import type { Pipeline, PipelineOptions, Queued } from '../pipeline/pipeline.ts';
import type { Store } from '../model/store/store.ts';
import type { JudgePool } from './judge-pool.ts';
import { judgesOfQueueKey, queueKeyOf, questionsOf, type Payer } from './queue-keys.ts';
import { clock, sleep } from './node-runtime.ts';
import { sessionWatch, type SessionWatch } from './session-sweeper.ts';
import type { OverloadMonitor } from './overload-monitor.ts';

/** Functions give what exists later or changes. */
export interface JudgeAdmissionOptions extends Pick<JobWorkerOptions, 'telemetry' | 'watermarks' | 'onFault'> {
  readonly judges: Pick<JudgePool, 'places' | 'moreMs'>;
  readonly config: () => Pick<Config, 'evaluators' | 'sessions' | 'store'>;
  readonly flow: () => Pick<Pipeline, 'resume'>;
  readonly overload: () => Pick<OverloadMonitor, 'keepsJudges' | 'isCalm'>;
}

export interface JudgeAdmission {
  /** The `queue` of the pipeline. */
  readonly place: (work: ToJudge) => Queued | undefined;
  /** Questions of what waits in the store, at the cost of a judge or of an evaluator. */
  readonly waiting: (payer: Payer) => number;
  /** Likewise, of sessions. */
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
    // Without a quorum the votes decide nothing, and asking the others would only cost money.
    return planned?.panel === undefined
      ? judges.places(queueKey)
      : ofQuorum(slotsOf(planned.panel).map(({ judge }) => judges.places(judge)));
  }

  /** Votes wait for the slowest judge of the panel. */
  const moreMs = (queueKey: string): number => Math.max(...judgesOfQueueKey(queueKey, config().evaluators).map(judges.moreMs));

  return {
    place(work) {
      if (!overload().keepsJudges()) return { kind: 'overload', reason: 'stress' };
      // A store in memory ends with the process, so its runs go to the judge at once; only sessions wait in it.
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
          party: queueKey,
          optionsHash,
          probability,
          offeredAt: Math.floor(clock.nowMs() * 1_000),
        },
      };
    },
    sessions: { partyOf: queueKeyOf, refused: () => turns?.refused() },
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
      turns = sessionWatch({ ...options, store, settings: () => config().sessions, isCalm: () => overload().isCalm(), clock, sleep });
    },
    async stop() {
      await Promise.all([own?.stop(), turns?.stop()]);
    },
  };
}
