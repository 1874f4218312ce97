/**
 * `npm run check -- dashboard`: every query of docs/reference/grafana-dashboard.json, and every rule of docs/reference/alerts.yaml, before a real Prometheus (`prometheus` must be on the path)
 * that scrapes a service under the traffic of the demonstration. A query must give numbers, and traces where its points lead to some, a rule must be evaluated, and nothing may call for somebody at night. Takes
 * about two minutes, for rates over all traffic are reckoned once a minute. The last line is `N passed, M failed`.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { annotate, runWithLateSpan, world, type World } from './world.ts';

interface Asked {
  readonly name: string;
  readonly expr: string;
  /** Its points lead to traces. */
  readonly exemplar: boolean;
}

interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly targets?: readonly { readonly expr: string; readonly exemplar: boolean }[];
  }[];
  readonly templating: { readonly list: readonly { readonly type: string; readonly definition?: string }[] };
}

interface ApiRule {
  readonly name: string;
  readonly type: string;
  readonly health: string;
  readonly state?: string;
  readonly labels?: { readonly severity?: string };
}

/** Values that Grafana fills in. */
const variables: { readonly [name: string]: string } = { $__rate_interval: '1m', $__range: '10m', $agent: '.*', $evaluator: '.*' };
const annotations = 120;
const seeds = [1, 2, 3];
const withinMs = 240_000;
const everyMs = 3_000;

const dashboard = JSON.parse(readFileSync(join(import.meta.dirname, '../../docs/reference/grafana-dashboard.json'), 'utf8')) as Dashboard;
const ours = await world();
let failed = 0;
let passed = 0;
try {
  const asked = queries();
  for (const seed of seeds) {
    await ours.demo(seed);
    await runWithLateSpan(ours.service, seed);
    if (seed === seeds[0]) await annotate(ours.service, annotations);
    await pause(everyMs);
  }
  const silent = await answered(ours, asked);
  for (const { name, expr } of asked) tell(silent.has(expr) ? `gives nothing: ${expr}` : undefined, name);
  for (const { name, expr } of asked.filter(({ exemplar }) => exemplar))
    tell((await exemplarsOf(ours, expr)) > 0 ? undefined : `leads to no trace: ${expr}`, name);
  for (const { type, definition } of dashboard.templating.list)
    if (type === 'query')
      tell((await valuesOf(ours, definition ?? '')) > 0 ? undefined : `has no values: ${definition ?? ''}`, 'a variable');
  for (const { name, health, state, labels } of await rulesOf(ours))
    tell(health !== 'ok' ? `is ${health}` : state === 'firing' && labels?.severity === 'page' ? 'fires' : undefined, name);
} finally {
  await ours.close();
}
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;

function queries(): readonly Asked[] {
  return dashboard.panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr, exemplar }) => ({
      name: title,
      exemplar,
      expr: Object.entries(variables).reduce((text, [name, value]) => text.replaceAll(name, value), expr),
    })),
  );
}

function tell(fault: string | undefined, name: string): void {
  if (fault === undefined) passed++;
  else failed++;
  if (fault !== undefined) process.stdout.write(`FAILED  ${name} ${fault}\n`);
}

/** Asks until all have given numbers or the time is over; gives those that have not. */
async function answered(to: World, asked: readonly Asked[]): Promise<ReadonlySet<string>> {
  const silent = new Set(asked.map(({ expr }) => expr));
  for (const endMs = performance.now() + withinMs; silent.size > 0 && performance.now() < endMs; await pause(everyMs)) {
    for (const expr of silent) if ((await numbersOf(to, expr)) > 0) silent.delete(expr);
  }
  return silent;
}

async function numbersOf(to: World, expr: string): Promise<number> {
  const { result } = (await read(to, `query?${new URLSearchParams({ query: expr }).toString()}`)) as {
    readonly result: readonly { readonly value: readonly [number, string] }[];
  };
  return result.filter(({ value }) => value[1] !== 'NaN').length;
}

/** The number of points with a trace. */
async function exemplarsOf(to: World, query: string): Promise<number> {
  const [start, end] = [Date.now() / 1_000 - 600, Date.now() / 1_000].map(String);
  const series = (await read(
    to,
    `query_exemplars?${new URLSearchParams({ query, start: start ?? '', end: end ?? '' }).toString()}`,
  )) as readonly { readonly exemplars: readonly { readonly labels: { readonly trace_id?: string } }[] }[];
  return series.flatMap(({ exemplars }) => exemplars).filter(({ labels }) => labels.trace_id !== undefined).length;
}

/** `label_values(metric, label)` */
async function valuesOf(to: World, definition: string): Promise<number> {
  const [, metric = '', label = ''] = /^label_values\((\w+), (\w+)\)$/.exec(definition) ?? [];
  const values = (await read(to, `label/${label}/values?${new URLSearchParams({ 'match[]': metric }).toString()}`)) as readonly string[];
  return values.filter((value) => value !== '').length;
}

async function rulesOf(to: World): Promise<readonly ApiRule[]> {
  const { groups } = (await read(to, 'rules')) as { readonly groups: readonly { readonly rules: readonly ApiRule[] }[] };
  return groups.flatMap(({ rules }) => rules);
}

async function read({ prometheus }: World, path: string): Promise<unknown> {
  const answer = await fetch(`${prometheus}/api/v1/${path}`);
  const { data, error } = (await answer.json()) as { readonly data?: unknown; readonly error?: string };
  if (!answer.ok) throw new Error(`Prometheus refuses ${path}: ${error ?? answer.status}`);
  return data;
}
