/** Pushes the metrics to the configured backend at an interval, and once more at the stop. */
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import type { ExporterConfig } from '../config/config.ts';
import { metricsPush, type MetricsPush, type MetricsPushSettings, type PushOutcome } from '../exporters/metrics/metrics-push.ts';
import { wire } from '../model/attributes.ts';
import type { EntryStatus, MetricsStatus } from '../model/exporter-status.ts';
import { jsonText } from '../model/json.ts';
import type { MetricFamily } from '../telemetry/registry.ts';
import { periodicTask } from '../runtime/periodic-task.ts';
import type { Context } from '../telemetry/context.ts';

export interface MetricsPushingOptions extends Context {
  readonly snapshot: () => readonly MetricFamily[];
  /** Brings the snapshot up to date. */
  readonly refresh?: () => Promise<void>;
  readonly logger: Pick<Logger, 'warn' | 'info'>;
  /** Distinguishes this process from others on the same machine. */
  readonly instance: string;
}

export interface MetricsPushing {
  /** Pushes to the backend of these entries; a replaced backend gets a last push. Never fails, never waits. */
  place(entries: readonly ExporterConfig[]): void;
  /** The status of the backend; empty when no entry pushes metrics. */
  statuses(): readonly EntryStatus[];
  /** Pushes a last time within the deadline. May be called twice. */
  stop(deadlineMs: number): Promise<void>;
}

interface PushTarget {
  readonly text: string;
  status(): MetricsStatus;
  stop(deadlineMs: number): Promise<void>;
}

/** Longest time for one request; a shorter interval bounds it as well. */
const timeoutMsMax = 10_000;
/** Deadline of the last push to a replaced backend. */
const replacedStopMs = 10_000;

export function metricsPushing({ snapshot, refresh, telemetry, clock, sleep, logger, instance }: MetricsPushingOptions): MetricsPushing {
  const startMs = clock.nowMs();
  const resource = { [wire.serviceName]: 'tracejury', 'service.instance.id': `${hostname()}/${instance}` };
  let target: PushTarget | undefined;
  let isFirst = true;
  let isStopped = false;
  let isFailing = false;

  async function once(client: MetricsPush): Promise<PushOutcome> {
    await refresh?.();
    const result = await client.push();
    telemetry.add('tracejury.metrics.pushes', 1, {
      'tracejury.outcome': result.outcome,
      'tracejury.reason': result.outcome === 'failed' ? result.reason : '',
    });
    if (result.outcome !== 'failed') telemetry.set('tracejury.metrics.pushed', clock.nowMs() / 1_000);
    // The log gets one line when an outage begins and one when it ends.
    if (result.outcome === 'failed' && !isFailing)
      logger.warn({ reason: result.reason, fault: result.fault, todo: result.todo }, 'metrics could not be pushed');
    if (result.outcome !== 'failed' && isFailing) logger.info('metrics are pushed again');
    isFailing = result.outcome === 'failed';
    return result;
  }

  function opened(settings: MetricsPushSettings): PushTarget {
    const client = metricsPush({
      ...settings,
      resource,
      snapshot,
      clock,
      startMs,
      timeoutMs: Math.min(timeoutMsMax, settings.intervalMs),
      fromNow: !isFirst,
    });
    let status: MetricsStatus = { sends: 'metrics', fault: undefined, sentAtMs: undefined, lastFailure: undefined };
    const pushed = async (): Promise<void> => {
      const result = await once(client);
      status =
        result.outcome === 'failed'
          ? {
              ...status,
              fault: result.fault,
              lastFailure: { atMs: clock.nowMs(), error: result.fault, reason: result.reason, todo: result.todo },
            }
          : { ...status, fault: undefined, sentAtMs: clock.nowMs() };
    };
    const work = periodicTask({
      everyMs: settings.intervalMs,
      sleep,
      work: pushed,
      onFault: (error) => logger.warn({ error: error instanceof Error ? error.name : 'unknown' }, 'metrics could not be pushed'),
    });
    async function last(): Promise<void> {
      await work.stop();
      await pushed();
    }
    return {
      text: textOf(settings),
      status: () => status,
      async stop(deadlineMs) {
        const over = new AbortController();
        await Promise.race([last().catch(() => undefined), sleep(deadlineMs, over.signal)]);
        over.abort();
        client.stop();
      },
    };
  }

  return {
    place(entries) {
      const push = entries.flatMap((entry) => (entry.to === 'metrics' && entry.push !== undefined ? [entry.push] : []))[0];
      const isSame = target?.text === (push === undefined ? undefined : textOf(push));
      if (!isStopped && !isSame) {
        void target?.stop(replacedStopMs);
        target = push === undefined ? undefined : opened(push);
      }
      isFirst = false;
    },
    statuses: () => (target === undefined ? [] : [{ name: 'metrics', kind: 'metrics', isConfigured: true, status: target.status() }]),
    async stop(deadlineMs) {
      if (isStopped) return;
      isStopped = true;
      await target?.stop(deadlineMs);
    },
  };
}

function textOf({ url, headers, intervalMs, temporality, tls = {} }: MetricsPushSettings): string {
  return jsonText({ url, headers, intervalMs, temporality, tls }, { sortKeys: true });
}
