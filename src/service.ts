/** Builds the parts, starts them, reloads their settings and stops them. `service/parts.ts` connects them. */
import { pino, type Logger } from 'pino';
import type { Config } from './config/config.ts';
import type { Fingerprints } from './config/fingerprint.ts';
import type { FileLayer } from './journals/disk/file-system.ts';
import type { ScoredRun } from './model/scored-run.ts';
import { itemSequence } from './model/watermark.ts';
import { openStore } from './stores/index.ts';
import type { LateSpanLookup } from './stores/late-span-lookup.ts';
import type { LoadedConfig } from './config/load.ts';
import { connectionShares, type Descriptors, jobOwner, machineDescriptors, machineMemory } from './service/node-runtime.ts';
import { freeAddresses, type ListenState, receiversOf, renewCertificates } from './service/listeners.ts';
import type { Memory } from './service/memory-guard.ts';
import * as build from './service/parts.ts';
import type { BufferPool } from './runtime/buffer-pool.ts';
import type { PeriodicTask } from './runtime/periodic-task.ts';
import { raisedProbabilities, redactedLogger, type ReloadSource, settingsInForce } from './service/reloading.ts';
import type { SelfTracingDeps } from './service/self-tracing/open.ts';
import { noSelfTracing, type SelfTracing } from './service/self-tracing/self-tracing.ts';

/** A stop waits so long for judges, and as long again for backends. */
const stopMsDefault = 10_000;

export interface Service {
  /** Resolves with the addresses of the listeners, and with how they share the descriptors of the process. */
  start(): Promise<StartedService>;
  /** Reads the configuration again soon and puts it in force; a fault in it changes nothing. May be called at any time. */
  reload(): void;
  /** Refuses new work, scores what is open, sends what is scored, then releases. May be called twice. */
  stop(): Promise<void>;
}

interface StartedService {
  readonly otlpHttp: string;
  readonly otlpGrpc: string;
  readonly console: string;
  readonly connections: ReturnType<typeof build.connectionBounds>;
}

export interface ServiceOptions {
  readonly config: Config;
  /** The source of the configuration and its fingerprints; without them the service never reads it again. */
  readonly source?: ReloadSource;
  readonly fingerprints?: Fingerprints;
  /** Milliseconds between two checks of the source. */
  readonly watchMs?: number;
  readonly logger?: Logger;
  readonly stopMs?: number;
  /** The files under the journal; those of this machine when absent. */
  readonly files?: FileLayer;
  /** Of the process. */
  readonly memory?: Memory;
  /** Memory of request bodies; absent: as much as the limits allow. */
  readonly buffers?: BufferPool;
  /** Receives each scored run, and each verdict of a judge, after redaction. It must not throw. */
  readonly onScored?: (item: ScoredRun) => void;
  /** Makes spans of the service itself; none when absent. */
  readonly tracing?: (deps: SelfTracingDeps) => SelfTracing;
  readonly descriptors?: Descriptors;
}

export function service(options: ServiceOptions): Service {
  const { stopMs = stopMsDefault } = options;
  const parts = connectedParts(options);
  const { config, telemetry, settings, logger, state, exporters, metricsPush, judges, forward, pipeline, journal, overload } = parts;
  const receivers = receiversOf(config, parts.leases, parts.connections, {
    telemetry,
    logger,
    buffers: parts.buffers,
    ingest: build.ingest(parts),
  });
  const reloads = build.reloads(parts, options, putInForce);
  const background: Pick<PeriodicTask, 'stop'>[] = [];
  let lateSpans: LateSpanLookup | undefined;
  let consoleServer: ReturnType<typeof build.consoleServer> | undefined;
  let stopped: Promise<void> | undefined;

  async function start(): ReturnType<Service['start']> {
    await freeAddresses(config.listen);
    if (options.tracing !== undefined) build.logOwnTraces(parts);
    const stored = build.storeParts(parts, await openStore(config.store.address, { onDiskFull: parts.storeRoom.full }));
    parts.stored = stored;
    background.push(build.rateGauges(parts, stored));
    await exporters.open(stored.store);
    await judges.open(stored.store, settings.isUnredacted);
    const replayed = await journal.open();
    if (replayed > 0) logger.info({ requests: replayed }, 'runs that were open go on');
    parts.judgeAdmission.open(stored.store, await jobOwner(config.journal));
    background.push(build.driftMeasurement(parts, stored));
    parts.closeScheduler.wake();
    lateSpans = build.lateSpanLookup(parts, stored);
    background.push(parts.recognition.start());
    overload.start();
    forward.start();
    consoleServer = build.consoleServer(parts, stored);
    metricsPush.place(settings.config().exporters);
    parts.idleCompactor.start();
    const page = await consoleServer.listen();
    const [http, grpc] = [await receivers.http.listen(), await receivers.grpc.listen()];
    state.otlp = { http: http.address, grpc: grpc.address };
    state.ready = true;
    reloads.begin();
    return { otlpHttp: http.address, otlpGrpc: grpc.address, console: page.address, connections: build.connectionBounds(parts) };
  }

  /** Whole or not at all: every step that can fail comes before the first that takes effect. */
  function putInForce({ config: next }: LoadedConfig): void {
    const before = settings.config();
    const put = settings.prepare(next);
    const replacements = [judges.prepare(next.judges), exporters.prepare(next.exporters)];
    const rules = put();
    for (const replace of replacements) replace();
    metricsPush.place(next.exporters);
    forward.exchange(next);
    pipeline.exchange(rules);
    if (JSON.stringify(before.listen.tls) !== JSON.stringify(next.listen.tls))
      renewCertificates({ ...receivers, console: consoleServer }, config.listen, next.listen);
  }

  async function stop(): Promise<void> {
    state.stopping = true;
    reloads.stop();
    await build.stopAll([receivers.http, receivers.grpc]);
    await build.stopAll([overload, parts.idleCompactor]);
    parts.closeScheduler.stop();
    // With a disk, open runs go on at the next start; without one, the service scores what they have so far.
    if (config.journal.scheme === 'memory') pipeline.finish();
    const forwarded = forward.stop(stopMs);
    await build.stopAll([parts.judgeAdmission, ...background]);
    judges.stopBatches();
    await judges.executor.stop(stopMs);
    await judges.settle().catch(build.faultLog(parts, 'the costs of judges could not be stored'));
    await lateSpans?.stop();
    await parts.stored?.annotations.stop();
    await journal.archived(stopMs);
    await parts.stored?.spanArchiver.stop();
    const unforwarded = await forwarded;
    const unsent = await exporters.stop(stopMs);
    // After the exporters: the writer stores with each run what they have not sent.
    await parts.stored?.runWriter.stop(stopMs);
    await journal.stop();
    await Promise.all([judges.stop(), metricsPush.stop(stopMs), parts.tracing.stop(stopMs)]);
    await consoleServer?.stop();
    // A start that failed has its own message, and no service has run.
    if (state.otlp !== undefined) logger.info({ unsent, unforwarded }, 'stopped');
  }

  return { start, reload: reloads.request, stop: () => (stopped ??= stop()) };
}

/** One line a part. A part calls those below its own line only after all of them are built. */
function connectedParts(options: ServiceOptions): build.Parts & { stored: build.StoreParts | undefined } {
  const {
    config,
    logger = pino(),
    files,
    memory = machineMemory(),
    onScored = () => undefined,
    buffers,
    tracing = () => noSelfTracing,
    descriptors = machineDescriptors(),
  } = options;
  class Connected implements build.Parts {
    readonly config = config;
    readonly telemetry = build.registry(this);
    readonly settings = settingsInForce(config, this.telemetry);
    readonly logger = redactedLogger(logger, this.settings);
    readonly tracing = build.ownTracing(this, tracing);
    readonly state: ListenState = { ready: false, stopping: false, otlp: undefined };
    readonly descriptors = descriptors;
    readonly connections = connectionShares(descriptors, config.limits.connections);
    readonly leases = build.byteLeases(this);
    readonly buffers = buffers ?? build.bodyBuffers(this);
    readonly storeRoom = build.storeDisk(this);
    readonly upstream = raisedProbabilities(config.limits.upstreamProbability, this.logger);
    readonly recognition = build.recognition(this);
    readonly sequence = itemSequence();
    readonly exporters = build.exporterSet(this);
    readonly metricsPush = build.metricsPush(this);
    readonly judges = build.judges(this);
    readonly judgeAdmission = build.judgeAdmission(this);
    readonly forward = build.forwarder(this);
    readonly pipeline = build.runPipeline(this, onScored);
    readonly idleCompactor = build.idleCompactor(this);
    readonly closeScheduler = build.closeScheduler(this);
    readonly journal = build.journal(this, files);
    readonly overload = build.overloadControl(this, memory);
    stored: build.StoreParts | undefined;
  }
  return new Connected();
}
