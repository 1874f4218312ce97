/** The metrics page as whoever asks for it gets it in the end. */
import { openMetricsPieces } from '../../src/telemetry/openmetrics.ts';
import type { MetricFamily } from '../../src/telemetry/registry.ts';

export function wholePage(families: readonly MetricFamily[]): string {
  return [...openMetricsPieces(families)].join('');
}
