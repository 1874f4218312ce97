/** Counts in memory, within bounds. The metrics page and the push to a backend read its snapshot. */
import type { Clock } from '../model/clock.ts';
import { foreignLabels, type Metric, type MetricName, metricRows } from './metrics.ts';
import type { Labels, Telemetry } from './telemetry.ts';

export interface MetricRegistryOptions {
  /**
   * Label sets kept per metric. Beyond it the labels of foreign origin fold into `other`, which may make as many sets again; beyond
   * that everything folds into one set.
   */
  readonly labelSetsMax?: number;
  /** Characters kept of a label value. */
  readonly labelCharsMax?: number;
  /** Tells when an exemplar was seen; without it exemplars have no time. */
  readonly clock?: Clock;
}

export interface Exemplar {
  readonly labels: Labels;
  readonly value: number;
  /** Epoch milliseconds. */
  readonly atMs?: number;
}

export type MetricPoint =
  | { readonly kind: 'number'; readonly labels: Labels; readonly value: number }
  | {
      readonly kind: 'histogram';
      readonly labels: Labels;
      /** Values per bucket, not cumulative; one more than there are edges. */
      readonly counts: readonly number[];
      readonly sum: number;
      readonly exemplars: readonly (Exemplar | undefined)[];
    };

export interface MetricFamily {
  readonly name: string;
  readonly row: Metric;
  readonly points: readonly MetricPoint[];
}

export interface MetricRegistry extends Telemetry {
  /** Every metric of the table, in its order, also those that have not counted yet. */
  snapshot(): readonly MetricFamily[];
  /** All values of a gauge at once: label sets that are not named are gone. */
  replace(metric: MetricName, points: readonly { readonly labels: Labels; readonly value: number }[]): void;
}

interface Series {
  readonly labels: Labels;
  value: number;
  readonly counts: number[];
  readonly exemplars: (Exemplar | undefined)[];
}

const foldedLabelValue = 'other';

export function metricRegistry({ labelSetsMax = 2000, labelCharsMax = 200, clock }: MetricRegistryOptions = {}): MetricRegistry {
  const families = new Map<string, Map<string, Series>>();
  for (const [name, row] of Object.entries(metricRows)) {
    // A metric without labels is there from the start: zero is not the same as unknown.
    const first: [string, Series][] = row.labels.length === 0 ? [[keyOf([]), emptySeries(row, [])]] : [];
    families.set(name, new Map(first));
  }

  function seriesOf(metric: MetricName, row: Metric, labels: Labels): Series {
    const family = families.get(metric) ?? new Map<string, Series>();
    const known = family.get(writtenKey(row, labels, labelCharsMax));
    if (known !== undefined) return known;
    const values = row.labels.map((label) => valueOf(labels, label, labelCharsMax));
    if (family.size < labelSetsMax || row.labels.length === 0) return added(family, row, values);
    if (metric !== 'tracejury.metrics.folded') telemetry.add('tracejury.metrics.folded', 1, { 'tracejury.metric': metric });
    const partly = values.map((value, at) => (foreignLabels.has(row.labels[at] ?? '') ? foldedLabelValue : value));
    const folded = family.has(keyOf(partly)) || (partly.includes(foldedLabelValue) && family.size < labelSetsMax * 2) ? partly : values.map(() => foldedLabelValue);
    return family.get(keyOf(folded)) ?? added(family, row, folded);
  }

  const telemetry: MetricRegistry = {
    add(metric, value, labels = {}) {
      const row = metricRows[metric];
      if (row === undefined || row.kind === 'histogram' || !Number.isFinite(value) || (row.kind === 'counter' && value < 0)) return;
      seriesOf(metric, row, labels).value += value;
    },
    set(metric, value, labels = {}) {
      const row = metricRows[metric];
      if (row?.kind === 'gauge' && Number.isFinite(value)) seriesOf(metric, row, labels).value = value;
    },
    record(metric, value, labels = {}, exemplar) {
      const row = metricRows[metric];
      if (row?.kind !== 'histogram' || !Number.isFinite(value)) return;
      const series = seriesOf(metric, row, labels);
      const bucket = bucketOf(row.buckets ?? [], value);
      series.value += value;
      series.counts[bucket] = (series.counts[bucket] ?? 0) + 1;
      if (exemplar !== undefined) series.exemplars[bucket] = { labels: { ...exemplar }, value, ...(clock === undefined ? {} : { atMs: clock.nowMs() }) };
    },
    replace(metric, points) {
      if (metricRows[metric]?.kind !== 'gauge') return;
      families.set(metric, new Map());
      for (const { labels, value } of points) telemetry.set(metric, value, labels);
    },
    snapshot: () =>
      [...families].flatMap(([name, family]) => {
        const row = metricRows[name];
        return row === undefined ? [] : [{ name, row, points: [...family.values()].map((series) => pointOf(row, series)) }];
      }),
  };
  return telemetry;
}

function added(family: Map<string, Series>, row: Metric, values: readonly string[]): Series {
  const series = emptySeries(row, values);
  family.set(keyOf(values), series);
  return series;
}

/** Another text for other values: it is made for everything that is counted. */
function keyOf(values: readonly string[]): string {
  return values.reduce(withValue, '');
}

/** The key of the values that some labels have, without a list of them. */
function writtenKey(row: Metric, labels: Labels, charsMax: number): string {
  let key = '';
  for (const label of row.labels) key = withValue(key, valueOf(labels, label, charsMax));
  return key;
}

function withValue(key: string, value: string): string {
  return `${key}${value.length}:${value}`;
}

function valueOf(labels: Labels, label: string, charsMax: number): string {
  return cut(Object.hasOwn(labels, label) ? (labels[label] ?? '') : '', charsMax);
}

function emptySeries(row: Metric, values: readonly string[]): Series {
  const buckets = row.kind === 'histogram' ? (row.buckets ?? []).length + 1 : 0;
  return {
    labels: Object.fromEntries(row.labels.map((label, at) => [label, values[at] ?? ''])),
    value: 0,
    counts: Array.from({ length: buckets }, () => 0),
    exemplars: Array.from({ length: buckets }, () => undefined),
  };
}

function pointOf(row: Metric, series: Series): MetricPoint {
  const { labels, value } = series;
  if (row.kind !== 'histogram') return { kind: 'number', labels, value };
  return { kind: 'histogram', labels, counts: [...series.counts], sum: value, exemplars: [...series.exemplars] };
}

/** Upper edges are inclusive; the last bucket has none. */
function bucketOf(edges: readonly number[], value: number): number {
  const at = edges.findIndex((edge) => value <= edge);
  return at === -1 ? edges.length : at;
}

function cut(text: string, charsMax: number): string {
  // A cut may fall between two halves of one character.
  return (text.length > charsMax ? `${text.slice(0, charsMax - 1)}…` : text).toWellFormed();
}
