/**
 * The metrics page: OpenMetrics 1.0 text. Names follow OpenTelemetry's mapping to Prometheus: dots become underscores, the unit is
 * appended unless it is there already, `1` appends `ratio` to gauges only, units in braces are annotations.
 */
import type { Metric } from './metrics.ts';
import type { Exemplar, MetricFamily, MetricPoint } from './registry.ts';
import type { Labels } from './telemetry.ts';

export const openMetricsContentType = 'application/openmetrics-text; version=1.0.0; charset=utf-8';

/** OpenMetrics: names and values of an exemplar's labels together. */
const exemplarCharsMax = 128;

const unitWords: { readonly [unit: string]: string } = { s: 'seconds', ms: 'milliseconds', By: 'bytes' };

export function openMetricsText(families: readonly MetricFamily[]): string {
  return `${families.map(familyText).join('')}# EOF\n`;
}

/** The name of a metric on the page, without the suffixes of its samples. */
export function openMetricsName(name: string, row: Metric): string {
  const plain = name.replace(/[^a-zA-Z0-9_:]/g, '_');
  const unit = unitOf(row);
  return unit === '' || plain.endsWith(`_${unit}`) ? plain : `${plain}_${unit}`;
}

function unitOf(row: Metric): string {
  if (row.unit === '1') return row.kind === 'gauge' ? 'ratio' : '';
  return Object.hasOwn(unitWords, row.unit) ? (unitWords[row.unit] ?? '') : '';
}

function familyText({ name, row, points }: MetricFamily): string {
  const family = openMetricsName(name, row);
  const unit = unitOf(row);
  const head = [`# TYPE ${family} ${row.kind}`, ...(unit === '' ? [] : [`# UNIT ${family} ${unit}`]), `# HELP ${family} ${escaped(row.meaning)}`];
  return [...head, ...points.flatMap((point) => samples(family, row, point))].map((line) => `${line}\n`).join('');
}

function samples(family: string, row: Metric, point: MetricPoint): readonly string[] {
  // A histogram has a dozen lines with the same labels.
  const pairs = pairTexts(point.labels);
  const labels = labelText(pairs);
  if (point.kind === 'number') return [`${family}${row.kind === 'counter' ? '_total' : ''}${labels} ${point.value}`];
  const edges = row.buckets ?? [];
  let below = 0;
  const buckets = point.counts.map((count, at) => {
    below += count;
    const edge = edges[at];
    const le = edge === undefined ? '+Inf' : canonical(edge);
    return `${family}_bucket${labelText([...pairs, pairText('le', le)])} ${below}${exemplarText(point.exemplars[at])}`;
  });
  return [...buckets, `${family}_count${labels} ${below}`, `${family}_sum${labels} ${point.sum}`];
}

/** An empty label is the same as none. */
function pairTexts(labels: Labels): readonly string[] {
  return Object.entries(labels).flatMap(([label, value]) => (value === '' ? [] : [pairText(label, value)]));
}

function labelText(pairs: readonly string[]): string {
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function pairText(label: string, value: string): string {
  return `${label.replace(/[^a-zA-Z0-9_]/g, '_')}="${escaped(value)}"`;
}

function exemplarText(exemplar: Exemplar | undefined): string {
  if (exemplar === undefined) return '';
  const pairs = Object.entries(exemplar.labels);
  const chars = pairs.reduce((sum, [label, value]) => sum + [...label].length + [...value].length, 0);
  if (chars > exemplarCharsMax) return '';
  return ` # {${pairs.map(([label, value]) => pairText(label, value)).join(',')}} ${exemplar.value}${exemplar.atMs === undefined ? '' : ` ${(exemplar.atMs / 1_000).toFixed(3)}`}`;
}

/** Whole numbers keep a fraction, so that all exposers write the same edge alike. */
function canonical(edge: number): string {
  return Number.isInteger(edge) ? edge.toFixed(1) : String(edge);
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"').toWellFormed();
}
