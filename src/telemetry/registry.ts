/** Counts in memory within bounds. The metrics page and the push to a backend read its snapshot. */
import { wire } from '../model/attributes.ts';
import type { Clock } from '../model/clock.ts';
import { type Shares, shares } from '../model/shares.ts';
import {
  boundedLabels,
  foreignLabels,
  labelBounds,
  type Metric,
  type MetricName,
  metricRows,
  otherValue,
  versionLabel,
} from './metrics.ts';
import type { Labels, Telemetry } from './telemetry.ts';

export interface MetricRegistryOptions {
  /**
   * Label sets of each metric; tenants beyond it each still get an equal share. Further ones fold their foreign labels into `other`; at twice the number all
   * labels fold into one set.
   */
  readonly labelSetsMax?: number;
  /**
   * Limit of agents, and of services, with separate label sets in each tenant; others count as `other`. Default: 200, or `labelSetsMax` if larger.
   */
  readonly agentsMax?: number;
  /** Limit of versions of an agent with separate label sets; others count as `other`. With 0 the label is left out. Default: 10. */
  readonly versionsMax?: number;
  /** Longer label values are cut. */
  readonly labelCharsMax?: number;
  /** Gives the time of exemplars; without it they have none. */
  readonly clock?: Clock;
}

export const labelSetsPreset = 2_000;
/** A histogram with this many agents, services and evaluators takes a few megabytes of the page. */
const agentsPreset = 200;
export const metricVersionsDefault = 10;

export interface Exemplar {
  readonly labels: Labels;
  readonly value: number;
  /** Epoch milliseconds. */
  readonly atMs?: number;
}

/** `labels` of a counter or a histogram is the same object in every snapshot. */
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
  /** Every metric in the order of the table, also those without a value. */
  snapshot(): readonly MetricFamily[];
  /** Replaces all values of a gauge. */
  replace(metric: MetricName, points: readonly { readonly labels: Labels; readonly value: number }[]): void;
}

/** Leaves these gauges without a value: another process publishes them now. */
export function withdraw(telemetry: Pick<MetricRegistry, 'replace'>, gauges: readonly MetricName[]): void {
  for (const gauge of gauges) telemetry.replace(gauge, []);
}

interface Series {
  readonly labels: Labels;
  value: number;
  readonly counts: number[];
  readonly exemplars: (Exemplar | undefined)[];
}

/** A tree of label values: a joined key would cost a string for each count. */
interface Family {
  readonly first: Branch;
  readonly series: Series[];
  /** Shares of its label sets for the tenants in them. */
  readonly sets: Shares;
}

interface Branch {
  series?: Series;
  byValue?: Map<string, Branch>;
}

export function metricRegistry({
  labelSetsMax: setsMax,
  agentsMax = Math.max(agentsPreset, setsMax ?? 0),
  versionsMax = metricVersionsDefault,
  labelCharsMax = 200,
  clock,
}: MetricRegistryOptions = {}): MetricRegistry {
  const labelSetsMax = setsMax ?? labelSetsPreset;
  const families = new Map<string, Family>();
  const bounds = labelBounds(boundedLabels, { agents: agentsMax, versions: versionsMax });
  for (const [name, row] of Object.entries(metricRows)) {
    const family = emptyFamily(labelSetsMax);
    // A metric without labels starts with 0: zero is not the same as unknown.
    if (row.labels.length === 0) added(family, row, []);
    families.set(name, family);
  }

  function seriesOf(metric: MetricName, row: Metric, labels: Labels): Series {
    const family = families.get(metric) ?? emptyFamily(labelSetsMax);
    return (
      labelled(family, row, labels) ??
      ofValues(
        family,
        metric,
        row,
        row.labels.map((label) => (label === versionLabel && versionsMax === 0 ? '' : cut(valueOf(labels, label), labelCharsMax))),
      )
    );
  }

  /** `values` are cut. */
  function ofValues(family: Family, metric: MetricName, row: Metric, values: readonly string[]): Series {
    const known = valued(family, values);
    if (known !== undefined) return known;
    const kept = bounds.kept(row.labels, values);
    if (kept !== values) folded(metric);
    return valued(family, kept) ?? withinSets(family, metric, row, kept);
  }

  function withinSets(family: Family, metric: MetricName, row: Metric, values: readonly string[]): Series {
    const { length: size } = family.series;
    if (row.labels.length === 0 || family.sets.mayTake(tenantOf(row, values))) return added(family, row, values);
    folded(metric);
    const unversioned = values.map((value, at) => (row.labels[at] === versionLabel && value !== '' ? otherValue : value));
    const sameAgent = valued(family, unversioned);
    if (sameAgent !== undefined) return sameAgent;
    const partly = unversioned.map((value, at) => (foreignLabels.has(row.labels[at] ?? '') ? otherValue : value));
    const left =
      valued(family, partly) !== undefined || (partly.includes(otherValue) && size < labelSetsMax * 2)
        ? partly
        : values.map(() => otherValue);
    return valued(family, left) ?? added(family, row, left);
  }

  function folded(metric: MetricName): void {
    if (metric !== 'tracejury.metrics.folded') telemetry.add('tracejury.metrics.folded', 1, { 'tracejury.metric': metric });
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
      if (exemplar !== undefined)
        series.exemplars[bucket] = { labels: { ...exemplar }, value, ...(clock === undefined ? {} : { atMs: clock.nowMs() }) };
    },
    replace(metric, points) {
      if (metricRows[metric]?.kind !== 'gauge') return;
      families.set(metric, emptyFamily(labelSetsMax));
      for (const { labels, value } of points) telemetry.set(metric, value, labels);
    },
    snapshot: () =>
      [...families].flatMap(([name, family]) => {
        const row = metricRows[name];
        return row === undefined ? [] : [{ name, row, points: family.series.map((series) => pointOf(row, series)) }];
      }),
  };
  return telemetry;
}

function emptyFamily(labelSetsMax: number): Family {
  return { first: {}, series: [], sets: shares(labelSetsMax) };
}

function tenantOf(row: Metric, values: readonly string[]): string {
  return values[row.labels.indexOf(wire.tenant)] ?? '';
}

function added(family: Family, row: Metric, values: readonly string[]): Series {
  let branch = family.first;
  for (const value of values) {
    const byValue = (branch.byValue ??= new Map());
    const next = byValue.get(value) ?? {};
    byValue.set(value, next);
    branch = next;
  }
  const series = emptySeries(row, values);
  branch.series = series;
  family.series.push(series);
  family.sets.take(tenantOf(row, values));
  return series;
}

/** `undefined` when the series is new, or when its values are cut. */
function labelled(family: Family, row: Metric, labels: Labels): Series | undefined {
  let branch: Branch | undefined = family.first;
  for (const label of row.labels) branch = branch?.byValue?.get(valueOf(labels, label));
  return branch?.series;
}

function valued(family: Family, values: readonly string[]): Series | undefined {
  let branch: Branch | undefined = family.first;
  for (const value of values) branch = branch?.byValue?.get(value);
  return branch?.series;
}

function valueOf(labels: Labels, label: string): string {
  return Object.hasOwn(labels, label) ? (labels[label] ?? '') : '';
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
  // A cut may split a surrogate pair.
  return (text.length > charsMax ? `${text.slice(0, charsMax - 1)}…` : text).toWellFormed();
}
