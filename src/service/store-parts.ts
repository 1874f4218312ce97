/** Connects the parts that work on the store, and those that show what the service knows. */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { evaluationContext } from '../../evaluators/configuration/context.ts';
import { evaluators } from '../../evaluators/index.ts';
import { startLateSpanLookup, type LateSpanLookup } from '../stores/late-span-lookup.ts';
import { runWriter } from '../stores/run-writer.ts';
import type { ReplicaStore } from '../model/store/replica-store.ts';
import { keptSpans, spanArchiver } from '../stores/span-archiver.ts';
import type { ReplayableStore } from '../model/store/replay-store.ts';
import { metricsSnapshot } from './reloading.ts';
import { alertRow, alertWatch } from './alert-watch.ts';
import { issueWatch } from './issue-watch.ts';
import { annotationWriter } from './annotation-writer.ts';
import { clock, packageVersion, sleep } from './node-runtime.ts';
import { demoLoader } from './demo-loader.ts';
import * as watch from './service-status.ts';
import { driftWatch } from './drift-watch.ts';
import { expectationRules } from './experiment-expectations.ts';
import { experimentWriter } from './experiment-writer.ts';
import { exampleRedaction, examplesOfRules } from './example-keeper.ts';
import { evaluatorsInForce } from './evaluators-in-force.ts';
import { judgesInForce } from './judge-pool.ts';
import { judgeQuestion } from './judge-question.ts';
import { consoleOf } from './listeners.ts';
import { metricsPushing, type MetricsPushing } from './metrics-pushing.ts';
import { grpcReserveShare } from './overload.ts';
import type { PeriodicTask } from '../runtime/periodic-task.ts';
import type { TaskContext } from '../telemetry/context.ts';
import { figures } from './rate-gauges.ts';
import { queuesInForce, queuesOfRules, queueUpkeep } from './queue-rules.ts';
import { replicaWatch, type ReplicaWatch } from './replicas.ts';
import { retentionOf } from './retention.ts';
import { textIndexer } from './text-indexer.ts';
import { versionUpkeep } from './version-upkeep.ts';
import { type CoreParts, type ConsoleParts, type PageParts, type StoreParts, faultLog } from './core-parts.ts';

export function replicas(
  parts: CoreParts,
  store: ReplicaStore,
  { id, configuration }: { readonly id: string; readonly configuration: () => string },
): ReplicaWatch {
  const own = { id, host: hostname(), version: packageVersion() };
  const { logger } = parts;
  return replicaWatch({ ...task(parts, 'the store could not take the sign of life of this process'), store, own, configuration, logger });
}

/** The context of a part. The log names its failures by `fault`. */
function task(parts: CoreParts, fault: string): TaskContext & Pick<CoreParts, 'telemetry'> {
  return { telemetry: parts.telemetry, clock, sleep, onFault: faultLog(parts, fault) };
}

interface OpenedStore {
  readonly opened: ReplayableStore;
  readonly replicas: ReplicaWatch;
}

export function storeParts(parts: CoreParts, { opened, replicas: watch }: OpenedStore): StoreParts {
  const { telemetry, settings, exporters, tracing } = parts;
  const store = tracing.store(opened);
  const { rest, noted } = parts.activity;
  const shared = { store, telemetry, clock, sleep };
  const versions = versionUpkeep({
    ...shared,
    keepMs: () => settings.config().store.keep.runsMs,
    mayWork: () => !writer.isBehind() && parts.overload.isCalm(),
    isOwn: () => watch.holds('sums'),
    onFault: faultLog(parts, 'the figures of versions could not be summed'),
  });
  const writer = runWriter({
    ...shared,
    keep: retentionOf(settings.config),
    unsent: exporters,
    onWritten: noted,
    mayPrune: () => watch.holds('retention'),
    beforeClose: parts.journal.save,
    onFault: faultLog(parts, 'the store could not be written'),
  });
  const byRules = { ...shared, rest, takesLeft: () => watch.holds('rules'), settings, writer };
  return {
    store,
    replicas: watch,
    runWriter: writer,
    versions,
    alerts: alertWatch({
      ...shared,
      rules: () => settings.config().alerts,
      redaction: settings.redaction,
      refresh: versions.refresh,
      notify: exporters.notify,
      tenure: () => watch.tenure('alerts'),
      logger: parts.logger,
      onFault: faultLog(parts, 'the conditions of alerts could not be looked at'),
    }),
    spanArchiver: spanArchiver({ ...shared, read: parts.journal.readBack, onFault: faultLog(parts, 'spans could not be kept') }),
    annotations: annotationWriter({
      ...shared,
      redaction: settings.redaction,
      waitMs: () => settings.config().store.annotationsWaitMs,
      onFault: faultLog(parts, 'expired annotations could not be removed'),
    }),
    experiments: experimentWriter({
      ...shared,
      expectations: expectationRules({
        members: evaluators,
        plan: () => settings.config().evaluators,
        context: evaluationContext({}),
        clock,
      }),
      prices: () => settings.config().prices,
      keepMs: () => settings.config().store.experimentsMs,
      onFault: faultLog(parts, 'the result of an experiment could not be stored'),
    }),
    examples: examplesOfRules({ ...byRules, onFault: faultLog(parts, 'runs could not be kept as examples') }),
    queues: queuesInForce({ ...shared, settings }),
    queueFiller: queuesOfRules({ ...byRules, onFault: faultLog(parts, 'runs could not be put into queues') }),
  };
}

const freshSecret = (): string => randomBytes(32).toString('base64url');

export function textIndexing(parts: CoreParts, { store, runWriter: writer, replicas: watch }: StoreParts): PeriodicTask {
  return textIndexer({
    ...task(parts, 'the words of texts could not be indexed'),
    rest: parts.activity.rest,
    store,
    search: () => parts.settings.config().store.search,
    isOwn: () => watch.holds('texts'),
    mayWork: () => !writer.isBehind() && parts.overload.isCalm(),
  });
}

export function rateGauges(parts: CoreParts, { store, replicas: watch }: StoreParts): PeriodicTask {
  return figures({ ...task(parts, 'rates could not be reckoned'), store, isOwn: () => watch.holds('rates') });
}

export function queueMaintenance(parts: CoreParts, { store, replicas: watch }: StoreParts): PeriodicTask {
  return queueUpkeep({
    ...task(parts, 'the queues could not be brought up to date'),
    rest: parts.activity.rest,
    store,
    isOwn: () => watch.holds('queues'),
    config: parts.settings.config,
    logger: parts.logger,
  });
}

export function issueUpkeep(parts: CoreParts, { store, versions, replicas: watch }: StoreParts): PeriodicTask {
  const { logger, settings, exporters } = parts;
  return issueWatch({
    ...task(parts, 'the states of issues could not be brought up to date'),
    rest: parts.activity.rest,
    store,
    newAfter: () => settings.config().issues.newAfter,
    keepMs: () => settings.config().store.keep.runsMs,
    to: () => settings.config().issues.to,
    redaction: settings.redaction,
    notify: exporters.notify,
    refresh: versions.refresh,
    isOwn: () => watch.holds('issues'),
    logger,
  });
}

export function driftMeasurement(parts: CoreParts, { store, replicas: watch }: StoreParts): Pick<PeriodicTask, 'stop'> {
  const { settings, judges: pool, overload: control } = parts;
  return driftWatch({
    ...task(parts, 'the drift of a judge could not be measured'),
    store,
    config: settings.config,
    redaction: settings.redaction,
    ask: pool.askAnew,
    isCalm: control.isCalm,
    isOwn: () => watch.holds('drift'),
  });
}

export function lateSpanLookup(parts: CoreParts, { store }: StoreParts): LateSpanLookup {
  return startLateSpanLookup({
    ...task(parts, 'the runs of late spans could not be read from the store'),
    rest: parts.activity.rest,
    store,
    flow: parts.pipeline,
    closing: () => parts.settings.config().closing,
    wake: parts.closeScheduler.wake,
  });
}

export async function consoleServer(
  parts: ConsoleParts,
  { store, annotations, versions, alerts, queues, replicas: watch }: StoreParts,
): Promise<ReturnType<typeof consoleOf>> {
  const { config, state, telemetry, logger, settings, exporters, forward, upstream, recognition } = parts;
  return consoleOf(config, state, {
    connectionsMax: parts.connections.console,
    signIns: store.replicas.isShared ? { store: store.signIns, secret: await store.signIns.secret('sign-in', freshSecret()) } : undefined,
    lease: parts.leases({ keepFreeBytes: config.limits.memoryBytes * grpcReserveShare }),
    telemetry,
    logger,
    store,
    exporters: {
      statuses: () => [...exporters.statuses(), ...forward.statuses(), ...parts.metricsPush.statuses()],
      recount: exporters.recount,
    },
    annotate: annotations.take,
    searches: () => settings.config().store.search.isOn,
    unannotate: annotations.remove,
    queues,
    async removeProcess(key) {
      parts.processes.forget(key);
      return await store.processes.remove(key);
    },
    ...exampleRedaction(settings),
    dialects: () => settings.rules().dialects,
    judgeQuestion: async (run, name) =>
      judgeQuestion(run, await keptSpans(await store.spans(run.tenant, run.traceId)), name, {
        config: settings.config(),
        rules: settings.rules(),
      }),
    budgets: () => parts.judges.budgets(settings.config().evaluators),
    judges: () => judgesInForce(settings.config()),
    judgeOutages: parts.judges.outages,
    evaluators: () => evaluatorsInForce(settings.config()),
    upstream,
    refreshVersions: versions.refresh,
    loadDemo: demoLoader({ take: parts.take, clock, randomBytes }),
    alerts: () => alerts.reports().map(alertRow),
    alertNotes: alerts.notes,
    unrecognised: () => recognition.reported(),
    fullFolder: parts.status.fullFolder,
    journalFault: parts.journal.fault,
    storeAwaySeconds: watch.storeAwaySeconds,
    takesRequests: () => parts.overload.outlook(true) === 'open',
    status: parts.status,
    snapshot: () => metricsSnapshot(telemetry, settings),
    // Answers take memory, which the overload control then measures at its usual pace.
    onApiRequest: parts.activity.noted,
  });
}

/** Watches the status of the service, for pages. */
export function statusWatch(parts: PageParts, { replicas: others }: StoreParts): watch.StatusWatch {
  const { config, settings, telemetry } = parts;
  return watch.statusWatch({
    ...task(parts, 'the metrics of the last hour could not be read'),
    version: packageVersion(),
    started: config,
    keep: () => settings.config().store.keep,
    configuration: parts.configuration,
    fullFolder: () => parts.journal.fullFolder() ?? parts.storeRoom.fullFolder(),
    replicas: others.list,
    snapshot: () => metricsSnapshot(telemetry, settings),
  });
}

export function metricsPush({ config, telemetry, settings, logger }: CoreParts): MetricsPushing {
  const instance = String(config.listen.otlpHttp.port);
  return metricsPushing({ snapshot: () => metricsSnapshot(telemetry, settings), telemetry, clock, sleep, logger, instance });
}
