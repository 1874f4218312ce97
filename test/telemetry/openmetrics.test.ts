import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openMetricsPieces } from '../../src/telemetry/openmetrics.ts';
import { metricRegistry, type MetricRegistry } from '../../src/telemetry/registry.ts';
import { wholePage } from './whole-page.ts';

/** So many agents, each with a counter, a gauge and a histogram. */
function counted(agents: number): MetricRegistry {
  const registry = metricRegistry({ labelSetsMax: agents });
  for (let at = 0; at < agents; at++) count(registry, `agent-${at}`);
  return registry;
}

function count(registry: MetricRegistry, agent: string): void {
  registry.add('tracejury.runs', 1, { 'gen_ai.agent.name': agent, 'tracejury.completeness': 'complete' });
  registry.set('tracejury.convergence', 0.5, { 'gen_ai.agent.name': agent });
  registry.record('tracejury.run.duration', 3, { 'gen_ai.agent.name': agent }, { trace_id: 'a'.repeat(32), span_id: 'b'.repeat(16) });
}

const page = [
  '# TYPE tracejury_runs counter',
  '# HELP tracejury_runs Runs.',
  'tracejury_runs_total{gen_ai_agent_name="a",tracejury_target_service_name="say \\"b\\"\\n"} 3',
  'tracejury_runs_total{tracejury_target_service_name="c\\\\"} 4',
  '# TYPE tracejury_time_seconds histogram',
  '# UNIT tracejury_time_seconds seconds',
  '# HELP tracejury_time_seconds Time.',
  'tracejury_time_seconds_bucket{gen_ai_agent_name="a",le="0.5"} 1 # {trace_id="0f"} 0.25 1700000000.123',
  'tracejury_time_seconds_bucket{gen_ai_agent_name="a",le="2.0"} 1',
  'tracejury_time_seconds_bucket{gen_ai_agent_name="a",le="+Inf"} 3',
  'tracejury_time_seconds_count{gen_ai_agent_name="a"} 3',
  'tracejury_time_seconds_sum{gen_ai_agent_name="a"} 9.5',
  'tracejury_time_seconds_bucket{le="0.5"} 0',
  'tracejury_time_seconds_bucket{le="2.0"} 0',
  'tracejury_time_seconds_bucket{le="+Inf"} 0',
  'tracejury_time_seconds_count 0',
  'tracejury_time_seconds_sum 0',
  '# EOF',
];

test('openmetrics: the page, to the letter', () => {
  const [agent, service] = ['gen_ai.agent.name', 'tracejury.target.service.name'];
  const families = [
    {
      name: 'tracejury.runs',
      row: { kind: 'counter', unit: '{run}', labels: [agent, service], meaning: 'Runs.' },
      points: [
        { kind: 'number', labels: { [agent]: 'a', [service]: 'say "b"\n' }, value: 3 },
        { kind: 'number', labels: { [agent]: '', [service]: 'c\\' }, value: 4 },
      ],
    },
    {
      name: 'tracejury.time',
      row: { kind: 'histogram', unit: 's', labels: [agent], meaning: 'Time.', buckets: [0.5, 2] },
      points: [
        {
          kind: 'histogram',
          labels: { [agent]: 'a' },
          counts: [1, 0, 2],
          sum: 9.5,
          exemplars: [{ labels: { trace_id: '0f' }, value: 0.25, atMs: 1_700_000_000_123 }],
        },
        { kind: 'histogram', labels: { [agent]: '' }, counts: [0, 0, 0], sum: 0, exemplars: [] },
      ],
    },
  ] as const;
  expect(wholePage(families)).toBe(page.map((line) => `${line}\n`).join(''));
});

test('openmetrics: cut anywhere, the pieces are the page', () => {
  const families = counted(20).snapshot();
  const whole = [...openMetricsPieces(families, Infinity)];
  expect(whole).toHaveLength(1);
  fc.assert(
    fc.property(fc.integer({ min: 0, max: whole[0]?.length ?? 0 }), (charsMax) => {
      expect([...openMetricsPieces(families, charsMax)].join('')).toBe(whole[0]);
    }),
  );
});

test('openmetrics: of very many series no piece holds more than a bounded part, and none cuts a line', () => {
  const pieces = [...openMetricsPieces(counted(3_000).snapshot())];
  expect(pieces.length).toBeGreaterThan(10);
  // The last point of a piece may reach beyond its end, and the heads of metrics that have not counted are in none's way.
  expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThan(1.25 * 256 * 1024);
  expect(pieces.filter((piece) => !piece.endsWith('\n'))).toEqual([]);
});

test('openmetrics: what is counted while the page is under way does not show on it', () => {
  const registry = counted(20);
  const before = wholePage(registry.snapshot());
  const under = openMetricsPieces(registry.snapshot(), 1);
  const pieces: string[] = [];
  for (let step = under.next(); step.done !== true; step = under.next()) {
    pieces.push(step.value);
    count(registry, `agent-${pieces.length % 25}`);
    registry.replace('tracejury.convergence', []);
  }
  expect(pieces.join('')).toBe(before);
  expect(wholePage(registry.snapshot())).not.toBe(before);
});

test('openmetrics: two pages under way do not disturb each other', () => {
  const registry = counted(5);
  const [early, late] = [openMetricsPieces(registry.snapshot(), 1), openMetricsPieces(registry.snapshot(), 500)];
  const text = wholePage(registry.snapshot());
  const pieces = { early: '', late: '' };
  for (let at = 0; at < text.length; at++) {
    pieces.early += early.next().value ?? '';
    pieces.late += late.next().value ?? '';
  }
  expect(pieces).toEqual({ early: text, late: text });
});

const exemplars = [
  { name: 'of 128 characters is reported', labels: { trace_id: 'a'.repeat(120) }, isResultReported: true },
  { name: 'of 129 characters is left out', labels: { trace_id: 'a'.repeat(121) }, isResultReported: false },
  { name: 'of 128 characters in two halves each is reported', labels: { trace_id: '\u{1F600}'.repeat(120) }, isResultReported: true },
  { name: 'of 129 of them is left out', labels: { trace_id: '\u{1F600}'.repeat(121) }, isResultReported: false },
];
for (const { name, labels, isResultReported } of exemplars) {
  test(`openmetrics: an exemplar ${name}`, () => {
    const registry = metricRegistry();
    registry.record('tracejury.run.duration', 3, {}, labels);
    expect(wholePage(registry.snapshot()).includes(labels.trace_id)).toBe(isResultReported);
  });
}
