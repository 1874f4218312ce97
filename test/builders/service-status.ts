/** A service's status, for routes that are called without one. */
import type { MetricValue, ServiceStatus } from '../../src/model/service-status.ts';

interface Values {
  readonly [metric: string]: readonly MetricValue[];
}

export function serviceStatus(
  given: Partial<ServiceStatus> & { readonly values?: Values; readonly lastHour?: Values } = {},
): ServiceStatus {
  const { values = {}, lastHour = {}, ...rest } = given;
  return {
    version: '0.0.0',
    node: '24.0.0',
    startedAtMs: 0,
    configuration: () => ({ file: undefined, readAtMs: 0, printed: undefined, warnings: [], waiting: [], refused: [] }),
    keep: () => ({ runsMs: 1, contentMs: 1, exportsMs: 1, exports: 1, bytes: 1 }),
    tokens: [],
    fullFolder: () => undefined,
    replicas: async () => [],
    metrics: () => ({ values: (metric) => values[metric] ?? [], lastHour: (metric) => lastHour[metric] ?? [] }),
    ...rest,
  };
}
