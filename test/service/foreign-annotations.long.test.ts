/** Verdicts of others that come along with spans and records, through a whole service. */
import { afterEach, expect, test } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import { writeTraces, writeLogsJson } from '../../src/otlp/write/write.ts';
import { agentSpan, toolSpan } from '../builders/gen-ai-spans.ts';
import { record, span } from '../builders/spans.ts';
import { otlpSink } from '../exporters/otlp-sink.ts';
import { eventually, running, type Running } from './running.ts';

const open: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.stop();
});

async function service(yaml = ''): Promise<Running> {
  const started = await running(yaml);
  open.push(started);
  return started;
}

async function post(to: Running, signal: 'traces' | 'logs', body: Buffer, type = 'application/json'): Promise<number> {
  return (await fetch(`${to.otlp}/v1/${signal}`, { method: 'POST', headers: { 'content-type': type }, body: new Uint8Array(body) })).status;
}

async function annotated(of: Running, count: number): Promise<readonly JsonObject[]> {
  return eventually(async () => {
    const { runs } = (await (await fetch(`${of.console}/api/v1/runs`)).json()) as { readonly runs: readonly JsonObject[] };
    const [run] = runs;
    if (run === undefined) return undefined;
    const { annotations } = (await (
      await fetch(`${of.console}/api/v1/runs/${String(run['trace_id'])}/${String(run['span_id'])}`)
    ).json()) as { readonly annotations: readonly JsonObject[] };
    return annotations.length === count ? annotations : undefined;
  }, `${count} annotations`);
}

const result = {
  'gen_ai.evaluation.name': 'relevance',
  'gen_ai.evaluation.score.value': 0.5,
  'gen_ai.evaluation.explanation': 'Half of it.',
};
const agent = agentSpan({ id: 1, start: 0, end: 9, agent: 'finder', input: 'where', output: 'there' });
const tool = toolSpan({ id: 2, parent: 1, tool: 'find', result: 'there' });

test('foreign annotations: a result on any span of a run is listed with that run', async () => {
  const to = await service();
  const grading = span({
    id: 3,
    parent: 1,
    resource: { 'service.name': 'grader' },
    events: [{ name: 'gen_ai.evaluation.result', attributes: result }],
    attributes: {
      'evaluations.0.evaluation.name': 'tone',
      'evaluations.0.evaluation.label': 'kind',
      'evaluations.0.evaluation.annotator_kind': 'HUMAN',
      'evaluations.0.evaluation.identifier': 'ann',
    },
  });
  expect(await post(to, 'traces', writeTraces([agent, tool, grading], 'protobuf'), 'application/x-protobuf')).toBe(200);
  expect(await annotated(to, 2)).toMatchObject([
    { name: 'relevance', by: 'grader', kind: 'evaluator', score: 0.5, explanation: 'Half of it.' },
    { name: 'tone', by: 'ann', kind: 'human', label: 'kind' },
  ]);
});

test('foreign annotations: records may come before the spans, and sent twice they stand once', async () => {
  const to = await service();
  const logs = writeLogsJson([
    record({
      span: 2,
      event: 'gen_ai.evaluation.result',
      attributes: { ...result, 'tracejury.annotator.kind': 'human', 'tracejury.annotator.id': 'ann' },
    }),
  ]);
  expect([
    await post(to, 'logs', logs),
    await post(to, 'logs', logs),
    await post(to, 'traces', writeTraces([agent, tool], 'json')),
  ]).toEqual([200, 200, 200]);
  expect(await annotated(to, 1)).toMatchObject([{ name: 'relevance', by: 'ann', kind: 'human', at: expect.not.stringMatching(/^2[1-9]/) }]);
});

test('foreign annotations: our own results are none when they come back in, and none of others go out', async () => {
  const sink = await otlpSink();
  open.push({ stop: () => sink.close() });
  const to = await service(`export: [ { to: span_events, endpoint: "${sink.url}" } ]\n`);
  const graded = agentSpan({
    id: 1,
    start: 0,
    end: 9,
    agent: 'finder',
    input: 'where',
    output: 'there',
    events: [{ name: 'gen_ai.evaluation.result', attributes: { ...result, 'gen_ai.evaluation.explanation': 'grader speaks' } }],
  });
  await post(to, 'traces', writeTraces([graded, tool], 'json'));
  await annotated(to, 1);
  const sent = await eventually(() => sink.received[0], 'the carrier span');
  expect(sent.body.includes('tool_error')).toBe(true);
  expect(sent.body.includes('grader speaks')).toBe(false);
  expect(await post(to, 'traces', sent.body, sent.headers['content-type'])).toBe(200);
  // The span behind it is there: so the carrier would be as well.
  await post(
    to,
    'logs',
    writeLogsJson([record({ span: 1, event: 'gen_ai.evaluation.result', attributes: { ...result, 'gen_ai.evaluation.name': 'last' } })]),
  );
  expect((await annotated(to, 2)).map(({ name }) => name)).toEqual(['last', 'relevance']);
});

test('foreign annotations: a span of another trace that links to the agent’s is about its run', async () => {
  const to = await service();
  const carrier = span({
    id: 9,
    trace: 5,
    resource: { 'service.name': 'nightly' },
    links: [{ trace: 1, span: 1 }],
    attributes: {
      'openinference.span.kind': 'EVALUATOR',
      'evaluations.0.evaluation.name': 'tone',
      'evaluations.0.evaluation.score': 0.5,
      'evaluations.0.evaluation.annotator_kind': 'LLM',
    },
  });
  expect(await post(to, 'traces', writeTraces([agent, tool], 'protobuf'), 'application/x-protobuf')).toBe(200);
  expect(await post(to, 'traces', writeTraces([carrier], 'protobuf'), 'application/x-protobuf')).toBe(200);
  expect(await annotated(to, 1)).toMatchObject([{ name: 'tone', by: 'nightly', kind: 'evaluator', score: 0.5 }]);
});

test('foreign annotations: our own log records are none when they come back in, and none of others go out', async () => {
  const sink = await otlpSink();
  open.push({ stop: () => sink.close() });
  const to = await service(`export: [ { to: log_events, endpoint: "${sink.url}" } ]\n`);
  await post(
    to,
    'logs',
    writeLogsJson([
      record({ span: 1, event: 'gen_ai.evaluation.result', attributes: { ...result, 'gen_ai.evaluation.explanation': 'grader speaks' } }),
    ]),
  );
  await post(to, 'traces', writeTraces([agent, tool], 'json'));
  await annotated(to, 1);
  const sent = await eventually(() => sink.received[0], 'the records');
  expect([sent.body.includes('tool_error'), sent.body.includes('grader speaks')]).toEqual([true, false]);
  expect(await post(to, 'logs', sent.body, sent.headers['content-type'])).toBe(200);
  await post(
    to,
    'logs',
    writeLogsJson([record({ span: 1, event: 'gen_ai.evaluation.result', attributes: { ...result, 'gen_ai.evaluation.name': 'last' } })]),
  );
  expect((await annotated(to, 2)).map(({ name }) => name)).toEqual(['last', 'relevance']);
});
