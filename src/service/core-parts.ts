/** The parts of a service, as they know one another. */
import type { TakeRequest } from '../receivers/read-request.ts';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import type { JournalRunner } from '../journals/journal-runner.ts';
import type { ConfigStatus, ServiceStatus } from '../model/service-status.ts';
import type { Store } from '../model/store/store.ts';
import type { ItemSequence } from '../model/watermark.ts';
import type { Pipeline } from '../pipeline/pipeline.ts';
import type { ByteLeases } from '../receivers/byte-budget.ts';
import type { RunWriter } from '../stores/run-writer.ts';
import type { SpanArchiver } from '../stores/span-archiver.ts';
import type { MetricRegistry } from '../telemetry/registry.ts';
import type { AnnotationQueues } from '../queues/annotation-queues.ts';
import type { RaisedProbabilities, SettingsInForce } from './reloading.ts';
import type { AlertWatch } from './alert-watch.ts';
import type { AnnotationWriter } from './annotation-writer.ts';
import type { CloseScheduler, IdleCompactor } from './close-scheduler.ts';
import type { ConnectionShares } from './node-runtime.ts';
import type { ExperimentWriter } from './experiment-writer.ts';
import type { ExporterSet } from './exporter-set.ts';
import type { JudgeAdmission } from './judge-admission.ts';
import type { JudgePool } from './judge-pool.ts';
import type { ListenState } from './listeners.ts';
import type { MetricsPushing } from './metrics-pushing.ts';
import type { Overload } from './overload.ts';
import type { Activity } from '../runtime/activity.ts';
import type { BufferPool } from '../runtime/buffer-pool.ts';
import type { RecognitionWatch } from './rate-gauges.ts';
import type { ProcessLearning } from './process-learning.ts';
import type { ReplicaWatch } from './replicas.ts';
import type { StoreRoom } from './retention.ts';
import type { RuleMatcher } from './rule-matcher.ts';
import type { SelfTracing } from './self-tracing/self-tracing.ts';
import type { VersionUpkeep } from './version-upkeep.ts';
import type { SpanForwarder } from '../exporters/forward/forwarder.ts';

/** All parts but the listeners. */
export interface CoreParts {
  readonly activity: Activity;
  /** The configuration at the start; `settings` has the parts that may change. */
  readonly config: Config;
  readonly telemetry: MetricRegistry;
  readonly tracing: SelfTracing;
  readonly settings: SettingsInForce;
  readonly logger: Logger;
  readonly state: ListenState;
  readonly leases: ByteLeases;
  readonly buffers: BufferPool;
  readonly storeRoom: StoreRoom;
  readonly upstream: RaisedProbabilities;
  readonly recognition: RecognitionWatch;
  readonly sequence: ItemSequence;
  readonly exporters: ExporterSet;
  readonly judges: JudgePool;
  readonly judgeAdmission: JudgeAdmission;
  readonly processes: ProcessLearning;
  readonly forward: Forwarder;
  readonly pipeline: Pipeline;
  readonly idleCompactor: IdleCompactor;
  readonly closeScheduler: CloseScheduler;
  readonly journal: JournalRunner;
  readonly overload: Overload;
  /** Parts on the store. `undefined` until it is open. */
  readonly stored: StoreParts | undefined;
}

/** Data that pages show besides the store. */
export interface PageParts extends CoreParts {
  readonly connections: ConnectionShares;
  readonly metricsPush: MetricsPushing;
  /** Takes spans as a receiver hands them over. */
  readonly take: TakeRequest;
  readonly configuration: () => ConfigStatus;
}

export interface ConsoleParts extends PageParts {
  readonly status: ServiceStatus;
}

export interface StoreParts {
  readonly store: Store;
  readonly runWriter: RunWriter;
  readonly spanArchiver: SpanArchiver;
  readonly annotations: AnnotationWriter;
  readonly versions: VersionUpkeep;
  readonly alerts: AlertWatch;
  readonly experiments: ExperimentWriter;
  readonly examples: RuleMatcher;
  readonly queues: AnnotationQueues;
  readonly queueFiller: RuleMatcher;
  readonly replicas: ReplicaWatch;
}

export interface Forwarder extends Omit<SpanForwarder, 'exchange'> {
  exchange(config: Config): void;
}

/** Logs a fault of a part under a separate message. */
export function faultLog({ logger }: Pick<CoreParts, 'logger'>, message: string): (error: unknown) => void {
  return (error) => logger.error({ error: error instanceof Error ? error.message : 'unknown' }, message);
}
