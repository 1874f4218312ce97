/** The service without its listeners: builds, starts, reloads and stops the parts. `parts.ts` connects them. */
import { pino, type Logger } from 'pino';
import type { Config } from '../config/config.ts';
import type { FileLayer } from '../journals/disk/file-system.ts';
import type { Sleep } from '../model/clock.ts';
import type { ScoredRun } from '../model/scored-run.ts';
import { itemSequence } from '../model/watermark.ts';
import type { BufferPool } from '../runtime/buffer-pool.ts';
import type { PeriodicTask } from '../runtime/periodic-task.ts';
import { openStore } from '../stores/index.ts';
import type { LateSpanLookup } from '../stores/late-span-lookup.ts';
import type { ListenState } from './listeners.ts';
import type { Memory } from './memory-guard.ts';
import { jobOwner } from './job-owner.ts';
import { machineMemory, sleep } from './node-runtime.ts';
import * as build from './parts.ts';
import * as buildStore from './store-parts.ts';
import { type CoreParts, faultLog, type StoreParts } from './core-parts.ts';
import { serviceProcesses } from './process-learning.ts';
import { raisedProbabilities, redactedLogger, settingsInForce } from './reloading.ts';
import type { SelfTracingDeps } from './self-tracing/open.ts';
import { whenThere, type StoreWait } from './store-wait.ts';
import { noSelfTracing, type SelfTracing } from './self-tracing/self-tracing.ts';

export interface CoreOptions {
  readonly config: Config;
  readonly logger?: Logger;
  /** File access of the journal. Default: the disk of this machine. */
  readonly files?: FileLayer;
  readonly memory?: Memory;
  /** Rests between two measurements of the pressure on the service. Default: on the clock of the machine. */
  readonly pressureSleep?: Sleep;
  /** Buffers of request bodies. Default: as many as the limits allow. */
  readonly buffers?: BufferPool;
  /** Receives each scored run, and each verdict of a judge, after redaction. It must not throw. */
  readonly onScored?: (item: ScoredRun) => void;
  /** Makes spans of the service itself. Default: none. */
  readonly tracing?: (deps: SelfTracingDeps) => SelfTracing;
  /** False when the store runs in this thread, between two of its turns. By default it has its own thread. */
  readonly storeInThread?: boolean;
  /** Hash of the settings in force that replicas have in common. */
  readonly fingerprint?: () => string;
}

interface Core {
  readonly parts: CoreParts;
  /** Opens the store and the journal, and continues with their content. Waits for a database that is away. Resolves with the parts on the store. */
  start(wait?: Pick<StoreWait, 'onAway' | 'signal'>): Promise<StoreParts>;
  /** Prepares another configuration, and may fail. The returned function puts it in force and does not fail. */
  prepare(next: Config): () => void;
  /** Scores open runs, sends scores, and closes the store and the journal. Resolves with the numbers of unsent items. */
  stop(stopMs: number): Promise<{ readonly unsent: number; readonly unforwarded: number }>;
  /** Releases the connections. Called after `stop`. */
  release(stopMs: number): Promise<void>;
}

export function serviceCore(options: CoreOptions): Core {
  const parts = connectedParts(options);
  const { config, settings, logger, exporters, judges, forward, pipeline, journal, overload } = parts;
  const background: Pick<PeriodicTask, 'stop'>[] = [];
  let lateSpans: LateSpanLookup | undefined;

  return {
    parts,
    async start(wait = { onAway: async () => undefined }) {
      if (options.tracing !== undefined) build.logOwnTraces(parts);
      const opened = await whenThere(
        () => openStore(config.store.address, { inThread: options.storeInThread ?? true, onDiskFull: parts.storeRoom.full }),
        { ...wait, onThere: () => logger.info('the store is there, and the service starts'), sleep, random: Math.random },
      );
      const owner = await jobOwner(config.journal, options.files);
      const replicas = buildStore.replicas(parts, opened.replicas, { id: owner, configuration: options.fingerprint ?? (() => '') });
      await replicas.open();
      const stored = buildStore.storeParts(parts, { opened, replicas });
      parts.stored = stored;
      background.push(
        buildStore.rateGauges(parts, stored),
        buildStore.textIndexing(parts, stored),
        buildStore.queueMaintenance(parts, stored),
        buildStore.issueUpkeep(parts, stored),
        stored.versions.start(),
        stored.alerts.start(),
      );
      await exporters.open(stored.store, opened.replicas.isShared ? owner : undefined);
      await parts.processes.open(stored.store.processes);
      await judges.open(stored.store, settings.isUnredacted, opened.replicas.isShared ? owner : undefined);
      const replayed = await journal.open(owner);
      if (replayed > 0) logger.info({ requests: replayed }, 'the service restored open runs from the journal');
      parts.judgeAdmission.open(stored.store, owner);
      background.push(buildStore.driftMeasurement(parts, stored));
      parts.closeScheduler.wake();
      lateSpans = buildStore.lateSpanLookup(parts, stored);
      background.push(parts.recognition.start());
      overload.start();
      forward.start();
      parts.idleCompactor.start();
      // Replayed requests left work behind.
      parts.activity.noted();
      return stored;
    },
    prepare(next) {
      const put = settings.prepare(next);
      const replacements = [judges.prepare(next.judges), exporters.prepare(next.exporters)];
      return () => {
        const rules = put();
        for (const replace of replacements) replace();
        forward.exchange(next);
        pipeline.exchange(rules);
      };
    },
    async stop(stopMs) {
      await journal.leave();
      await build.stopAll([overload, parts.idleCompactor]);
      parts.closeScheduler.stop();
      // A journal on disk restores open runs at the next start; without one the service scores them now.
      if (config.journal.scheme === 'memory') pipeline.finish();
      const forwarded = forward.stop(stopMs);
      await build.stopAll([parts.judgeAdmission, ...background]);
      judges.stopBatches();
      await judges.executor.stop(stopMs);
      await judges.settle().catch(faultLog(parts, 'the costs of judges could not be stored'));
      await lateSpans?.stop();
      await parts.processes.stop();
      await parts.stored?.annotations.stop();
      await parts.stored?.experiments.stop();
      await parts.stored?.replicas.stop();
      await journal.archived(stopMs);
      await parts.stored?.spanArchiver.stop();
      const unforwarded = await forwarded;
      const unsent = await exporters.stop(stopMs);
      // Before the writer, which closes the store.
      await Promise.all([parts.stored?.examples.stop(stopMs), parts.stored?.queueFiller.stop(stopMs)]);
      // After the exporters: with each run the writer stores its unsent items.
      await parts.stored?.runWriter.stop(stopMs);
      await journal.stop();
      return { unsent, unforwarded };
    },
    async release(stopMs) {
      await Promise.all([judges.stop(), parts.tracing.stop(stopMs)]);
    },
  };
}

/** One line a part. A part calls those below its own line only after all parts are built. */
function connectedParts(options: CoreOptions): CoreParts & { stored: StoreParts | undefined } {
  const {
    config,
    logger = pino(),
    files,
    memory = machineMemory(),
    onScored = () => undefined,
    buffers,
    tracing = () => noSelfTracing,
  } = options;
  class Connected implements CoreParts {
    readonly config = config;
    readonly activity = build.activity(this);
    readonly telemetry = build.registry(this);
    readonly settings = settingsInForce(config, this.telemetry);
    readonly logger = redactedLogger(logger, this.settings);
    readonly tracing = build.ownTracing(this, tracing);
    readonly state: ListenState = { ready: false, away: undefined, stopping: false, otlp: undefined };
    readonly leases = build.byteLeases(this);
    readonly buffers = buffers ?? build.bodyBuffers(this);
    readonly storeRoom = build.storeDisk(this);
    readonly upstream = raisedProbabilities(config.limits.upstreamProbability, this.logger);
    readonly recognition = build.recognition(this);
    readonly sequence = itemSequence();
    readonly exporters = build.exporterSet(this);
    readonly judges = build.judges(this);
    readonly judgeAdmission = build.judgeAdmission(this);
    readonly processes = serviceProcesses(this, { isShared: build.mayBeShared(config) });
    readonly forward = build.forwarder(this);
    readonly pipeline = build.runPipeline(this, onScored);
    readonly idleCompactor = build.idleCompactor(this);
    readonly closeScheduler = build.closeScheduler(this);
    readonly journal = build.journal(this, files);
    readonly overload = build.overloadControl(this, { memory, ...options });
    stored: StoreParts | undefined;
  }
  return new Connected();
}
