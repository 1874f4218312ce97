import { expect, test } from 'vitest';
import { errorType } from '../../../src/model/verdict.ts';
import { exporters } from '../../../src/exporters/index.ts';
import type { RunDecision } from '../../../src/model/scored-run.ts';
import { tenantLabelsMax } from '../../../src/exporters/metrics/metrics.ts';
import { tenant } from '../../../src/model/ids.ts';
import { metricRegistry, type MetricRegistry } from '../../../src/telemetry/registry.ts';
import { agentTrace } from '../../builders/agent-trace.ts';
import { failed, run, scored, scoredRun, skipped } from '../../builders/scored-run.ts';

function bench() {
  const telemetry = metricRegistry();
  return { telemetry, exporter: exporters.metrics({}, { telemetry }) };
}

/** Points of a metric: their labels that are not empty, and the value or the count. */
function points(telemetry: MetricRegistry, name: string) {
  return (telemetry.snapshot().find((family) => family.name === name)?.points ?? []).map((point) => ({
    ...Object.fromEntries(Object.entries(point.labels).filter(([, value]) => value !== '')),
    value: point.kind === 'number' ? point.value : point.counts.reduce((sum, count) => sum + count, 0),
  }));
}

const agent = { 'gen_ai.agent.name': 'travel-agent', 'tracejury.target.service.name': 'travel' };
const decision = (name: string, members: Partial<RunDecision> = {}): RunDecision => ({
  name,
  evaluator: name,
  evaluatorKind: 'rule',
  decision: 'scored',
  ...members,
});

test('metrics: a first revision counts the run, its verdicts, scores and decisions', async () => {
  const { telemetry, exporter } = bench();
  const item = scoredRun({
    good: scored(1),
    bad: scored(0),
    raw: scored(0.3, { passed: null, label: '' }),
    none: skipped,
    broken: failed(),
  });
  expect(
    await exporter.send({ ...item, decisions: [decision('good'), decision('none', { decision: 'skipped', reason: 'no_tool_calls' })] }),
  ).toEqual({ kind: 'sent' });
  expect(points(telemetry, 'tracejury.runs')).toEqual([
    { ...agent, 'tracejury.completeness': 'complete', 'tracejury.run.status': 'ok', value: 1 },
  ]);
  const target = { ...agent, 'tracejury.evaluator.kind': 'rule', value: 1 };
  expect(points(telemetry, 'tracejury.evaluation.results')).toEqual([
    { ...target, 'gen_ai.evaluation.name': 'good', 'gen_ai.evaluation.score.label': 'pass' },
    { ...target, 'gen_ai.evaluation.name': 'bad', 'gen_ai.evaluation.score.label': 'fail' },
    { ...target, 'gen_ai.evaluation.name': 'raw' },
    { ...target, 'gen_ai.evaluation.name': 'none', 'gen_ai.evaluation.score.label': 'skipped' },
    { ...target, 'gen_ai.evaluation.name': 'broken', 'gen_ai.evaluation.score.label': 'error', 'error.type': 'judge_timed_out' },
  ]);
  expect(
    points(telemetry, 'tracejury.evaluation.score').map((point) =>
      'gen_ai.evaluation.name' in point ? point['gen_ai.evaluation.name'] : '',
    ),
  ).toEqual(['good', 'bad', 'raw']);
  expect(points(telemetry, 'tracejury.decisions')).toEqual([
    { 'gen_ai.evaluation.name': 'good', 'tracejury.decision': 'scored', value: 1 },
    { 'gen_ai.evaluation.name': 'none', 'tracejury.decision': 'skipped', 'tracejury.reason': 'no_tool_calls', value: 1 },
  ]);
});

test('metrics: tenants are a label of results, and those beyond the bound share one', async () => {
  const { telemetry, exporter } = bench();
  const names = Array.from({ length: tenantLabelsMax + 2 }, (_, at) => `team-${at}`);
  for (const name of ['', ...names, 'team-0'])
    await exporter.send({ ...scoredRun({ good: scored(1) }, run({ tenant: tenant(name) })), decisions: [decision('good')] });
  for (const metric of ['tracejury.runs', 'tracejury.evaluation.results', 'tracejury.evaluation.score', 'tracejury.decisions']) {
    const found = points(telemetry, metric).map((point) => [
      'tracejury.tenant' in point ? point['tracejury.tenant'] : undefined,
      point.value,
    ]);
    expect(found).toEqual([[undefined, 1], ['team-0', 2], ...names.slice(1, tenantLabelsMax).map((name) => [name, 1]), ['other', 2]]);
  }
  expect(points(telemetry, 'tracejury.metrics.tenants_folded')).toEqual([{ value: 2 }]);
});

test('metrics: what each evaluator could score is counted by agent and dialect, with what it lacked', async () => {
  const { telemetry, exporter } = bench();
  const of = run({ dialects: ['gen_ai', 'google_adk'] });
  const decisions = [
    decision('tool_error', { decision: 'skipped', reason: 'results_not_carried' }),
    decision('tool_recovery', { decision: 'skipped', reason: 'no_errors' }),
    decision('tool_efficiency'),
    decision('task_completion', { evaluatorKind: 'judge', decision: 'sampled_out' }),
  ];
  await exporter.send({ run: of, evaluations: [], decisions });
  await exporter.send({
    run: of,
    evaluations: [],
    decisions: [decision('task_completion', { evaluatorKind: 'judge', decision: 'failed', reason: 'judge_timed_out: after 30 s' })],
  });
  await exporter.send({ run: { ...of, revision: 2 }, evaluations: [], decisions });
  const labels = { 'gen_ai.agent.name': 'travel-agent', 'tracejury.dialect': 'google_adk', value: 1 };
  expect(points(telemetry, 'tracejury.evaluability')).toEqual([
    {
      ...labels,
      'gen_ai.evaluation.name': 'tool_error',
      'tracejury.outcome': 'skipped',
      'tracejury.reason': 'results_not_carried',
      'tracejury.need': 'tool_results',
    },
    { ...labels, 'gen_ai.evaluation.name': 'tool_recovery', 'tracejury.outcome': 'skipped', 'tracejury.reason': 'no_errors' },
    { ...labels, 'gen_ai.evaluation.name': 'tool_efficiency', 'tracejury.outcome': 'scored' },
    { ...labels, 'gen_ai.evaluation.name': 'task_completion', 'tracejury.outcome': 'failed' },
  ]);
});

test('metrics: an exemplar leads to a run that failed, never to one that passed', async () => {
  const { telemetry, exporter } = bench();
  await exporter.send(scoredRun({ bad: scored(0.25), good: scored(0.75) }));
  const scores = telemetry.snapshot().find(({ name }) => name === 'tracejury.evaluation.score')?.points ?? [];
  const exemplars = scores.map((point) => (point.kind === 'histogram' ? point.exemplars.filter((one) => one !== undefined) : []));
  expect(exemplars).toEqual([[{ labels: { trace_id: run().traceId, span_id: '00000000000000a1' }, value: 0.25 }], []]);
});

test('metrics: a judge verdict in a separate item does not count the run again', async () => {
  const { telemetry, exporter } = bench();
  await exporter.send(scoredRun({ rule: scored(1) }));
  await exporter.send(scoredRun({ judged: scored(1) }, run(), { evaluatorKind: 'judge' }));
  await exporter.send({ run: run(), evaluations: [], decisions: [decision('judged', { evaluatorKind: 'judge', decision: 'overload' })] });
  expect(points(telemetry, 'tracejury.runs')).toMatchObject([{ value: 1 }]);
  expect(points(telemetry, 'tracejury.evaluation.results')).toHaveLength(2);
});

test('metrics: a run that no judge is asked about is counted all the same', async () => {
  const { telemetry, exporter } = bench();
  await exporter.send({
    ...scoredRun({}),
    decisions: [
      decision('one', { evaluatorKind: 'judge', decision: 'sampled_out' }),
      decision('other', { evaluatorKind: 'judge', decision: 'filtered' }),
    ],
  });
  expect(points(telemetry, 'tracejury.runs')).toMatchObject([{ value: 1 }]);
  await exporter.send({ ...scoredRun({}), decisions: [decision('third', { evaluatorKind: 'judge', decision: 'overload' })] });
  expect(points(telemetry, 'tracejury.runs')).toMatchObject([{ value: 1 }]);
});

test('metrics: a run that nothing looks at is still a run', async () => {
  const { telemetry, exporter } = bench();
  await exporter.send({ run: run({ trace: agentTrace() }), evaluations: [], decisions: [] });
  expect(points(telemetry, 'tracejury.runs')).toEqual([
    { 'tracejury.target.service.name': 'travel', 'tracejury.completeness': 'complete', 'tracejury.run.status': 'ok', value: 1 },
  ]);
});

test('metrics: later revisions count only as changed, same or unknown', async () => {
  const { telemetry, exporter } = bench();
  const first = scoredRun({ moves: scored(0.25), stays: scored(1), appears: skipped });
  await exporter.send({ ...first, decisions: [decision('moves')] });
  const before = ['tracejury.runs', 'tracejury.evaluation.results', 'tracejury.evaluation.score', 'tracejury.decisions'].map((name) =>
    points(telemetry, name),
  );
  await exporter.send({
    ...scoredRun({ moves: scored(1), stays: scored(1), appears: scored(1), fresh: scored(1) }, run({ revision: 2 })),
    decisions: [decision('moves')],
  });
  expect(points(telemetry, 'tracejury.evaluation.revisions')).toEqual([
    { 'gen_ai.evaluation.name': 'moves', 'tracejury.change': 'changed', value: 1 },
    { 'gen_ai.evaluation.name': 'stays', 'tracejury.change': 'same', value: 1 },
    { 'gen_ai.evaluation.name': 'appears', 'tracejury.change': 'changed', value: 1 },
    { 'gen_ai.evaluation.name': 'fresh', 'tracejury.change': 'unknown', value: 1 },
  ]);
  expect(
    ['tracejury.runs', 'tracejury.evaluation.results', 'tracejury.evaluation.score', 'tracejury.decisions'].map((name) =>
      points(telemetry, name),
    ),
  ).toEqual(before);
});

for (const { error, want } of [
  { error: 'judge_timed_out: after 30000 ms', want: 'judge_timed_out' },
  { error: 'timeout', want: 'timeout' },
  { error: 'the judge said no', want: '_OTHER' },
  { error: '', want: '_OTHER' },
  { error: 'x'.repeat(65), want: '_OTHER' },
]) {
  test(`metrics: the error "${error.slice(0, 40)}" is of the type ${want}`, () => {
    expect(errorType(error)).toBe(want);
  });
}
