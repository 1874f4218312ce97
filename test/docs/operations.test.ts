/** The guide for operators, the alert rules and the dashboard name only metrics, labels and log lines that the service has. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { metricRows } from '../../src/telemetry/metrics.ts';
import type { MetricFamily } from '../../src/telemetry/registry.ts';
import { anchorsOf } from './anchors.ts';
import { rows as shown } from './grafana/panels.ts';
import { wholePage } from '../telemetry/whole-page.ts';

interface Rule {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations?: { readonly [name: string]: string };
}

const docs = join(import.meta.dirname, '../../docs');
const guides = join(docs, 'guides');
const page = readFileSync(join(guides, 'operations.md'), 'utf8');
const rulesText = readFileSync(join(docs, 'reference/alerts.yaml'), 'utf8');
const { groups } = parse(rulesText) as { readonly groups: readonly { readonly rules: readonly Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);

/** Each sample of the metrics page with its labels, from a page on which every metric has counted once. */
const samples: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  wholePage(Object.entries(metricRows).map(([name, row]) => counted(name, row)))
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => [/^\w+/.exec(line)?.[0] ?? '', new Set([...line.matchAll(/(\w+)="/g)].map((match) => match[1] ?? ''))]),
);
const labels = new Set([...samples.values()].flatMap((own) => [...own]));

function counted(name: string, row: MetricFamily['row']): MetricFamily {
  const own = Object.fromEntries(row.labels.map((label) => [label, 'x']));
  const counts = Array.from({ length: (row.buckets?.length ?? 0) + 1 }, () => 1);
  return {
    name,
    row,
    points: [
      row.kind === 'histogram'
        ? { kind: 'histogram', labels: own, counts, sum: 1, exemplars: [] }
        : { kind: 'number', labels: own, value: 1 },
    ],
  };
}

/** Words that look like our names and are neither a sample nor a label. */
function unknownNames(text: string): readonly string[] {
  return [...text.matchAll(/\b(?:tracejury|gen_ai)_\w+/g)].map(([name]) => name).filter((name) => !samples.has(name) && !labels.has(name));
}

/** Labels of selectors that their metric does not have. */
function unknownLabels(text: string): readonly string[] {
  return [...text.matchAll(/\b(tracejury_\w+)\{([^}]*)\}/g)].flatMap(([, name = '', inside = '']) =>
    [...inside.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].flatMap(([, label = '']) =>
      samples.get(name)?.has(label) === true ? [] : [`${name}{${label}}`],
    ),
  );
}

const runbook = readFileSync(join(guides, 'runbook.md'), 'utf8');
const texts = {
  'docs/guides/operations.md': page,
  'docs/guides/runbook.md': runbook,
  'docs/reference/alerts.yaml': rulesText,
  'docs/reference/grafana-dashboard.json': readFileSync(join(docs, 'reference/grafana-dashboard.json'), 'utf8'),
};
for (const [path, text] of Object.entries(texts)) {
  test(`docs: every metric and label in ${path} is on the metrics page`, () => {
    expect([...text.matchAll(/\btracejury_\w+/g)].length).toBeGreaterThan(30);
    expect(unknownNames(text)).toEqual([]);
    expect(unknownLabels(text)).toEqual([]);
  });
}

for (const path of [
  'guides/collector.md',
  'guides/dashboards.md',
  'explanation/exports.md',
  'tutorial/getting-started.md',
  'guides/judge-quality.md',
  'guides/webhooks.md',
]) {
  test(`docs: every metric in docs/${path} is on the metrics page`, () => {
    const text = readFileSync(join(docs, path), 'utf8');
    expect(text).toMatch(/\btracejury_\w+/);
    // A histogram as a whole is not a sample, and prose may speak of it.
    expect(unknownNames(text).filter((name) => !samples.has(`${name}_bucket`))).toEqual([]);
    expect(unknownLabels(text)).toEqual([]);
  });
}

/** Labels that Prometheus gives to every sample of a scraped page. */
const targetLabels = ['instance', 'job'];

/** Labels that a query groups by, or shows in a legend, and that none of its metrics has. */
function strangeGroups({ expr, legend }: { readonly expr: string; readonly legend: string }): readonly string[] {
  const own = new Set([...targetLabels, ...[...expr.matchAll(/\btracejury_\w+/g)].flatMap(([name]) => [...(samples.get(name) ?? [])])]);
  const used = [
    ...[...expr.matchAll(/\b(?:by|ignoring) \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/, */)),
    ...[...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, name = '']) => name),
  ];
  return used.filter((label) => !own.has(label));
}

test('docs: what the dashboard groups by and shows is a label of a metric of the same query', () => {
  expect(shown.flatMap(({ panels }) => panels.flatMap(({ queries }) => queries.flatMap(strangeGroups)))).toEqual([]);
  expect(
    strangeGroups({
      expr: 'sum by (le, tracejury_judge) (rate(tracejury_runs_total[5m]))',
      legend: '{{gen_ai_agent_name}} {{gen_ai_tool_name}}',
    }),
  ).toEqual(['le', 'tracejury_judge', 'gen_ai_tool_name']);
});

test('docs: a metric without its suffix, a label of another metric and an old name are found', () => {
  expect(unknownNames('rate(tracejury_journal_refused[5m]) tracejury_store_queue_total tracejury_store_queue')).toEqual([
    'tracejury_journal_refused',
    'tracejury_store_queue_total',
  ]);
  expect(unknownLabels('tracejury_store_items_total{tracejury_outcome="dropped", tracejury_reason!=""}')).toEqual([
    'tracejury_store_items_total{tracejury_reason}',
  ]);
});

/** Sections of the runbook: name, expression, severity, how long. */
const sections = [
  ...runbook.matchAll(/^## (Tracejury\w+)\n\n {4}(.+)\n\nSeverity `(\w+)`(?:, for (\d+) min)?\. .+\n\n\*\*Remedy\.\*\* .+$/gm),
].map(([, alert = '', expr = '', severity = '', minutes]) => ({
  alert,
  expr,
  severity,
  for: minutes === undefined ? undefined : `${minutes}m`,
}));
const alerts = rules.flatMap(({ alert, ...rule }) => (alert === undefined ? [] : [{ alert, ...rule }]));

test('docs: the runbook has a section for each alert, with its expression, its severity and how long it holds', () => {
  expect(sections.map(({ alert }) => alert)).toEqual(alerts.map(({ alert }) => alert));
  const differing = alerts.filter(({ expr, labels: { severity }, for: lasting }, at) => {
    const section = sections[at];
    // The rules may say besides that a count which appears for the first time is one as well.
    const isSame =
      section !== undefined &&
      (expr === section.expr || expr.startsWith(`${section.expr} or (`) || expr.startsWith(`${section.expr} or sum`));
    return !isSame || section.severity !== severity || section.for !== lasting;
  });
  expect(differing).toEqual([]);
});

test.each(alerts)('docs: $alert has a summary, a description and its part of the runbook', ({ alert, expr, annotations = {} }) => {
  expect(Object.keys(annotations)).toEqual(['summary', 'description', 'runbook_url']);
  const { summary = '', description = '', runbook_url: url = '' } = annotations;
  expect(summary.length).toBeGreaterThan(15);
  expect(description).toMatch(/^[A-Z].{10,}\.$/s);
  const [, page_ = '', anchor = ''] = /^https:\/\/[^#]+\/docs\/([\w/-]+\.md)#(.+)$/.exec(url) ?? [];
  expect(anchor).toBe(alert.toLowerCase());
  expect([...anchorsOf(readFileSync(join(docs, page_), 'utf8'))]).toContain(anchor);
  // A label that its expression does not give is shown as nothing.
  const by = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/, */));
  const own = [...expr.matchAll(/\btracejury_\w+/g)].flatMap(([name]) => [...(samples.get(name) ?? [])]);
  const recorded = expr.includes('tracejury:') ? ['gen_ai_agent_name', 'gen_ai_evaluation_name'] : [];
  const given = by.length > 0 ? by : [...targetLabels, ...own, ...recorded];
  const used = [...summary.matchAll(/\$labels\.(\w+)/g)].map(([, label = '']) => label);
  expect(used.filter((label) => !given.includes(label))).toEqual([]);
});

test('docs: recorded names in the rules are recorded there', () => {
  const recorded = rules.flatMap(({ record }) => (record === undefined ? [] : [record]));
  const used = [...`${page}${rulesText}`.matchAll(/\btracejury:[\w:]+/g)].map(([name]) => name);
  expect(used.length).toBeGreaterThan(recorded.length);
  expect(used.filter((name) => !recorded.includes(name))).toEqual([]);
});

/** Messages of the log in the guide, and where the service writes them. */
test('docs: the log lines in the guide are those that the service writes', () => {
  const sources = [
    'src/service.ts',
    'src/service/core.ts',
    'src/service/parts.ts',
    'src/service/store-parts.ts',
    'src/service/listeners.ts',
    'src/service/exporter-set.ts',
    'src/service/rate-gauges.ts',
    'src/service/reloading.ts',
    'src/journals/journal-metrics.ts',
    'src/receivers/rejection.ts',
    'src/exporters/delivery/outage-log.ts',
    'src/judges/judge-outages.ts',
    'src/pipeline/reporting/content-notices.ts',
  ]
    .map((file) => readFileSync(join(docs, '..', file), 'utf8'))
    .join('\n');
  const told = [...page.matchAll(/^\| [345]0 \| `(.+?)(?: …)?` \|/gm)].map(([, message = '']) => message);
  expect(told.length).toBeGreaterThan(8);
  expect(told.filter((message) => !sources.includes(message))).toEqual([]);
});
