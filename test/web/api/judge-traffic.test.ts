import { expect, test } from 'vitest';
import { metricRegistry } from '../../../src/telemetry/registry.ts';
import { judgeLatencyRows, judgeTrafficRows } from '../../../src/web/api/judge-traffic.ts';

const of = (judge: string, outcome?: string) => ({
  'tracejury.judge': judge,
  ...(outcome === undefined ? {} : { 'tracejury.outcome': outcome }),
});

test('judge traffic: without requests there is no row', () => {
  const metrics = metricRegistry().snapshot();
  expect([judgeTrafficRows(metrics), judgeLatencyRows(metrics)]).toEqual([[], []]);
});

test('judge traffic: requests, cache, queue and circuit of each judge', () => {
  const telemetry = metricRegistry();
  telemetry.add('tracejury.judge.requests', 7, of('main', 'answered'));
  telemetry.add('tracejury.judge.requests', 2, of('main', 'failed'));
  telemetry.add('tracejury.judge.answers', 3, of('main', 'cached'));
  telemetry.add('tracejury.judge.answers', 7, of('main', 'asked'));
  telemetry.set('tracejury.judge.circuit', 2, of('main'));
  telemetry.set('tracejury.judge.jobs.waiting', 5, of('other'));
  telemetry.set('tracejury.judge.jobs.age', 90, of('other'));
  expect(judgeTrafficRows(telemetry.snapshot())).toMatchObject([
    { judge: 'main', answered: 7, failed: 2, retried: 0, cached: 3, not_cached: 7, waiting: 0, circuit: 'open', cost_usd: null },
    { judge: 'other', answered: 0, cached: null, waiting: 5, oldest_seconds: 90, circuit: null },
  ]);
});

test('judge traffic: times are read from the buckets, and rules have none', () => {
  const telemetry = metricRegistry();
  const record = (name: string, kind: string, seconds: number): void =>
    telemetry.record('tracejury.evaluation.duration', seconds, { 'gen_ai.evaluation.name': name, 'tracejury.evaluator.kind': kind });
  record('tool_error', 'rule', 0.001);
  for (let at = 0; at < 9; at++) record('done', 'judge', 0.8);
  record('done', 'judge', 500);
  const [row, ...others] = judgeLatencyRows(telemetry.snapshot());
  expect(others).toEqual([]);
  expect(row).toMatchObject({ name: 'done', verdicts: 10, mean_seconds: expect.closeTo(50.72, 5), p95_seconds: 60 });
  expect(Number(row?.['p50_seconds'])).toBeGreaterThan(0.5);
  expect(Number(row?.['p50_seconds'])).toBeLessThan(1);
});
