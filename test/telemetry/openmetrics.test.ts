import { expect, test } from 'vitest';
import { openMetricsText } from '../../src/telemetry/openmetrics.ts';
import { metricRegistry } from '../../src/telemetry/registry.ts';

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
      points: [{ kind: 'number', labels: { [agent]: 'a', [service]: 'say "b"\n' }, value: 3 }, { kind: 'number', labels: { [agent]: '', [service]: 'c\\' }, value: 4 }],
    },
    {
      name: 'tracejury.time',
      row: { kind: 'histogram', unit: 's', labels: [agent], meaning: 'Time.', buckets: [0.5, 2] },
      points: [
        { kind: 'histogram', labels: { [agent]: 'a' }, counts: [1, 0, 2], sum: 9.5, exemplars: [{ labels: { trace_id: '0f' }, value: 0.25, atMs: 1_700_000_000_123 }] },
        { kind: 'histogram', labels: { [agent]: '' }, counts: [0, 0, 0], sum: 0, exemplars: [] },
      ],
    },
  ] as const;
  expect(openMetricsText(families)).toBe(page.map((line) => `${line}\n`).join(''));
});

const exemplars = [
  { name: 'of 128 characters is told', labels: { trace_id: 'a'.repeat(120) }, isTold: true },
  { name: 'of 129 characters is left out', labels: { trace_id: 'a'.repeat(121) }, isTold: false },
  { name: 'of 128 characters in two halves each is told', labels: { trace_id: '\u{1F600}'.repeat(120) }, isTold: true },
  { name: 'of 129 of them is left out', labels: { trace_id: '\u{1F600}'.repeat(121) }, isTold: false },
];
for (const { name, labels, isTold } of exemplars) {
  test(`openmetrics: an exemplar ${name}`, () => {
    const registry = metricRegistry();
    registry.record('tracejury.run.duration', 3, {}, labels);
    expect(openMetricsText(registry.snapshot()).includes(labels.trace_id)).toBe(isTold);
  });
}
