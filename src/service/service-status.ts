/** Collects what the service knows of itself, for people: settings in force, and what it counted in the last hour. */
import { recentCounts } from '../telemetry/recent-counts.ts';
import type { MetricFamily } from '../telemetry/registry.ts';
import { periodicTask } from '../runtime/periodic-task.ts';
import type { Config } from '../config/config.ts';
import type { ConfigStatus, ServiceStatus } from '../model/service-status.ts';
import { watchedCounters } from '../web/api/notices.ts';
import type { TaskContext } from '../telemetry/context.ts';

interface ServiceStatusOptions extends Omit<TaskContext, 'telemetry'> {
  readonly version: string;
  /** As it was at the start: listeners and tokens stay until the next one. */
  readonly started: Pick<Config, 'listen'>;
  readonly keep: ServiceStatus['keep'];
  readonly configuration: () => ConfigStatus;
  readonly fullFolder: () => string | undefined;
  readonly replicas: ServiceStatus['replicas'];
  readonly snapshot: () => readonly MetricFamily[];
  /** Brings the snapshot up to date. */
  readonly refresh?: () => Promise<void>;
}

export interface StatusWatch {
  readonly status: ServiceStatus;
  stop(): Promise<void>;
}

const everyMs = 60_000;

export function statusWatch(options: ServiceStatusOptions): StatusWatch {
  const { version, started, keep, configuration, fullFolder, replicas, snapshot, refresh, clock, sleep, onFault } = options;
  const counts = recentCounts(watchedCounters, clock);
  const sampling = periodicTask({
    everyMs,
    sleep,
    async work() {
      await refresh?.();
      counts.sample(snapshot());
    },
    onFault,
    restsFirst: true,
  });
  return {
    status: {
      version,
      node: process.versions.node,
      startedAtMs: clock.nowMs(),
      configuration,
      keep,
      tokens: started.listen.tokens.map(({ name, may, sees }) => ({ name, may, seesOwn: sees === 'own' })),
      fullFolder,
      replicas,
      metrics() {
        const now = snapshot();
        return {
          values: (metric) =>
            (now.find(({ name }) => name === metric)?.points ?? []).flatMap((point) =>
              point.kind === 'number' ? [{ labels: point.labels, value: point.value }] : [],
            ),
          lastHour: (metric) => counts.grown(metric, now),
        };
      },
    },
    stop: () => sampling.stop(),
  };
}
