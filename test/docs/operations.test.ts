/** The guide for operators, the alert rules and the dashboard name only what the service tells: metrics with their suffixes, labels, log lines, exporters' words. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { metricRows } from '../../src/telemetry/metrics.ts';
import type { MetricFamily } from '../../src/telemetry/registry.ts';
import { rows as shown } from './grafana/panels.ts';
import { wholePage } from '../telemetry/whole-page.ts';

interface Rule {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string;
  readonly for?: string;
}

const docs = join(import.meta.dirname, '../../docs');
const page = readFileSync(join(docs, 'operations.md'), 'utf8');
const rulesText = readFileSync(join(docs, 'alerts.yaml'), 'utf8');
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
  return { name, row, points: [row.kind === 'histogram' ? { kind: 'histogram', labels: own, counts, sum: 1, exemplars: [] } : { kind: 'number', labels: own, value: 1 }] };
}

/** What looks like a name of ours and is neither a sample nor a label. */
function unknownNames(text: string): readonly string[] {
  return [...text.matchAll(/\b(?:tracejury|gen_ai)_\w+/g)].map(([name]) => name).filter((name) => !samples.has(name) && !labels.has(name));
}

/** Labels of selectors that their metric does not have. */
function unknownLabels(text: string): readonly string[] {
  return [...text.matchAll(/\b(tracejury_\w+)\{([^}]*)\}/g)].flatMap(([, name = '', inside = '']) =>
    [...inside.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].flatMap(([, label = '']) => (samples.get(name)?.has(label) === true ? [] : [`${name}{${label}}`])),
  );
}

const texts = { 'docs/operations.md': page, 'docs/alerts.yaml': rulesText, 'docs/grafana-dashboard.json': readFileSync(join(docs, 'grafana-dashboard.json'), 'utf8') };
for (const [path, text] of Object.entries(texts)) {
  test(`docs: every metric and label in ${path} is on the metrics page`, () => {
    expect([...text.matchAll(/\btracejury_\w+/g)].length).toBeGreaterThan(30);
    expect(unknownNames(text)).toEqual([]);
    expect(unknownLabels(text)).toEqual([]);
  });
}

for (const path of ['collector.md', 'dashboards.md', 'exports.md', 'getting-started.md', 'judging.md', 'webhooks.md']) {
  test(`docs: every metric in docs/${path} is on the metrics page`, () => {
    const text = readFileSync(join(docs, path), 'utf8');
    expect(text).toMatch(/\btracejury_\w+/);
    // A histogram as a whole is no sample, and prose may speak of it.
    expect(unknownNames(text).filter((name) => !samples.has(`${name}_bucket`))).toEqual([]);
    expect(unknownLabels(text)).toEqual([]);
  });
}

/** What a query groups by, or shows in a legend, and none of its metrics has. */
function strangeGroups({ expr, legend }: { readonly expr: string; readonly legend: string }): readonly string[] {
  const own = new Set([...expr.matchAll(/\btracejury_\w+/g)].flatMap(([name]) => [...(samples.get(name) ?? [])]));
  const used = [...[...expr.matchAll(/\b(?:by|ignoring) \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/, */)), ...[...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, name = '']) => name)];
  return used.filter((label) => !own.has(label));
}

test('docs: what the dashboard groups by and shows is a label of a metric of the same query', () => {
  expect(shown.flatMap(({ panels }) => panels.flatMap(({ queries }) => queries.flatMap(strangeGroups)))).toEqual([]);
  expect(strangeGroups({ expr: 'sum by (le, tracejury_judge) (rate(tracejury_runs_total[5m]))', legend: '{{gen_ai_agent_name}} {{gen_ai_tool_name}}' })).toEqual(['le', 'tracejury_judge', 'gen_ai_tool_name']);
});

test('docs: a metric without its suffix, a label of another metric and an old name are found', () => {
  expect(unknownNames('rate(tracejury_journal_refused[5m]) tracejury_store_queue_total tracejury_store_queue')).toEqual(['tracejury_journal_refused', 'tracejury_store_queue_total']);
  expect(unknownLabels('tracejury_store_items_total{tracejury_outcome="dropped", tracejury_reason!=""}')).toEqual(['tracejury_store_items_total{tracejury_reason}']);
});

/** Rows of the table of alerts: name, expression, how long. In a cell a bar is written with a backslash. */
const rows = [...page.matchAll(/^\| (Tracejury\w+) \| `(.+?)`(?: for (\d+) min)? \|/gm)].map(([, alert = '', expr = '', minutes]) => ({ alert, expr: expr.replaceAll('\\|', '|'), for: minutes === undefined ? undefined : `${minutes}m` }));

test('docs: the guide tells each alert of the rules, with its expression and how long it holds', () => {
  const alerts = rules.flatMap(({ alert, expr, for: lasting }) => (alert === undefined ? [] : [{ alert, expr, for: lasting }]));
  expect(rows.map(({ alert }) => alert)).toEqual(alerts.map(({ alert }) => alert));
  const differing = alerts.filter(({ expr, for: lasting }, at) => {
    const row = rows[at];
    // The rules may say besides that a count which appears for the first time is one as well.
    const isSame = row !== undefined && (expr === row.expr || expr.startsWith(`${row.expr} or (`) || expr.startsWith(`${row.expr} or sum`));
    return !isSame || row.for !== lasting;
  });
  expect(differing).toEqual([]);
});

test('docs: recorded names in the rules are recorded there', () => {
  const recorded = rules.flatMap(({ record }) => (record === undefined ? [] : [record]));
  const used = [...`${page}${rulesText}`.matchAll(/\btracejury:[\w:]+/g)].map(([name]) => name);
  expect(used.length).toBeGreaterThan(recorded.length);
  expect(used.filter((name) => !recorded.includes(name))).toEqual([]);
});

/** Messages of the log in the guide, and where the service writes them. */
test('docs: the log lines in the guide are those that the service writes', () => {
  const sources = ['service.ts', 'serving/outboxes.ts', 'serving/reloading.ts', 'journals/account.ts', 'receivers/refusal-log.ts', 'exporters/backend-news.ts', 'pipeline/content-notices.ts'].map((file) => readFileSync(join(docs, '../src', file), 'utf8')).join('\n');
  const told = [...page.matchAll(/^\| [345]0 \| `(.+?)(?: …)?` \|/gm)].map(([, message = '']) => message);
  expect(told.length).toBeGreaterThan(8);
  expect(told.filter((message) => !sources.includes(message))).toEqual([]);
});
