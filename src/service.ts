/** Builds the parts, connects them and runs them. Nothing else does: everywhere else, effects come as arguments. */
import { randomBytes } from 'node:crypto';
import { pino, type Logger } from 'pino';
import { collectors } from '../collectors/index.ts';
import { evaluationContext } from '../evaluators/configuration/context.ts';
import type { Config } from './config/config.ts';
import type { Fingerprints } from './config/fingerprint.ts';
import type { ScoredRun } from './model/scored-run.ts';
import { roughBytes } from './model/size-estimate.ts';
import { contentNotices } from './pipeline/reporting/content-notices.ts';
import { defaultGroupLimits } from './pipeline/gathering/close-policy.ts';
import { pipeline } from './pipeline/pipeline.ts';
import type { TaskGroups } from './pipeline/reporting/task-groups.ts';
import { inFlightBytes, type ByteLeases } from './receivers/byte-budget.ts';
import { tlsOptions } from './receivers/tls.ts';
import type { FileLayer } from './journals/disk/file-system.ts';
import { journaling } from './journals/journal-runner.ts';
import { journalledIngest } from './journals/journaled-ingest.ts';
import { withoutContent } from './stores/content-policy.ts';
import { keeper, type Keeper } from './stores/run-writer.ts';
import { reopener, type Reopener } from './stores/late-span-lookup.ts';
import { spanKeeper, type SpanKeeper } from './stores/span-archiver.ts';
import { lightItem } from './stores/slim-item.ts';
import { openStore } from './stores/index.ts';
import { annotatedIngest } from './service/annotation-ingest.ts';
import { annotating, type Annotating } from './service/annotation-writer.ts';
import { connectionShares, machineDescriptors, type Descriptors } from './service/descriptors.ts';
import { driftWatch } from './service/drift-watch.ts';
import { figures } from './service/rate-gauges.ts';
import { consoleOf, receiversOf } from './service/listeners.ts';
import { freeAddresses, type ListenState } from './service/listening.ts';
import { judgePool } from './service/judge-pool.ts';
import { judgesInForce } from './service/queue-keys.ts';
import { jobOwner } from './service/lease-owner.ts';
import { judgeQueue } from './service/judge-admission.ts';
import { clock, machineMemory, sleep } from './service/node-runtime.ts';
import { inLine } from './service/forward-setup.ts';
import { idlePacking, squeezing } from './service/idle-compactor.ts';
import type { Memory } from './service/memory-guard.ts';
import { metricsPushing } from './service/metrics-pushing.ts';
import { outboxes } from './service/exporter-set.ts';
import { recognitionWatch } from './service/recognition-watch.ts';
import { grpcReserveShare, inFlightShare, journalShare, overload, tracesShare } from './service/overload.ts';
import { reloading, type ReloadSource } from './service/reloading.ts';
import { raisedProbabilities } from './service/raised-probabilities.ts';
import type { Repeating } from './service/periodic-task.ts';
import { keepOf } from './service/retention.ts';
import { storeRoom } from './service/store-room.ts';
import { runRules } from './service/pipeline-settings.ts';
import { tickerOf } from './service/close-scheduler.ts';
import { openMetricsPieces } from './telemetry/openmetrics.ts';
import { metricRegistry, type MetricFamily, type MetricRegistry } from './telemetry/registry.ts';
import type { Telemetry } from './telemetry/telemetry.ts';

/** How long a stop waits for judges, and then again for backends. */
const stopMsDefault = 10_000;
const stoppingRetryAfterSeconds = 5;

export interface Service {
  start(): Promise<{ readonly otlpHttp: string; readonly otlpGrpc: string; readonly console: string }>;
  /** Reads the configuration again and puts it in force, soon; a fault in it changes nothing. At any time. */
  reload(): void;
  /** Refuses new work, scores what is open, sends what is scored, then releases. May be called twice. */
  stop(): Promise<void>;
}

export interface ServiceOptions {
  readonly config: Config;
  /** Where the configuration comes from, and what tells it from another one; without them it is never read again. */
  readonly source?: ReloadSource;
  readonly prints?: Fingerprints;
  /** How often the source is asked whether it has changed. */
  readonly watchMs?: number;
  readonly logger?: Logger;
  readonly stopMs?: number;
  /** Under the journal; absent: the files of this machine. */
  readonly files?: FileLayer;
  /** Of the process. */
  readonly memory?: Memory;
  /** Told of each run as it is scored, and of each verdict of a judge, after redaction. It must not throw. */
  readonly onScored?: (item: ScoredRun) => void;
  readonly descriptors?: Descriptors;
}

export function service({
  config,
  logger: given = pino(),
  stopMs = stopMsDefault,
  files,
  memory = machineMemory(),
  onScored = () => undefined,
  descriptors = machineDescriptors(),
  ...watched
}: ServiceOptions): Service {
  const telemetry = metricRegistry({
    clock,
    ...(config.limits.metricAgents === undefined ? {} : { agentsMax: config.limits.metricAgents }),
  });
  /** What may change while the service runs; everything else is `config`, as it was at the start. */
  let inForce = { config, rules: runRules(config, telemetry) };
  const logger = given.child({}, { formatters: { log: (fields) => inForce.rules.redaction?.fields(fields) ?? fields } });
  const boxes = outboxes({
    entries: config.exporters,
    telemetry,
    logger,
    onGivenUp: (exporter, items) =>
      logger.warn({ exporter, items }, 'scores were given up that waited for an exporter which is no longer configured'),
  });
  const pushing = metricsPushing({
    snapshot: () => metricsNow(telemetry, inForce.rules.groups),
    telemetry,
    clock,
    sleep,
    logger,
    instance: String(config.listen.otlpHttp.port),
  });
  const [notices, upstream, recognised] = [
    contentNotices(),
    raisedProbabilities(config.limits.upstreamProbability, logger),
    recognitionWatch({ collectors, clock, sleep, telemetry, logger, shown: (text) => inForce.rules.redaction?.text(text) ?? text }),
  ];
  let keeping: Keeper | undefined;
  let archive: SpanKeeper | undefined;
  let lookups: Reopener | undefined;
  let annotations: Annotating | undefined;
  const beside: Repeating[] = [];
  const deliver = (item: ScoredRun): void => {
    announced(item, { notices, logger, onScored });
    const without = withoutContent(item, inForce.config.store.content, pressed.keepsContent);
    // One object for both: by it the exporters know, when a run is written, what they have not sent of it.
    const stored = lightItem(without === undefined ? item : { ...item, withoutContent: without });
    const bytes = roughBytes(stored);
    boxes.offer(stored, bytes, forward.scored(item) ? 'forward' : undefined);
    if (without === undefined) archive?.want(item);
    keeping?.offer(stored, bytes);
  };
  const bench = judgePool(config.judges, telemetry, {
    onFault: (error) => told('what judges may spend, or what is in batches, could not be read or written')(error),
    waiting: (payer) => waiting.waiting(payer),
  });
  const waiting = judgeQueue({
    bench,
    telemetry,
    config: () => inForce.config,
    flow: () => flow,
    keeper: () => keeping,
    pressed: () => pressed,
    onFault: (error) => told('what waits for judges could not be read')(error),
  });
  const forward = inLine({
    config,
    flow: () => flow,
    read: (position) => records.body(position),
    telemetry,
    logger,
    clock,
    sleep,
    random: Math.random,
  });
  const flow = pipeline({
    collectors,
    ...inForce.rules,
    context: evaluationContext(),
    clock,
    telemetry,
    limits: {
      ...defaultGroupLimits,
      bytesMax: config.limits.memoryBytes * tracesShare,
      spareBytesMax: () => pressed.spareBytesMax(),
      spansPerTraceMax: config.limits.spansPerTrace,
    },
    squeeze: squeezing(),
    settled: forward.settled,
    deliver,
    upstreamMin: upstream.probabilityMin,
    upstreamRaised: upstream.add,
    pace: bench.pace,
    queue: waiting.place,
    sessions: waiting.sessions,
    ask: bench.ask,
  });
  const packing = idlePacking({ flow, sleep, mayWork: () => keeping?.isBehind() !== true });
  const ticker = tickerOf({
    flow,
    clock,
    mustWait: () => keeping?.isBehind() === true,
    onFault: (error) =>
      logger.error({ error: error instanceof Error ? (error.stack ?? error.message) : 'unknown' }, 'closing a trace failed'),
  });
  const told = (message: string) => (error: unknown) =>
    logger.error({ error: error instanceof Error ? error.message : 'unknown' }, message);
  const state: ListenState = { ready: false, stopping: false, otlp: undefined };
  const [leases, connections, room] = [
    leasesOf(config, telemetry),
    connectionShares(descriptors, config.limits.connections),
    storeRoom({ file: config.store.address.rest, clock, telemetry, logger }),
  ];
  const records = journaling({
    address: config.journal,
    settings: {
      bytesMax: config.limits.journalBytes,
      recordBytesMax: config.limits.bodyBytes,
      waitingBytesMax: leases.bytesMax,
      memoryBytesMax: Math.max(config.limits.memoryBytes * journalShare, config.limits.bodyBytes * 2),
    },
    parts: { telemetry, clock, sleep, logger, randomBytes, ...(files === undefined ? {} : { files }) },
    flow,
    keeping: { offered: () => keeping?.offered() ?? 0, stored: () => keeping?.settled() ?? 0, sent: boxes.settled },
    inflatedBytesMax: config.limits.inflatedBytes,
    redaction: () => inForce.rules.redaction,
    passing: forward,
    archive: { keep: (trace) => archive?.keep(trace) },
  });
  const pressed = overload({
    limits: config.limits,
    flow,
    leases,
    telemetry,
    clock,
    sleep,
    random: Math.random,
    memory,
    wake: ticker.wake,
    journalFill: () => records.intake()?.fill() ?? 0,
    storeFill: () => keeping?.fill() ?? 0,
    forwardFill: forward.fill,
  });
  const journalled = journalledIngest({
    journaling: records,
    takesAllLogs: forward.wants,
    clock,
    wake: ticker.wake,
    ...pressed.shares,
    putOff: pressed.putOff,
    admission: (isModest) =>
      state.stopping ? { refuse: 'stopping', retryAfterSeconds: stoppingRetryAfterSeconds } : pressed.admission(isModest),
  });
  const receivers = receiversOf(config, leases, connections, {
    telemetry,
    logger,
    ingest: recognised.watched(annotatedIngest({ ingest: journalled, annotating: () => annotations, clock })),
  });
  let web: ReturnType<typeof consoleOf> | undefined;

  /** Whole or not at all: what can fail is done before anything is in force. */
  function exchange(next: Config): void {
    const before = inForce.config;
    const rules = runRules(next, telemetry, inForce);
    const seats = [
      bench.prepare(next.judges),
      boxes.prepare(next.exporters),
      () => pushing.place(next.exporters),
      () => forward.exchange(next),
    ];
    inForce = { config: next, rules };
    for (const seat of seats) seat();
    flow.exchange(rules);
    if (JSON.stringify(before.listen.tls) !== JSON.stringify(next.listen.tls)) renewCertificates(next);
  }

  /** They were checked to be fit for TLS when they were read. */
  function renewCertificates({ listen: { tls } }: Config): void {
    if (tls === undefined || config.listen.tls === undefined) return;
    const { clientCa } = config.listen.tls;
    for (const receiver of [receivers.http, receivers.grpc])
      receiver.renew({ cert: tls.cert, key: tls.key, ...(clientCa === undefined ? {} : { clientCa: tls.clientCa ?? clientCa }) });
    web?.renew(tlsOptions({ cert: tls.cert, key: tls.key }));
  }

  const reloads = reloading({
    source: watched.source,
    prints: watched.prints,
    ...(watched.watchMs === undefined ? {} : { watchMs: watched.watchMs }),
    exchange: (loaded) => exchange(loaded.config),
    room: boxes.room,
    telemetry,
    clock,
    sleep,
    logger,
  });

  async function stop(): Promise<void> {
    state.stopping = true;
    reloads.stop();
    await Promise.all([receivers.http.stop(), receivers.grpc.stop()]);
    await Promise.all([pressed.stop(), packing.stop()]);
    ticker.stop();
    // What is open goes on at the next start where it was; without a disk it is scored as far as it has come.
    if (config.journal.scheme === 'memory') flow.finish();
    const forwarded = forward.stop(stopMs);
    await Promise.all([waiting, ...beside].map((one) => one.stop()));
    bench.leaveBatches();
    await bench.lane.stop(stopMs);
    await bench.settle().catch(told('what judges have cost could not be noted'));
    await lookups?.stop();
    await annotations?.stop();
    await records.archived(stopMs);
    await archive?.stop();
    const unforwarded = await forwarded;
    const unsent = await boxes.stop(stopMs);
    // After them: what they have not sent is written with its run.
    await keeping?.stop(stopMs);
    await records.stop();
    await Promise.all([bench.stop(), pushing.stop(stopMs)]);
    await web?.stop();
    logger.info({ unsent, unforwarded }, 'stopped');
  }

  let stopped: Promise<void> | undefined;
  return {
    async start() {
      await freeAddresses(config.listen);
      const store = await openStore(config.store.address, { onDiskFull: room.full });
      keeping = keeper({
        store,
        keep: keepOf(() => inForce.config),
        unsent: boxes,
        telemetry,
        clock,
        sleep,
        onFault: told('the store could not be written'),
      });
      archive = spanKeeper({ store, read: records.readBack, telemetry, clock, sleep, onFault: told('spans could not be kept') });
      const says = annotating({
        store,
        telemetry,
        clock,
        sleep,
        redaction: () => inForce.rules.redaction,
        waitMs: () => inForce.config.store.annotationsWaitMs,
        onFault: told('annotations could not be tended'),
      });
      annotations = says;
      beside.push(figures({ store, telemetry, clock, sleep, onFault: told('rates could not be reckoned') }));
      await boxes.open(store);
      await bench.open(store, (text) => (inForce.rules.redaction?.text(text) ?? text) === text);
      const replayed = await records.open();
      if (replayed > 0) logger.info({ requests: replayed }, 'runs that were open go on');
      waiting.open(store, await jobOwner(config.journal));
      beside.push(
        driftWatch({
          store,
          config: () => inForce.config,
          redaction: () => inForce.rules.redaction,
          ask: bench.askAnew,
          isCalm: pressed.isCalm,
          telemetry,
          clock,
          sleep,
          onFault: told('a fixed set of runs could not be looked at'),
        }),
      );
      ticker.wake();
      lookups = reopener({
        store,
        flow,
        telemetry,
        clock,
        sleep,
        closing: () => inForce.config.closing,
        wake: ticker.wake,
        onFault: told('the store could not be asked'),
      });
      beside.push(recognised.start());
      pressed.start();
      forward.start();
      web = consoleOf(config, state, {
        connectionsMax: connections.console,
        lease: leases({ keepFreeBytes: config.limits.memoryBytes * grpcReserveShare }),
        telemetry,
        logger,
        store,
        exporters: { standings: () => [...boxes.standings(), ...forward.standings(), ...pushing.standings()], recount: boxes.recount },
        annotate: says.take,
        unannotate: says.remove,
        budgets: () => bench.budgets(inForce.config.evaluators),
        judges: () => judgesInForce(inForce.config),
        upstream,
        unrecognised: () => recognised.standing(),
        fullFolder: () => records.fullFolder() ?? room.fullFolder(),
        metricsPage: () => openMetricsPieces(metricsNow(telemetry, inForce.rules.groups)),
      });
      pushing.place(inForce.config.exporters);
      packing.start();
      logger.info(
        {
          descriptors: descriptors.max,
          open: descriptors.open,
          reserved: connections.reserved,
          http: connections.http,
          grpc: connections.grpc,
          console: connections.console,
        },
        'connections are bounded by the descriptor limit',
      );
      const page = await web.listen();
      const [http, grpc] = [await receivers.http.listen(), await receivers.grpc.listen()];
      state.otlp = { http: http.address, grpc: grpc.address };
      state.ready = true;
      reloads.begin();
      return { otlpHttp: http.address, otlpGrpc: grpc.address, console: page.address };
    },
    reload: reloads.request,
    stop: () => (stopped ??= stop()),
  };
}

function announced(
  item: ScoredRun,
  {
    notices,
    logger,
    onScored,
  }: { readonly notices: ReturnType<typeof contentNotices>; readonly logger: Logger; readonly onScored: (item: ScoredRun) => void },
): void {
  for (const { message, ...fields } of notices(item)) logger.warn(fields, message);
  onScored(item);
}

/** What changes with time alone is told when somebody looks. */
function metricsNow(telemetry: MetricRegistry, groups: TaskGroups): readonly MetricFamily[] {
  groups.tell(telemetry);
  return telemetry.snapshot();
}

function leasesOf({ limits: { bodyBytes, inflatedBytes, memoryBytes } }: Config, telemetry: Telemetry): ByteLeases {
  // One request of the largest size must always find room.
  return inFlightBytes({
    bytesMax: Math.max(memoryBytes * inFlightShare, bodyBytes + inflatedBytes) + memoryBytes * grpcReserveShare,
    telemetry,
  });
}
