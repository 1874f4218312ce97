/**
 * Connects the parts of a service. Each function builds one part. While it builds, it may call the parts above its own in `CoreParts`; it may
 * call those below only later.
 */
import { randomBytes } from 'node:crypto';
import { collectors } from '../../collectors/index.ts';
import { evaluationContext } from '../../evaluators/configuration/context.ts';
import type { Config } from '../config/config.ts';
import type { FileLayer } from '../journals/disk/file-system.ts';
import { handedOver } from '../journals/hand-over.ts';
import type { JournalDeps } from '../journals/journal.ts';
import { journalRunner, type JournalRunner, journaledIngest } from '../journals/journal-runner.ts';
import type { Sleep } from '../model/clock.ts';
import type { Ingest } from '../model/ingest.ts';
import type { ScoredRun } from '../model/scored-run.ts';
import { noItems, type DeliveryWatermarks } from '../model/watermark.ts';
import { defaultGroupLimits } from '../pipeline/gathering/close-policy.ts';
import { pipeline, type Pipeline } from '../pipeline/pipeline.ts';
import { contentNotices } from '../pipeline/reporting/content-notices.ts';
import type { TakeRequest } from '../receivers/read-request.ts';
import { byteBudget, type ByteLeases } from '../receivers/byte-budget.ts';
import { contentAllowance, type ContentRoom, withoutContent } from '../stores/content-policy.ts';
import { itemBytes, slimItem } from '../stores/blob-codec.ts';
import { metricRegistry, type MetricRegistry } from '../telemetry/registry.ts';
import type { Fingerprints } from '../config/fingerprint.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { OtherGatherers } from '../pipeline/gathering/hand-over.ts';
import { traceKey } from '../pipeline/gathering/trace-table.ts';
import { activityWatch, type Activity } from '../runtime/activity.ts';
import { reloading, type ReadConfig, type Reloading, type ReloadSource, type RunRules } from './reloading.ts';
import type { SelfTracingDeps } from './self-tracing/open.ts';
import { annotationIngest } from './annotation-writer.ts';
import { type CloseScheduler, closeSchedulerOf, type IdleCompactor, idleCompactorOf, slabCompaction } from './close-scheduler.ts';
import { clock, type ConnectionShares, type Descriptors, sleep } from './node-runtime.ts';
import { exporterSetOf, type ExporterSet } from './exporter-set.ts';
import { judgeAdmissionOf, type JudgeAdmission } from './judge-admission.ts';
import { judgePool, type JudgePool } from './judge-pool.ts';
import type { Memory } from './memory-guard.ts';
import { grpcReserveShare, inFlightShare, journalShare, overload, tracesShare, type Overload } from './overload.ts';
import { bufferPool, type BufferPool } from '../runtime/buffer-pool.ts';
import { recognitionWatch, type RecognitionWatch } from './rate-gauges.ts';
import { takeLeftJournals } from './left-journals.ts';
import { storeRoom, type StoreRoom } from './retention.ts';
import type { SelfTracing } from './self-tracing/self-tracing.ts';
import { spanForwarder, type ForwardSettings } from '../exporters/forward/forwarder.ts';
import { type CoreParts, type Forwarder, faultLog } from './core-parts.ts';

/** A receiver answers a request during a stop with this Retry-After. */
const closedRetryAfterSeconds = 5;

/** True when other processes may have the store open at the same time. */
export function mayBeShared({ store: { address } }: Pick<Config, 'store'>): boolean {
  return address.scheme === 'postgres';
}

/** Another process may leave work in a shared store without notifying this one. */
const sharedRestMs = 5_000;

export function activity({ config }: Pick<CoreParts, 'config'>): Activity {
  return activityWatch({ clock, sleep, ...(mayBeShared(config) ? { longRestMs: sharedRestMs } : {}) });
}

export function registry({ config: { limits } }: Pick<CoreParts, 'config'>): MetricRegistry {
  const agents = limits.metricAgents === undefined ? {} : { agentsMax: limits.metricAgents };
  return metricRegistry({ clock, versionsMax: limits.metricVersions, ...agents });
}

export function ownTracing(parts: CoreParts, open: (deps: SelfTracingDeps) => SelfTracing): SelfTracing {
  return open({
    telemetry: parts.telemetry,
    onFault: faultLog(parts, 'spans of the service itself could not be sent'),
    isOpen: (tenant, traceId) => parts.pipeline.references.isOpen(traceKey(tenant, traceId)),
  });
}

export function logOwnTraces({ config: { ownTraces }, logger }: CoreParts): void {
  if (ownTraces === undefined) return;
  logger.info({ backend: URL.parse(ownTraces.url)?.origin, sample: ownTraces.sample }, 'the service traces itself');
}

/** `exchange` puts a configuration in force. */
export function reloads(
  { exporters, telemetry, logger }: CoreParts,
  {
    source,
    fingerprints,
    read,
    watchMs,
  }: { readonly source?: ReloadSource; readonly fingerprints?: Fingerprints; readonly read?: ReadConfig; readonly watchMs?: number },
  exchange: (loaded: LoadedConfig) => Promise<void>,
): Reloading {
  const given = { source, fingerprints, ...(read === undefined ? {} : { read }), ...(watchMs === undefined ? {} : { watchMs }) };
  return reloading({ ...given, exchange, room: exporters.room, telemetry, clock, sleep, logger });
}

export async function stopAll(parts: readonly { stop(): Promise<void> }[]): Promise<void> {
  await Promise.all(parts.map((part) => part.stop()));
}

export function byteLeases({ config: { limits }, telemetry }: CoreParts): ByteLeases {
  const { bodyBytes, inflatedBytes, memoryBytes } = limits;
  // Room for one request of the largest size.
  const bytesMax = Math.max(memoryBytes * inFlightShare, bodyBytes + inflatedBytes) + memoryBytes * grpcReserveShare;
  return byteBudget({ bytesMax, telemetry });
}

export function storeDisk({ config, telemetry, logger }: CoreParts): StoreRoom {
  return storeRoom({ file: config.store.address.rest, clock, telemetry, logger });
}

export function recognition({ telemetry, settings, logger, activity: { rest } }: CoreParts): RecognitionWatch {
  const dialects = (): RunRules['dialects'] => settings.rules().dialects;
  return recognitionWatch({ collectors, dialects, clock, sleep, rest, telemetry, logger, redactedText: settings.redactedText });
}

export function exporterSet({ config, telemetry, logger, tracing, activity: { rest } }: CoreParts): ExporterSet {
  const onGivenUp = (exporter: string, items: number): void =>
    logger.warn({ exporter, items }, 'scores for an exporter that the configuration no longer has were dropped');
  return exporterSetOf({ entries: config.exporters, telemetry, logger, onGivenUp, traced: tracing.exporter, rest });
}

export function judges(parts: CoreParts): JudgePool {
  return judgePool(parts.config.judges, parts.telemetry, {
    onFault: faultLog(parts, 'the budgets or batches of judges could not be read or written'),
    waiting: (payer) => parts.judgeAdmission.waiting(payer),
    logger: parts.logger,
  });
}

export function judgeAdmission(parts: CoreParts): JudgeAdmission {
  return judgeAdmissionOf({
    judges: parts.judges,
    telemetry: parts.telemetry,
    config: parts.settings.config,
    flow: () => parts.tracing.resumer(parts.pipeline),
    watermarks: watermarks(parts),
    overload: () => parts.overload,
    rest: parts.activity.rest,
    onFault: faultLog(parts, 'the queue of judges could not be read'),
  });
}

/** Share of `limits.memory_bytes` for free buffers of the next request bodies. The service would rarely use more before it needs the memory elsewhere. */
const freeBodiesShare = 1 / 32;

export function bodyBuffers({ config: { limits } }: Pick<CoreParts, 'config'>): BufferPool {
  return bufferPool({ freeBytesMax: limits.memoryBytes * freeBodiesShare });
}

/** Share of `limits.memory_bytes` for bodies that wait to be forwarded. While their runs are open the pipeline holds the same bytes. */
const forwardedBodiesShare = 1 / 8;

export function forwarder(parts: CoreParts): Forwarder {
  const { config, telemetry, logger } = parts;
  const forward = spanForwarder({
    settings: forwardSettings(config),
    awaits: (key) => parts.pipeline.references.isAwaited(key),
    bodyBytesMax: config.limits.memoryBytes * forwardedBodiesShare,
    read: (position) => parts.journal.body(position),
    telemetry,
    logger,
    clock,
    sleep,
    rest: parts.activity.rest,
    random: Math.random,
  });
  return { ...forward, exchange: (next) => forward.exchange(forwardSettings(next)) };
}

export function runPipeline(parts: CoreParts, onScored: (item: ScoredRun) => void): Pipeline {
  const { config, telemetry, settings, judges: pool, judgeAdmission: queue, upstream, forward, processes } = parts;
  return pipeline({
    collectors,
    ...settings.rules(),
    context: evaluationContext({ processOf: processes.of }),
    learn: processes.closed,
    clock,
    telemetry,
    limits: {
      ...defaultGroupLimits,
      bytesMax: config.limits.memoryBytes * tracesShare,
      spareBytesMax: () => parts.overload.spareBytesMax(),
      spansPerTraceMax: config.limits.spansPerTrace,
    },
    compaction: slabCompaction(),
    others: {
      ...otherReplicas(parts),
      left: () => parts.journal.takeSoon(),
    },
    bodies: parts.buffers,
    isReceiving: () => parts.leases.requests() > 0,
    settled: forward.settled,
    deliver: delivery(parts, onScored),
    upstreamMin: upstream.probabilityMin,
    upstreamRaised: upstream.add,
    pace: pool.pace,
    queue: queue.place,
    sessions: queue.sessions,
    ask: pool.ask,
  });
}

/** The processes that share the journal. A journal of one process needs no messages. */
function otherReplicas(parts: CoreParts): Omit<OtherGatherers, 'left'> {
  return {
    joins: (key) => parts.journal.joins(key),
    claim: (key) => parts.journal.claim(key),
    publish: (note) => parts.journal.publish(note),
    lateMs: () => parts.journal.partsLateMs(),
  };
}

/** Hands a scored run to its consumers: notices, exporters, the forwarder, the store. */
function delivery(parts: CoreParts, onScored: (item: ScoredRun) => void): (item: ScoredRun) => void {
  const { activity, settings, exporters, forward, logger, tracing } = parts;
  const notices = contentNotices();
  const room: ContentRoom = { takes: contentAllowance(clock), isCalm: () => parts.overload.keepsContent() };
  return (item) => {
    activity.noted();
    for (const { message, ...fields } of notices(item)) logger.warn(fields, message);
    onScored(item);
    tracing.scored(item);
    parts.stored?.experiments.offer(item);
    const without = withoutContent(item, settings.config().store.content, room);
    // Verdicts of judges come later, for a run that is stored already.
    const figures = item.answered === true ? {} : { figures: settings.rules().figures(item.run) };
    const known = { ...item, ...figures };
    const fence = item.answered === true ? undefined : parts.journal.fenceOf(traceKey(item.run.tenant, item.run.traceId));
    const fenced = fence === undefined ? known : { ...known, fence };
    const stored = { ...slimItem(without === undefined ? fenced : { ...fenced, withoutContent: without }), id: parts.sequence.next() };
    const bytes = itemBytes(stored);
    exporters.offer(stored, bytes, forward.scored(item) ? 'forward' : undefined);
    if (without === undefined) parts.stored?.spanArchiver.want(item);
    const matches = [parts.stored?.examples, parts.stored?.queueFiller].flatMap((matcher) => matcher?.offer(item, stored.id) ?? []);
    parts.stored?.runWriter.offer(matches.length === 0 ? stored : { ...stored, matches }, bytes);
  };
}

function watermarks(parts: CoreParts): DeliveryWatermarks {
  return {
    delivered: parts.sequence.last,
    stored: () => parts.stored?.runWriter.settled() ?? noItems,
    sent: parts.exporters.settled,
  };
}

export function idleCompactor(parts: CoreParts): IdleCompactor {
  return idleCompactorOf({
    flow: parts.pipeline,
    sleep,
    rest: parts.activity.rest,
    mayWork: () => parts.stored?.runWriter.isBehind() !== true,
  });
}

export function closeScheduler(parts: CoreParts): CloseScheduler {
  const onFault = (error: unknown): void =>
    parts.logger.error({ error: error instanceof Error ? (error.stack ?? error.message) : 'unknown' }, 'closing a trace failed');
  return closeSchedulerOf({
    flow: parts.tracing.closer(parts.pipeline),
    clock,
    // A shared journal has the records until their runs are stored, so runs stay open while the store fails.
    mustWait: () => parts.stored?.runWriter.isBehind(parts.journal.isShared()) === true,
    isBurst: () => parts.overload.hasBurst(),
    onFault,
  });
}

function journalDeps({ telemetry, logger }: CoreParts): JournalDeps {
  return { telemetry, clock, sleep, logger, randomBytes };
}

/** Takes the open requests from the journals of shards, which former releases had. */
export async function leftJournals(parts: CoreParts, take: TakeRequest): Promise<void> {
  const { journal: address, limits } = parts.config;
  if (address.scheme !== 'disk') return;
  const settings = { bytesMax: limits.journalBytes, waitingBytesMax: parts.leases.bytesMax };
  const shared = { folder: address.rest, settings, deps: journalDeps(parts), inflatedBytesMax: limits.inflatedBytes, take };
  const { requests, kept } = await takeLeftJournals(shared);
  if (requests > 0) parts.logger.info({ requests }, 'runs that were open in shards that no longer exist go on');
  for (const journal of kept) parts.logger.error(journal, 'the journal of a former shard is kept, for not all of its requests are taken');
}

/** Share of the bytes that open traces and the run writer may hold. Records of a shared journal are read only below it. */
const readShare = 0.6;

/** Records stay in the topic while the gathering or the store is behind. Idle traces give way to new ones instead. */
function hasRoom({ config, pipeline: flow, stored }: CoreParts, heldShare: number): boolean {
  if ((stored?.runWriter.fill() ?? 1) > readShare) return false;
  const share = Math.max(heldShare, flow.openBytes() / (config.limits.memoryBytes * tracesShare));
  return share < readShare || !flow.isOldestActive();
}

export function journal(parts: CoreParts, files: FileLayer | undefined): JournalRunner {
  const { config, leases, settings, tracing } = parts;
  const { limits } = config;
  return journalRunner({
    address: config.journal,
    settings: {
      bytesMax: limits.journalBytes,
      recordBytesMax: limits.bodyBytes,
      waitingBytesMax: leases.bytesMax,
      memoryBytesMax: Math.max(limits.memoryBytes * journalShare, limits.bodyBytes * 2),
    },
    parts: {
      ...journalDeps(parts),
      partitions: () => parts.stored?.store.journalPartitions,
      ...(files === undefined ? {} : { files }),
    },
    sharing: {
      hasRoom: (heldShare) => hasRoom(parts, heldShare),
      onArrival() {
        parts.activity.noted();
        parts.closeScheduler.wake();
      },
      onClaim: (key) => parts.pipeline.handOver(key),
      onNote: (note) => parts.pipeline.hear(note),
    },
    rest: parts.activity.rest,
    flow: tracing.gatherer(parts.pipeline),
    watermarks: watermarks(parts),
    inflatedBytesMax: limits.inflatedBytes,
    redaction: settings.redaction,
    forward: parts.forward,
    archive: {
      keep: (trace) => parts.stored?.spanArchiver.keep(trace),
      handOver: (trace) => handedOver(trace, { ...parts.journal, sleep }),
    },
  });
}

export function overloadControl(
  parts: CoreParts,
  { memory, pressureSleep }: { readonly memory: Memory; readonly pressureSleep?: Sleep },
): Overload {
  const { activity, config, leases, telemetry } = parts;
  return overload({
    limits: config.limits,
    flow: parts.pipeline,
    leases,
    telemetry,
    clock,
    sleep: pressureSleep ?? sleep,
    ...(pressureSleep === undefined ? { activity } : {}),
    random: Math.random,
    memory,
    wake: parts.closeScheduler.wake,
    journalFill: () => parts.journal.checkpointer()?.fill() ?? 0,
    storeFill: () => parts.stored?.runWriter.fill() ?? 0,
    forwardFill: parts.forward.fill,
    onFault: faultLog(parts, 'the pressure on the service could not be measured'),
  });
}

/** The receivers listen, and the service takes nothing. */
function isClosed({ stopping, away }: Readonly<CoreParts['state']>): boolean {
  return stopping || away !== undefined;
}

export function ingest(parts: CoreParts): Ingest {
  const { activity, overload: control, state, recognition, tracing } = parts;
  const journaled = journaledIngest({
    journaling: parts.journal,
    takesAllLogs: parts.forward.wants,
    clock,
    wake() {
      activity.noted();
      parts.closeScheduler.wake();
    },
    ...control.shares,
    putOff: control.putOff,
    held: control.held,
    outlook(isModest) {
      activity.noted();
      return isClosed(state) ? 'later' : control.outlook(isModest);
    },
    admission(isModest) {
      activity.noted();
      if (!isClosed(state)) return control.admission(isModest);
      return { refuse: state.stopping ? 'stopping' : 'store_away', retryAfterSeconds: closedRetryAfterSeconds };
    },
  });
  return recognition.watched(annotationIngest({ ingest: tracing.ingest(journaled), writer: () => parts.stored?.annotations, clock }));
}

/** The descriptors of the process and each listener's share of them. */
export function connectionBounds(
  { max, open }: Descriptors,
  { reserved, http, grpc, console }: ConnectionShares,
): { readonly [figure: string]: number } {
  return { descriptors: max, open, reserved, http, grpc, console };
}

function forwardSettings({ exporters }: Config): ForwardSettings | undefined {
  return exporters.find((entry) => entry.to === 'forward');
}
