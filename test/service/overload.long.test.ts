/** A pressed service, seen from outside: the work that it gives up, and the work that it keeps. The test sets the size of the process. */
import { afterEach, expect, test } from 'vitest';
import { isJsonObject, parseJson, type JsonObject } from '../../src/model/json.ts';
import type { Span } from '../../src/model/span.ts';
import { writeTraces } from '../../src/otlp/write/write.ts';
import { agentSpan, toolSpan } from '../builders/gen-ai-spans.ts';
import { eventually, running, sample, sendAgentRun, type Running } from './running.ts';

const open: Running[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.stop();
});

const gib = 1024 ** 3;
const mib = 1024 ** 2;
const judged =
  'evaluators: [ tool_error, { use: task_completion, judge: main, sample: { rate: 1 }, expect: { tasks: [ "answer" ] } } ]\njudges: { main: { base_url: "http://127.0.0.1:1", model: small, api_key: secret } }\n';

async function pressed(yaml: string, process: { readonly bytes: number }, { settle = '5ms', tokens = '[]' } = {}): Promise<Running> {
  const jury = await running(yaml, {
    memory: {
      residentBytes: () => process.bytes,
      collect: () => undefined,
      collectInSteps: () => undefined,
      collectOften: () => undefined,
    },
    closing: `settle: ${settle}, quiet: 1h, abandon: 1h`,
    tokens,
  });
  open.push(jury);
  return jury;
}

function post({ otlp }: Running, ...spans: readonly Span[]): Promise<Response> {
  return postAs('', otlp, ...spans);
}

function postAs(token: string, otlp: string, ...spans: readonly Span[]): Promise<Response> {
  return fetch(`${otlp}/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-protobuf', ...(token === '' ? {} : { authorization: `Bearer ${token}-5b1e77c0a2f4` }) },
    body: new Uint8Array(writeTraces(spans, 'protobuf')),
  });
}

/** More than a thirty-second of 160 MiB. Its agents never come, so the runs stay open. */
async function holdMuch(jury: Running): Promise<void> {
  for (let id = 1; id <= 7; id++)
    expect((await post(jury, toolSpan({ id, trace: id, parent: 1_000, result: 'x'.repeat(mib) }))).status).toBe(200);
}

function level(jury: Running, wanted: number): Promise<string> {
  return eventually(async () => {
    const page = await jury.metrics();
    return sample(page, 'tracejury_stress_level') === wanted ? page : undefined;
  }, `level ${wanted}`);
}

async function storedRun({ console: page }: Running, traceId: string): Promise<JsonObject> {
  return eventually(async () => {
    const list: unknown = await (await fetch(`${page}/api/v1/runs?trace=${traceId}`)).json();
    const [first] = (list as { readonly runs: readonly { readonly trace_id: string; readonly span_id: string }[] }).runs;
    if (first === undefined) return undefined;
    const run = parseJson(await (await fetch(`${page}/api/v1/runs/${first.trace_id}/${first.span_id}`)).text());
    return isJsonObject(run) ? run : undefined;
  }, 'the run in the store');
}

test('overload: a process at its limit asks no judge and keeps no content, and every rule is scored', async () => {
  const process = { bytes: gib / 8 };
  const jury = await pressed(`limits: { memory_bytes: 160MiB }\n${judged}`, process);
  await holdMuch(jury);
  // The least that any process may take is 320 MiB.
  process.bytes = 324 * mib;
  await level(jury, 2);
  const { traceId } = await sendAgentRun(jury.otlp);
  const run = await storedRun(jury, traceId);
  expect(run).toMatchObject({
    content_kept: false,
    content_gone: { reason: 'overload' },
    spans_kept: 0,
    spans_gone: { reason: 'overload' },
    verdicts: [expect.objectContaining({ name: 'tool_error', score: 0.5 })],
  });
  expect(run).not.toHaveProperty('input');
  expect(run['decisions']).toEqual(
    expect.arrayContaining([expect.objectContaining({ name: 'task_completion', decision: 'overload', reason: 'stress' })]),
  );
  const page = await jury.metrics();
  expect(
    sample(page, 'tracejury_decisions_total', {
      gen_ai_evaluation_name: 'task_completion',
      tracejury_decision: 'overload',
      tracejury_reason: 'stress',
    }),
  ).toBe(1);
  expect(sample(page, 'tracejury_stress_shed_total', { tracejury_what: 'judge', tracejury_strain: 'memory' })).toBe(1);
  expect(sample(page, 'tracejury_stress_shed_total', { tracejury_what: 'content', tracejury_strain: 'memory' })).toBeGreaterThan(0);
});

test('overload: a large process that holds nothing gives up nothing: it would not become smaller', async () => {
  const process = { bytes: gib / 8 };
  const jury = await pressed('', process);
  process.bytes = 10 * gib;
  await eventually(
    async () => (sample(await jury.metrics(), 'tracejury_process_resident_bytes') === 10 * gib ? true : undefined),
    'a look',
  );
  expect(sample(await jury.metrics(), 'tracejury_stress_level')).toBe(0);
});

test('overload: a large process that holds much refuses with a time to come back, and takes requests again when it is smaller', async () => {
  const process = { bytes: gib / 8 };
  const jury = await pressed('limits: { memory_bytes: 160MiB }\nevaluators: [ tool_error ]\n', process);
  await holdMuch(jury);
  process.bytes = gib;
  await level(jury, 3);
  const refused = await post(jury, toolSpan({ id: 20, trace: 20, parent: 1_000 }));
  expect([refused.status, Number(refused.headers.get('retry-after'))]).toEqual([
    429,
    expect.toSatisfy((seconds: number) => seconds >= 1 && seconds <= 30),
  ]);
  const page = await jury.metrics();
  expect(sample(page, 'tracejury_receiver_requests_total', { tracejury_reason: 'overloaded', tracejury_status: '429' })).toBe(1);
  expect(sample(page, 'tracejury_stress_refused_total', { tracejury_strain: 'memory' })).toBe(1);
  expect(sample(page, 'tracejury_runs_total', { tracejury_completeness: 'evicted' })).toBeUndefined();
  process.bytes = gib / 8;
  await level(jury, 0);
  expect((await post(jury, toolSpan({ id: 21, trace: 21, parent: 1_000 }))).status).toBe(200);
});

test('overload: what was taken before is scored while requests are refused', async () => {
  const process = { bytes: gib / 8 };
  const jury = await pressed('limits: { memory_bytes: 160MiB }\nevaluators: [ tool_error ]\n', process, { settle: '1s' });
  await holdMuch(jury);
  await post(jury, agentSpan({ id: 50, trace: 50 }), toolSpan({ id: 51, trace: 50, parent: 50, result: 'done' }));
  process.bytes = gib;
  await level(jury, 3);
  await eventually(
    async () => (sample(await jury.metrics(), 'tracejury_runs_total', { tracejury_completeness: 'complete' }) === 1 ? true : undefined),
    'the run that was taken',
  );
});

test('overload: a sender of little is accepted while one that sends much is refused, until nothing can be accepted at all', async () => {
  const process = { bytes: gib / 8 };
  const jury = await pressed('limits: { memory_bytes: 160MiB }\nevaluators: [ tool_error ]\n', process, {
    tokens:
      '[ { name: much, value: much-5b1e77c0a2f4, may: [ingest] }, { name: little, value: little-5b1e77c0a2f4, may: [ingest] }, { name: people, value: people-5b1e77c0a2f4, may: [read] } ]',
  });
  const send = async (token: string, id: number, result = 'small'): Promise<number> =>
    (await postAs(token, jury.otlp, toolSpan({ id, trace: id, parent: 1_000, result }))).status;
  const refused = (): Promise<true> => eventually(async () => ((await send('much', 100)) === 429 ? true : undefined), 'a refusal');
  expect(await send('little', 50)).toBe(200);
  for (let id = 1; id <= 7; id++) expect(await send('much', id, 'x'.repeat(mib))).toBe(200);
  process.bytes = 338 * mib;
  await refused();
  expect(await send('little', 51)).toBe(200);
  process.bytes = 354 * mib;
  await eventually(async () => ((await send('little', 52)) === 429 ? true : undefined), 'a refusal of all');
});
