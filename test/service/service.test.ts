import { get } from 'node:http';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { attributes, otlpSink, readCarrier } from '../exporters/otlp-sink.ts';
import { chatServer, says } from '../judges/chat-server.ts';
import { eventually, running, sample, sendAgentRun, type Running } from './running.ts';

const open: { stop?(): Promise<void>; close?(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await (one.stop?.() ?? one.close?.());
});

describe('a service without any configuration', () => {
  const lines: string[] = [];
  let jury: Running;
  beforeAll(async () => {
    jury = await running('', { logger: pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) }) });
  });
  afterAll(() => jury.stop());

  test('service: a run of a real SDK is scored on the metrics page without any configuration', async () => {
    await sendAgentRun(jury.otlp);
    const page = await eventually(async () => {
      const text = await jury.metrics();
      return sample(text, 'tracejury_evaluation_results_total', { gen_ai_evaluation_name: 'tool_error' }) === undefined ? undefined : text;
    }, 'a verdict');
    expect(
      sample(page, 'tracejury_evaluation_results_total', {
        gen_ai_evaluation_name: 'tool_error',
        gen_ai_agent_name: 'order_support',
        gen_ai_evaluation_score_label: 'fail',
      }),
    ).toBe(1);
    expect(sample(page, 'tracejury_evaluation_score_sum', { gen_ai_evaluation_name: 'tool_error' })).toBe(0.5);
    expect(
      sample(page, 'tracejury_decisions_total', {
        gen_ai_evaluation_name: 'tool_call_validity',
        tracejury_decision: 'skipped',
        tracejury_reason: 'no_tool_definitions',
      }),
    ).toBe(1);
    expect(sample(page, 'tracejury_runs_total', { tracejury_completeness: 'complete', tracejury_target_service_name: 'shop' })).toBe(1);
  });

  test('service: an agent whose first runs could not be scored is named in one warning, with what to switch on, and counted by what is missing', async () => {
    for (let at = 0; at < 4; at++) await sendAgentRun(jury.otlp, { agent: 'refunds' });
    const labels = {
      gen_ai_agent_name: 'refunds',
      tracejury_dialect: 'tool_attributes',
      gen_ai_evaluation_name: 'tool_call_validity',
      tracejury_outcome: 'skipped',
      tracejury_need: 'tool_definitions',
    };
    await eventually(
      async () => (sample(await jury.metrics(), 'tracejury_evaluability_total', labels) === 4 ? true : undefined),
      'four attempts',
    );
    const told = lines
      .map((line) => JSON.parse(line) as { readonly msg: string; readonly agent: string; readonly missing: string; readonly todo: string })
      .filter(({ msg }) => msg.startsWith('evaluators skip the first runs of an agent'));
    expect(told).toMatchObject([
      {
        agent: 'refunds',
        dialect: 'tool_attributes',
        missing: 'tool_definitions',
        evaluators: ['tool_call_validity'],
        todo: expect.stringContaining('gen_ai.tool.definitions'),
      },
    ]);
  });

  test('service: it answers whether it lives and is ready, and refuses a page that comes under a foreign name', async () => {
    expect((await fetch(`${jury.console}/livez`)).status).toBe(200);
    expect((await fetch(`${jury.console}/readyz`)).status).toBe(200);
    expect((await fetch(`${jury.console}/`)).headers.get('content-security-policy')).toContain("default-src 'none'");
    const { port } = new URL(jury.console);
    const foreign = await new Promise<number>((resolve, reject) => {
      get({ host: '127.0.0.1', port, path: '/metrics', headers: { host: 'evil.example' } }, (response) =>
        resolve(response.statusCode ?? 0),
      ).on('error', reject);
    });
    expect(foreign).toBe(403);
  });
});

test('service: verdicts go to the backend as one span of the agent’s own trace, and that span is ignored when it comes back', async () => {
  const sink = await otlpSink();
  const jury = await running(`export: [ { to: span_events, endpoint: "${sink.url}" } ]`);
  open.push(sink, jury);
  const agent = await sendAgentRun(jury.otlp);
  const request = await eventually(() => sink.received[0], 'a carrier span');
  const { span, resource } = readCarrier(request);
  expect(span).toMatchObject({ traceId: agent.traceId, parentSpanId: agent.spanId, name: 'evaluate order_support' });
  expect(resource).toMatchObject({ 'service.name': 'shop', 'openinference.project.name': 'orders' });
  expect(attributes(span.attributes)).toMatchObject({
    'tracejury.generated': true,
    'tracejury.verdict': 'fail',
    'tracejury.failed': ['tool_error'],
    'tracejury.score.tool_error': 0.5,
  });

  const back = await fetch(`${jury.otlp}/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-protobuf' },
    body: new Uint8Array(request.body),
  });
  expect(back.status).toBe(200);
  const page = await jury.metrics();
  expect(sample(page, 'tracejury_spans_own_total')).toBe(1);
  expect(sample(page, 'tracejury_runs_total')).toBe(1);
  expect(sink.received).toHaveLength(1);
});

const taskCompletion = (baseUrl: string): string => `
evaluators: [ tool_error, { use: task_completion, judge: main, sample: { rate: 1 }, expect: { tasks: [ "say where the order is" ] } } ]
judges: { main: { base_url: "${baseUrl}", model: small, api_key: secret } }`;

test('service: a sampled run goes to a judge, and the verdict follows in a separate span', async () => {
  const sink = await otlpSink();
  const judge = await chatServer(says(JSON.stringify({ tasks: [{ number: 1, explanation: 'The reply says so.', completed: true }] })));
  const jury = await running(`${taskCompletion(judge.baseUrl)}\nexport: [ { to: span_events, endpoint: "${sink.url}" } ]`);
  open.push(sink, judge, jury);
  await sendAgentRun(jury.otlp, { input: 'Where is my order?' });
  const request = await eventually(
    () => sink.received.find((one) => readCarrier(one).span.attributes.some(({ key }) => key === 'tracejury.score.task_completion')),
    'the judge’s verdict',
  );
  expect(attributes(readCarrier(request).span.attributes)).toMatchObject({
    'tracejury.score.task_completion': 1,
    'tracejury.sample.probability': 1,
  });
  expect(judge.requests[0]?.body.messages.map(({ content }) => content).join('\n')).toContain('Where is my order?');
  expect(judge.requests[0]?.headers.authorization).toBe('Bearer secret');
});

test('service: what is open when it stops is scored and sent first', async () => {
  const sink = await otlpSink();
  const jury = await running(`export: [ { to: span_events, endpoint: "${sink.url}" } ]`, {
    closing: 'settle: 5m, quiet: 6m',
    stopMs: 60_000,
  });
  open.push(sink);
  await sendAgentRun(jury.otlp);
  expect(sink.received).toHaveLength(0);
  await jury.stop();
  expect(attributes(readCarrier(await eventually(() => sink.received[0], 'a carrier span')).span.attributes)).toMatchObject({
    'tracejury.verdict': 'fail',
  });
});

test('service: with tokens, spans need one that may ingest and the metrics page one that may read', async () => {
  const guarded = await running('', {
    tokens: '[ { name: agents, value: token-for-agents, may: [ingest] }, { name: people, value: token-for-people, may: [read] } ]',
  });
  open.push(guarded);
  expect((await fetch(`${guarded.console}/livez`)).status).toBe(200);
  expect((await fetch(`${guarded.console}/metrics`)).status).toBe(401);
  expect((await fetch(`${guarded.console}/metrics`, { headers: { authorization: 'Bearer token-for-agents' } })).status).toBe(401);
  expect((await fetch(`${guarded.console}/metrics`, { headers: { authorization: 'Bearer token-for-people' } })).status).toBe(200);
  const post = (token: string): Promise<Response> =>
    fetch(`${guarded.otlp}/v1/traces`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: '{}',
    });
  expect((await post('token-for-people')).status).toBe(401);
  expect((await post('token-for-agents')).status).toBe(200);
});
