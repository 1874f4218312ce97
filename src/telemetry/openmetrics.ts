/**
 * Writes the metrics page as OpenMetrics 1.0 text. Names follow OpenTelemetry's mapping to Prometheus: dots become underscores, and the unit
 * becomes a suffix. The unit `1` becomes `ratio` for gauges only; units in braces are annotations.
 */
import type { Metric } from './metrics.ts';
import type { Exemplar, MetricFamily, MetricPoint } from './registry.ts';
import type { Labels } from './telemetry.ts';

export const openMetricsContentType = 'application/openmetrics-text; version=1.0.0; charset=utf-8';

/** OpenMetrics bounds the names and values of an exemplar's labels together. */
const exemplarCharsMax = 128;
/** About 1 ms of work. With smaller pieces a scrape would time out: a busy service writes one piece a turn. */
const charsPerPiece = 256 * 1024;

const unitWords: { readonly [unit: string]: string } = { s: 'seconds', ms: 'milliseconds', By: 'bytes' };

/** Yields the page in pieces, so that the sender can work in between. A piece ends with the point that fills it. */
export function* openMetricsPieces(families: readonly MetricFamily[], charsMax = charsPerPiece): Generator<string, void, undefined> {
  let piece = '';
  for (const family of families) {
    const { head, pointText } = writerOf(family);
    piece += head;
    for (const point of family.points) {
      piece += pointText(point);
      if (piece.length < charsMax) continue;
      yield piece;
      piece = '';
    }
  }
  yield `${piece}# EOF\n`;
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

interface FamilyWriter {
  readonly head: string;
  readonly pointText: (point: MetricPoint) => string;
}

/** Prepares the parts that all points of a family share. */
function writerOf({ name, row }: MetricFamily): FamilyWriter {
  const family = openMetricsName(name, row);
  const unit = unitOf(row);
  const number = row.kind === 'counter' ? `${family}_total` : family;
  const names = row.labels.map((label): LabelName => [label, plainLabel(label)]);
  const edges = (row.buckets ?? []).map(canonical);

  function pointText(point: MetricPoint): string {
    const pairs = pairsText(names, point.labels);
    const labels = pairs === '' ? '' : `{${pairs}}`;
    if (point.kind === 'number') return `${number}${labels} ${point.value}\n`;
    const bucket = `${family}_bucket{${pairs}${pairs === '' ? '' : ','}le="`;
    let text = '';
    let below = 0;
    point.counts.forEach((count, at) => {
      below += count;
      text += `${bucket}${edges[at] ?? '+Inf'}"} ${below}${exemplarText(point.exemplars[at])}\n`;
    });
    return `${text}${family}_count${labels} ${below}\n${family}_sum${labels} ${point.sum}\n`;
  }

  return {
    head: `# TYPE ${family} ${row.kind}\n${unit === '' ? '' : `# UNIT ${family} ${unit}\n`}# HELP ${family} ${escaped(row.meaning)}\n`,
    pointText,
  };
}

type LabelName = readonly [label: string, onPage: string];

/** OpenMetrics treats an empty label as absent. */
function pairsText(names: readonly LabelName[], labels: Labels): string {
  let text = '';
  for (const [label, onPage] of names) {
    const value = labels[label] ?? '';
    if (value !== '') text += `${text === '' ? '' : ','}${onPage}="${escaped(value)}"`;
  }
  return text;
}

function exemplarText(exemplar: Exemplar | undefined): string {
  if (exemplar === undefined) return '';
  const pairs = Object.entries(exemplar.labels);
  const chars = pairs.reduce((sum, [label, value]) => sum + charsOf(label) + charsOf(value), 0);
  if (chars > exemplarCharsMax) return '';
  return ` # {${pairs.map(([label, value]) => `${plainLabel(label)}="${escaped(value)}"`).join(',')}} ${exemplar.value}${exemplar.atMs === undefined ? '' : ` ${(exemplar.atMs / 1_000).toFixed(3)}`}`;
}

/** Counts a surrogate pair as one character. */
function charsOf(text: string): number {
  return text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);
}

function plainLabel(label: string): string {
  return label.replace(/[^a-zA-Z0-9_]/g, '_');
}

/** OpenMetrics writes whole numbers with a fraction. */
function canonical(edge: number): string {
  return Number.isInteger(edge) ? edge.toFixed(1) : String(edge);
}

function escaped(text: string): string {
  const plain = text.toWellFormed();
  // Few texts need escapes, and one test is cheaper than three replacements.
  return /[\\\n"]/.test(plain) ? plain.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"') : plain;
}
