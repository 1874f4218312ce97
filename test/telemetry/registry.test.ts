import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { manualClock } from '../../src/model/clock.ts';
import { type MetricName, metricRows } from '../../src/telemetry/metrics.ts';
import { metricRegistry, type MetricRegistry } from '../../src/telemetry/registry.ts';
import { anyCharacter } from '../builders/any-character.ts';
import { type Family, parseOpenMetrics, type Sample } from './openmetrics-parser.ts';
import { wholePage } from './whole-page.ts';

function page(registry: MetricRegistry): ReadonlyMap<string, Family> {
  return parseOpenMetrics(wholePage(registry.snapshot()));
}

function samplesOf(registry: MetricRegistry, family: string): readonly Sample[] {
  return page(registry).get(family)?.samples ?? [];
}

test('registry: every metric of the table is on the page, in its order, with its meaning', () => {
  const families = [...page(metricRegistry()).values()];
  expect(families.map(({ help }) => help)).toEqual(Object.values(metricRows).map(({ meaning }) => meaning));
  expect(families.map(({ type }) => type)).toEqual(Object.values(metricRows).map(({ kind }) => kind));
});

const names = [
  { metric: 'tracejury.evaluation.score', family: 'tracejury_evaluation_score', unit: '' },
  { metric: 'tracejury.evaluation.duration', family: 'tracejury_evaluation_duration_seconds', unit: 'seconds' },
  { metric: 'tracejury.open.bytes', family: 'tracejury_open_bytes', unit: 'bytes' },
  { metric: 'tracejury.receiver.in_flight', family: 'tracejury_receiver_in_flight_bytes', unit: 'bytes' },
  { metric: 'tracejury.runs', family: 'tracejury_runs', unit: '' },
] as const satisfies readonly { metric: MetricName; family: string; unit: string }[];
for (const { metric, family, unit } of names) {
  test(`registry: ${metric} is ${family} on the page`, () => {
    expect(page(metricRegistry()).get(family)).toMatchObject({ unit, help: metricRows[metric]?.meaning });
  });
}

test('registry: a counter without labels starts at zero, one with labels with no sample', () => {
  const registry = metricRegistry();
  expect(samplesOf(registry, 'tracejury_spans_own')).toMatchObject([{ name: 'tracejury_spans_own_total', value: 0 }]);
  expect(samplesOf(registry, 'tracejury_runs')).toEqual([]);
});

test('registry: counters add up by label set, gauges are set, empty labels are left out', () => {
  const registry = metricRegistry();
  registry.add('tracejury.runs', 1, { 'gen_ai.agent.name': 'a', 'tracejury.completeness': 'complete' });
  registry.add('tracejury.runs', 2, { 'tracejury.completeness': 'complete', 'gen_ai.agent.name': 'a' });
  registry.add('tracejury.runs', 5, { 'gen_ai.agent.name': 'b' });
  registry.set('tracejury.open.traces', 7);
  registry.set('tracejury.open.traces', 3);
  expect(samplesOf(registry, 'tracejury_runs')).toMatchObject([
    { labels: { gen_ai_agent_name: 'a', tracejury_completeness: 'complete' }, value: 3 },
    { labels: { gen_ai_agent_name: 'b' }, value: 5 },
  ]);
  expect(samplesOf(registry, 'tracejury_open_traces')).toMatchObject([{ labels: {}, value: 3 }]);
});

test('registry: a metric takes only values of its kind', () => {
  const registry = metricRegistry();
  const empty = wholePage(registry.snapshot());
  registry.add('tracejury.evaluation.score', 1, { 'gen_ai.evaluation.name': 'e' });
  registry.set('tracejury.runs', 1, { 'gen_ai.agent.name': 'a' });
  registry.record('tracejury.runs', 1, { 'gen_ai.agent.name': 'a' });
  registry.add('tracejury.runs', -1, { 'gen_ai.agent.name': 'a' });
  registry.replace('tracejury.runs', [{ labels: { 'gen_ai.agent.name': 'a' }, value: 1 }]);
  expect(wholePage(registry.snapshot())).toBe(empty);
});

test('registry: a value on an edge belongs below it; buckets are cumulative and keep their exemplar', () => {
  const registry = metricRegistry();
  for (const score of [0, 0.5, 0.5, 0.99, 1]) registry.record('tracejury.evaluation.score', score, { 'gen_ai.evaluation.name': 'e' });
  registry.record(
    'tracejury.evaluation.score',
    0.05,
    { 'gen_ai.evaluation.name': 'e' },
    { trace_id: 'a'.repeat(32), span_id: 'b'.repeat(16) },
  );
  const samples = samplesOf(registry, 'tracejury_evaluation_score');
  const at = (le: string) => samples.find(({ labels }) => labels['le'] === le);
  expect(['0.0', '0.1', '0.4', '0.5', '0.9', '0.99', '1.0', '+Inf'].map((le) => at(le)?.value)).toEqual([1, 2, 2, 4, 4, 5, 6, 6]);
  expect(at('0.1')?.exemplar).toEqual({ labels: { trace_id: 'a'.repeat(32), span_id: 'b'.repeat(16) }, value: 0.05 });
  expect(at('0.0')?.exemplar).toBeUndefined();
  expect(samples.find(({ name }) => name.endsWith('_sum'))?.value).toBeCloseTo(3.04);
});

test('registry: an exemplar longer than the format allows is left out, its value counts', () => {
  const registry = metricRegistry();
  registry.record('tracejury.evaluation.score', 1, { 'gen_ai.evaluation.name': 'e' }, { trace_id: 'a'.repeat(200) });
  const samples = samplesOf(registry, 'tracejury_evaluation_score');
  expect(samples.every(({ exemplar }) => exemplar === undefined)).toBe(true);
  expect(samples.find(({ name }) => name.endsWith('_count'))?.value).toBe(1);
});

test('registry: label sets beyond the bound fold what is foreign in them into other, which is counted by metric', () => {
  const registry = metricRegistry({ labelSetsMax: 2 });
  for (const agent of ['a', 'b', 'c', 'd', 'a']) registry.add('tracejury.runs', 1, { 'gen_ai.agent.name': agent });
  const folded = { gen_ai_agent_name: 'other', tracejury_target_service_name: 'other' };
  expect(samplesOf(registry, 'tracejury_runs').map(({ labels, value }) => ({ labels, value }))).toEqual([
    { labels: { gen_ai_agent_name: 'a' }, value: 2 },
    { labels: { gen_ai_agent_name: 'b' }, value: 1 },
    { labels: folded, value: 2 },
  ]);
  expect(samplesOf(registry, 'tracejury_metrics_folded')).toMatchObject([{ labels: { tracejury_metric: 'tracejury.runs' }, value: 2 }]);
});

test('registry: agents beyond the bound are counted together by what the other labels say, and those are bounded as well', () => {
  const registry = metricRegistry({ labelSetsMax: 3 });
  const attempt = (agent: string, evaluator: string) =>
    registry.add('tracejury.evaluability', 1, { 'gen_ai.agent.name': agent, 'gen_ai.evaluation.name': evaluator });
  for (let at = 0; at < 20; at++) attempt(`agent-${at}`, `e-${at % 2}`);
  for (let at = 2; at < 20; at++) attempt('late', `e-${at}`);
  const samples = samplesOf(registry, 'tracejury_evaluability');
  const of = (agent: string, evaluator: string) =>
    samples.find(({ labels }) => labels['gen_ai_agent_name'] === agent && labels['gen_ai_evaluation_name'] === evaluator)?.value;
  expect([of('agent-0', 'e-0'), of('other', 'e-0'), of('other', 'e-1'), of('other', 'e-2'), of('other', 'other')]).toEqual([
    1, 8, 9, 1, 17,
  ]);
  expect(samples).toHaveLength(3 * 2 + 1);
});

test('registry: even the count of folded sets is bounded', () => {
  const registry = metricRegistry({ labelSetsMax: 1 });
  for (const metric of ['tracejury.runs', 'tracejury.decisions', 'tracejury.exporter.items'] as const) {
    for (const value of ['a', 'b']) registry.add(metric, 1, { [metricRows[metric]?.labels[0] ?? '']: value });
  }
  expect(samplesOf(registry, 'tracejury_metrics_folded').map(({ value }) => value)).toEqual([1, 2]);
});

const refused: readonly { readonly name: string; readonly act: (registry: MetricRegistry) => void }[] = [
  { name: 'a counter does not go down', act: (registry) => registry.add('tracejury.spans.own', -1) },
  { name: 'a value that is not a number is not added', act: (registry) => registry.add('tracejury.spans.own', Number.NaN) },
  { name: 'a counter cannot be set', act: (registry) => registry.set('tracejury.spans.own', 9) },
  { name: 'infinity is not recorded', act: (registry) => registry.record('tracejury.evaluation.score', Infinity) },
  {
    name: 'labels that the table does not list are not taken',
    act: (registry) => registry.add('tracejury.spans.own', 0, { trace_id: 'x' }),
  },
];
for (const { name, act } of refused) {
  test(`registry: ${name}`, () => {
    const registry = metricRegistry();
    act(registry);
    expect(wholePage(registry.snapshot())).toBe(wholePage(metricRegistry().snapshot()));
  });
}

test('registry: long label values are cut to the limit', () => {
  const registry = metricRegistry({ labelCharsMax: 10 });
  registry.add('tracejury.runs', 1, { 'gen_ai.agent.name': 'x'.repeat(1000) });
  expect(samplesOf(registry, 'tracejury_runs')[0]?.labels['gen_ai_agent_name']).toBe(`${'x'.repeat(9)}…`);
});

test('openmetrics: any label value comes back from the page as it went in', () => {
  const hostile = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.string(),
    fc.constantFrom('a"b', 'a\\nb', 'a\nb', '"} 1\n# EOF\n', '\\', '__proto__', '\u2028', '\r', '{a="b"}'),
  );
  fc.assert(
    fc.property(fc.uniqueArray(hostile, { minLength: 1, maxLength: 5 }), (agents) => {
      const registry = metricRegistry();
      for (const agent of agents) registry.add('tracejury.runs', 1, { 'gen_ai.agent.name': agent });
      const back = samplesOf(registry, 'tracejury_runs').map(({ labels }) => labels['gen_ai_agent_name'] ?? '');
      expect(back).toEqual([...new Set(agents.map((agent) => agent.toWellFormed()))]);
    }),
  );
});

test('registry: all values of a gauge may be replaced at once, those of counters never', () => {
  const registry = metricRegistry();
  const points = (name: string): readonly unknown[] =>
    (registry.snapshot().find((family) => family.name === name)?.points ?? []).map((point) =>
      point.kind === 'number' ? [point.labels, point.value] : [],
    );
  registry.set('tracejury.exporter.queue', 1, { 'tracejury.exporter': 'gone' });
  registry.replace('tracejury.exporter.queue', [{ labels: { 'tracejury.exporter': 'a' }, value: 2 }]);
  expect(points('tracejury.exporter.queue')).toEqual([[{ 'tracejury.exporter': 'a' }, 2]]);
  registry.add('tracejury.exporter.items', 1, { 'tracejury.exporter': 'a', 'tracejury.outcome': 'sent' });
  registry.replace('tracejury.exporter.items', []);
  expect(points('tracejury.exporter.items')).toHaveLength(1);
});

test('registry: an exemplar has its time, where there is a clock', () => {
  const registry = metricRegistry({ clock: manualClock(1_700_000_000_123) });
  registry.record(
    'tracejury.evaluation.score',
    0,
    { 'gen_ai.evaluation.name': 'e' },
    { trace_id: 'a'.repeat(32), span_id: 'b'.repeat(16) },
  );
  const [exemplar] = samplesOf(registry, 'tracejury_evaluation_score').flatMap((sample) => sample.exemplar ?? []);
  expect(exemplar).toEqual({ labels: { trace_id: 'a'.repeat(32), span_id: 'b'.repeat(16) }, value: 0, seconds: 1_700_000_000.123 });
});

test('registry: tools beyond the bound are counted together, and the outcomes of their calls still count', () => {
  const registry = metricRegistry({ labelSetsMax: 2 });
  for (let at = 0; at < 9; at++)
    registry.add('tracejury.agent.tool_calls', 1, {
      'gen_ai.agent.name': 'a',
      'gen_ai.tool.name': `t${at}`,
      'tracejury.outcome': at % 2 === 0 ? 'returned' : 'failed',
    });
  expect(
    samplesOf(registry, 'tracejury_agent_tool_calls')
      .slice(2)
      .map(({ labels, value }) => [labels['gen_ai_tool_name'], labels['tracejury_outcome'], value]),
  ).toEqual([
    ['other', 'returned', 4],
    ['other', 'failed', 3],
  ]);
});

describe('registry: names of agents', () => {
  const targets = (at: number) => ({
    'gen_ai.agent.name': `agent-${at}`,
    'gen_ai.evaluation.name': `e-${at % 5}`,
    'tracejury.target.service.name': `service-${at % 3}`,
  });

  test('registry: six thousand agents make a page of a few megabytes, and all that they did is counted', () => {
    const registry = metricRegistry();
    for (let at = 0; at < 6_000; at++) {
      registry.record('tracejury.evaluation.score', 1, targets(at));
      registry.record('tracejury.run.duration', 1, targets(at));
      registry.record('tracejury.agent.tool_call.duration', 1, { ...targets(at), 'gen_ai.tool.name': `tool-${at % 7}` });
      registry.add('tracejury.runs', 1, targets(at));
    }
    expect(wholePage(registry.snapshot()).length).toBeLessThan(4 * 1024 * 1024);
    const runs = samplesOf(registry, 'tracejury_runs');
    expect(runs.reduce((sum, { value }) => sum + value, 0)).toBe(6_000);
    const agents = new Set(runs.map(({ labels }) => labels['gen_ai_agent_name']));
    expect([agents.size, agents.has('agent-0'), agents.has('agent-5999'), agents.has('other')]).toEqual([201, true, false, true]);
    expect(
      samplesOf(registry, 'tracejury_metrics_folded').find(({ labels }) => labels['tracejury_metric'] === 'tracejury.runs')?.value,
    ).toBe(5_800);
  });

  test('registry: an agent that has label sets keeps them in every metric, and each tenant has as many', () => {
    const registry = metricRegistry({ agentsMax: 2 });
    for (const agent of ['a', 'b', 'c']) registry.add('tracejury.runs', 1, { 'gen_ai.agent.name': agent });
    for (const agent of ['c', 'b', 'a'])
      registry.add('tracejury.agent.tokens', 1, { 'gen_ai.agent.name': agent, 'gen_ai.token.type': 'input' });
    for (const tenant of ['one', 'two'])
      for (const agent of ['c', 'd', 'e'])
        registry.set('tracejury.convergence', 1, { 'tracejury.tenant': tenant, 'gen_ai.agent.name': agent });
    expect(samplesOf(registry, 'tracejury_agent_tokens').map(({ labels }) => labels['gen_ai_agent_name'])).toEqual(['other', 'b', 'a']);
    expect(
      samplesOf(registry, 'tracejury_convergence_ratio').map(
        ({ labels }) => `${labels['tracejury_tenant']} ${labels['gen_ai_agent_name']}`,
      ),
    ).toEqual(['one c', 'one d', 'one other', 'two c', 'two d', 'two other']);
  });

  test('registry: versions of an agent beyond the bound count as other, each agent has the same bound, and the number is known', () => {
    const registry = metricRegistry({ versionsMax: 2 });
    for (const agent of ['a', 'b'])
      for (const version of ['1', '2', '3', '4'])
        registry.add('tracejury.runs', 1, { 'gen_ai.agent.name': agent, 'tracejury.target.service.version': version });
    expect(
      samplesOf(registry, 'tracejury_runs').map(
        ({ labels, value }) => `${labels['gen_ai_agent_name']} ${labels['tracejury_target_service_version']} ${value}`,
      ),
    ).toEqual(['a 1 1', 'a 2 1', 'a other 2', 'b 1 1', 'b 2 1', 'b other 2']);
    expect(samplesOf(registry, 'tracejury_metrics_folded')).toMatchObject([{ labels: { tracejury_metric: 'tracejury.runs' }, value: 4 }]);
  });

  test('registry: with a bound of 0 versions the label is left out, and nothing is folded', () => {
    const registry = metricRegistry({ versionsMax: 0 });
    for (const version of ['1', '2']) registry.add('tracejury.runs', 1, { 'tracejury.target.service.version': version });
    expect(samplesOf(registry, 'tracejury_runs')).toMatchObject([{ labels: {}, value: 2 }]);
    expect(samplesOf(registry, 'tracejury_metrics_folded')).toEqual([]);
  });

  test('registry: a metric without room for another version keeps its agents, and folds the version first', () => {
    const registry = metricRegistry({ labelSetsMax: 4, versionsMax: 2 });
    const add = (agent: string, version: string): void =>
      registry.add('tracejury.runs', 1, { 'gen_ai.agent.name': agent, 'tracejury.target.service.version': version });
    for (const version of ['1', '2', '3']) add('a', version);
    add('b', '1');
    add('a', '4');
    add('a', '5');
    expect(
      samplesOf(registry, 'tracejury_runs').map(
        ({ labels, value }) => `${labels['gen_ai_agent_name']} ${labels['tracejury_target_service_version']} ${value}`,
      ),
    ).toEqual(['a 1 1', 'a 2 1', 'a other 3', 'b 1 1']);
  });
});

test('registry: label sets of one tenant leave another one an equal share', () => {
  const registry = metricRegistry({ labelSetsMax: 10 });
  const add = (of: string, agent: string): void =>
    registry.add('tracejury.runs', 1, { 'tracejury.tenant': of, 'gen_ai.agent.name': agent });
  for (let at = 0; at < 50; at++) add('flood', `junk ${at}`);
  for (let at = 0; at < 50; at++) add('victim', `shop ${at}`);
  const own = samplesOf(registry, 'tracejury_runs').filter(({ labels }) => labels['tracejury_tenant'] === 'victim');
  expect(own.slice(0, 5).map(({ labels, value }) => [labels['gen_ai_agent_name'], value])).toEqual(
    [0, 1, 2, 3, 4].map((at) => [`shop ${at}`, 1]),
  );
  expect(own.reduce((sum, { value }) => sum + value, 0)).toBe(50);
});
