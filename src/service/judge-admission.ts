/** What waits for judges: in the store where that outlives the process, else in memory, before the judge. */
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

/** What is there later, or changes, is asked for each time. */
export interface JudgeQueueOptions extends Pick<JobWorkerOptions, 'telemetry' | 'watermarks' | 'onFault'> {
  readonly bench: Pick<JudgePool, 'places' | 'moreMs'>;
  readonly config: () => Pick<Config, 'evaluators' | 'sessions' | 'store'>;
  readonly flow: () => Pick<Pipeline, 'resume'>;
  readonly pressed: () => Pick<OverloadMonitor, 'keepsJudges' | 'isCalm'>;
}

export interface JudgeQueue {
  /** As the pipeline asks for it. */
  readonly place: (work: ToJudge) => Queued | undefined;
  /** Questions of what waits in the store, at the cost of a judge or of an evaluator. */
  readonly waiting: (payer: Payer) => number;
  /** Likewise, of sessions. */
  readonly sessions: NonNullable<PipelineOptions['sessions']>;
  /** `owner`: as whom this process takes what waits. */
  open(store: Pick<Store, 'isDurable' | 'judgeJobs' | 'judgeSessions'>, owner: string): void;
  stop(): Promise<void>;
}

export function judgeQueue({ bench, config, flow, pressed, ...options }: JudgeQueueOptions): JudgeQueue {
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

  function places(party: string): number {
    if (!pressed().isCalm()) return 0;
    const planned = config().evaluators.find(
      (one) => (one.configured.kind === 'http' || one.panel !== undefined) && queueKeyOf(one) === party,
    );
    if (planned?.configured.kind === 'http') return planned.configured.concurrency;
    // As long as no quorum of them is there, asking the others would cost money and come to nothing.
    return planned?.panel === undefined ? bench.places(party) : ofQuorum(slotsOf(planned.panel).map(({ judge }) => bench.places(judge)));
  }

  /** Votes wait for the slowest of those that may be asked. */
  const moreMs = (party: string): number => Math.max(...judgesOfQueueKey(party, config().evaluators).map(bench.moreMs));

  return {
    place(work) {
      if (!pressed().keepsJudges()) return { kind: 'overload', reason: 'stress' };
      // What ends with the process is asked at once; only sessions wait there.
      if (own === undefined || !isDurable) return undefined;
      const { configured, probability } = work;
      const { name, evaluator, kind, optionsHash } = configured;
      const party = queueKeyOf(work);
      if (!own.admits(party)) return { kind: 'overload', reason: 'queue_full' };
      return {
        kind: 'job',
        job: {
          name,
          evaluator: evaluator.id,
          evaluatorKind: kind,
          party,
          optionsHash,
          probability,
          offeredAt: Math.floor(clock.nowMs() * 1_000),
        },
      };
    },
    sessions: { partyOf: queueKeyOf, refused: () => turns?.refused() },
    waiting(payer) {
      const questions = (party: string): number => questionsOf(party, payer, config().evaluators);
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
      turns = sessionWatch({ ...options, store, settings: () => config().sessions, isCalm: () => pressed().isCalm(), clock, sleep });
    },
    async stop() {
      await Promise.all([own?.stop(), turns?.stop()]);
    },
  };
}
