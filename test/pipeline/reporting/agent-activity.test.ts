import { expect, test } from 'vitest';
import { manualClock } from '../../../src/model/clock.ts';
import { countActivity } from '../../../src/pipeline/reporting/agent-activity.ts';
import type { MetricName } from '../../../src/telemetry/metrics.ts';
import { metricRegistry, type MetricRegistry } from '../../../src/telemetry/registry.ts';
import { agentTrace, call, spanId } from '../../builders/agent-trace.ts';
import { run } from '../../builders/scored-run.ts';

function points(telemetry: MetricRegistry, name: MetricName) {
  return (telemetry.snapshot().find((family) => family.name === name)?.points ?? []).map((point) => ({
    ...Object.fromEntries(Object.entries(point.labels).filter(([, value]) => value !== '')),
    ...(point.kind === 'number'
      ? { value: point.value }
      : {
          count: point.counts.reduce((sum, count) => sum + count, 0),
          sum: point.sum,
          exemplars: point.exemplars.filter((one) => one !== undefined),
        }),
  }));
}

const agent = { 'gen_ai.agent.name': 'travel-agent', 'tracejury.target.service.name': 'travel' };
const at = (ms: number) => ({ startUnixNano: 1_000_000_000n, endUnixNano: 1_000_000_000n + BigInt(ms) * 1_000_000n });
const failing = { error: { message: 'no seats', sign: 'span_status' as const } };

test('agent-activity: tool calls are counted by tool and by how they ended, and the slow one that failed is named', () => {
  const telemetry = metricRegistry({ clock: manualClock() });
  const toolCalls = [
    call({ name: 'search', ...at(20) }),
    call({ name: 'search', ...at(3_000), ...failing, spanId: spanId(0xb2) }),
    call({ name: 'search', startUnixNano: 2n, endUnixNano: 1n }),
    call({ name: 'book', executed: false, result: undefined }),
  ];
  countActivity(run({ trace: agentTrace({ agent: 'travel-agent', toolCalls }) }), telemetry);
  expect(points(telemetry, 'tracejury.agent.tool_calls')).toEqual([
    { ...agent, 'gen_ai.tool.name': 'search', 'tracejury.outcome': 'returned', value: 2 },
    { ...agent, 'gen_ai.tool.name': 'search', 'tracejury.outcome': 'failed', value: 1 },
    { ...agent, 'gen_ai.tool.name': 'book', 'tracejury.outcome': 'not_executed', value: 1 },
  ]);
  expect(points(telemetry, 'tracejury.agent.tool_call.duration')).toEqual([
    {
      'gen_ai.agent.name': 'travel-agent',
      'gen_ai.tool.name': 'search',
      count: 2,
      sum: 3.02,
      exemplars: [{ labels: { trace_id: run().traceId, span_id: '00000000000000b2' }, value: 3, atMs: 1_700_000_000_000 }],
    },
  ]);
});

test('agent-activity: a result that reads as an error is a failed call, unless the success that its span states outweighs it', () => {
  const telemetry = metricRegistry();
  const text = 'Error: amount 500 is more than the limit';
  const toolCalls = [
    call({ result: text }),
    call({ result: { status: 'error', message: 'no hotel' } }),
    call({ result: text, statedOk: true }),
    call({ result: 'Exit code 1', statedOk: true }),
    call({ result: 'Error: a history' }),
  ];
  countActivity(run({ trace: agentTrace({ agent: 'travel-agent', toolCalls }) }), telemetry);
  expect(
    points(telemetry, 'tracejury.agent.tool_calls').map((point) => [
      'tracejury.outcome' in point ? point['tracejury.outcome'] : '',
      'value' in point ? point.value : 0,
    ]),
  ).toEqual([
    ['failed', 3],
    ['returned', 2],
  ]);
});

test('agent-activity: a run that ended in an error is the exemplar of its duration, another is not', () => {
  const telemetry = metricRegistry();
  countActivity(run(), telemetry);
  const spanTraceId = run().traceId;
  countActivity(run({ ...at(700), spanTraceId, trace: agentTrace({ agent: 'travel-agent', status: 'error' }) }), telemetry);
  expect(points(telemetry, 'tracejury.run.duration')).toMatchObject([
    { ...agent, count: 2, exemplars: [{ labels: { trace_id: spanTraceId, span_id: '00000000000000a1' }, value: 0.7 }] },
  ]);
});

test('agent-activity: tokens come from model calls, or from the agent where those have none', () => {
  const telemetry = metricRegistry();
  const modelCalls = [
    { model: 'm', inputTokens: 10, outputTokens: 1 },
    { model: 'm', inputTokens: 5 },
    { model: 'n', outputTokens: 2 },
    { model: 'o' },
  ];
  countActivity(run({ trace: agentTrace({ agent: 'travel-agent', modelCalls, tokens: { input: 15, output: 3 } }) }), telemetry);
  countActivity(
    run({ trace: agentTrace({ agent: 'travel-agent', model: 'p', modelCalls: [{ model: 'o' }], tokens: { input: 7 } }) }),
    telemetry,
  );
  const of = (model: string, type: string, value: number) => ({
    ...agent,
    'gen_ai.request.model': model,
    'gen_ai.token.type': type,
    value,
  });
  expect(points(telemetry, 'tracejury.agent.tokens')).toEqual([
    of('m', 'input', 15),
    of('m', 'output', 1),
    of('n', 'output', 2),
    of('p', 'input', 7),
  ]);
});

test('agent-activity: a later revision is not counted again', () => {
  const telemetry = metricRegistry();
  countActivity(run({ revision: 2, trace: agentTrace({ toolCalls: [call()], tokens: { input: 1 } }) }), telemetry);
  expect(
    ['tracejury.run.duration', 'tracejury.agent.tool_calls', 'tracejury.agent.tokens'].map((name) => points(telemetry, name as MetricName)),
  ).toEqual([[], [], []]);
});
