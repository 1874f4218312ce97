/** What waits for judges: in the store where that outlives the process, else in memory, before the judge. */
import type { Config } from '../config/config.ts';
import { desk, type Desk, type DeskOptions } from '../judges/desk.ts';
import { endpointParty } from '../judges/http-calls.ts';
import type { ToJudge } from '../pipeline/evaluate.ts';
import type { Pipeline, Queued } from '../pipeline/pipeline.ts';
import type { Keeper } from '../stores/keeper.ts';
import type { Store } from '../stores/store.ts';
import type { JudgeBench } from './judge-bench.ts';
import { clock, sleep } from './machine.ts';
import type { StressWatch } from './stress-watch.ts';

/** What is there later, or changes, is asked for each time. */
export interface JudgeQueueOptions extends Pick<DeskOptions, 'telemetry' | 'onFault'> {
  readonly bench: Pick<JudgeBench, 'places'>;
  readonly config: () => Pick<Config, 'evaluators' | 'store'>;
  readonly flow: () => Pick<Pipeline, 'resume'>;
  readonly keeper: () => Pick<Keeper, 'offered' | 'settled'> | undefined;
  readonly pressed: () => Pick<StressWatch, 'keepsJudges' | 'isCalm'>;
}

export interface JudgeQueue {
  /** As the pipeline asks for it. */
  readonly place: (work: ToJudge) => Queued | undefined;
  open(store: Pick<Store, 'isDurable' | 'judgeJobs'>): void;
  stop(): Promise<void>;
}

export function judgeQueue({ bench, config, flow, keeper, pressed, ...options }: JudgeQueueOptions): JudgeQueue {
  const keep = { get rows() { return config().store.judgeJobs.rows; }, get ageMs() { return config().store.judgeJobs.ageMs; } };
  const keeping = { offered: () => keeper()?.offered() ?? 0, settled: () => keeper()?.settled() ?? 0 };
  let own: Desk | undefined;

  function places(party: string): number {
    if (!pressed().isCalm()) return 0;
    const planned = config().evaluators.find(({ configured }) => configured.kind === 'http' && endpointParty(configured.name) === party);
    return planned?.configured.kind === 'http' ? planned.configured.concurrency : bench.places(party);
  }

  return {
    place(work) {
      if (!pressed().keepsJudges()) return { kind: 'overload', reason: 'stress' };
      if (own === undefined) return undefined;
      if (!own.admits()) return { kind: 'overload', reason: 'queue_full' };
      const { configured, judge = '', probability } = work;
      const { name, evaluator, kind, optionsHash } = configured;
      return { kind: 'job', job: { name, evaluator: evaluator.id, evaluatorKind: kind, party: kind === 'judge' ? judge : endpointParty(name), optionsHash, probability, offeredAt: Math.floor(clock.nowMs() * 1_000) } };
    },
    open(store) {
      if (!store.isDurable) return;
      own = desk({ ...options, keep, keeping, store: store.judgeJobs, places, resume: (job, done, as) => flow().resume(job, done, as), clock, sleep });
      own.start();
    },
    async stop() {
      await own?.stop();
    },
  };
}
