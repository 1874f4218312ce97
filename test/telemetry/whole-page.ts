/** The metrics page in the form that a client gets in the end. */
import { openMetricsPieces } from '../../src/telemetry/openmetrics.ts';
import type { MetricFamily } from '../../src/telemetry/registry.ts';

export function wholePage(families: readonly MetricFamily[]): string {
  return [...openMetricsPieces(families)].join('');
}
