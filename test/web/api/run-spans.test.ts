/** What a page about one run reads: asked over HTTP of a whole service. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isJsonArray, isJsonObject, type JsonObject } from '../../../src/model/json.ts';
import type { Span } from '../../../src/model/span.ts';
import { writeTraces } from '../../../src/otlp/write/write.ts';
import { agentSpan, assistant, modelSpan, toolMessage, toolSpan } from '../../builders/gen-ai-spans.ts';
import { eventually, running, type Running } from '../../service/running.ts';

const asks = [{ id: 'c1', name: 'find', arguments: { order: 7 } }];
const told = [{ id: 'c1', response: 'x'.repeat(500) }];
const definitions = [
  { type: 'function', name: 'find', parameters: { type: 'object', required: ['order'], properties: { order: { type: 'string' } } } },
];
const resource = { 'service.name': 'shop', task: 'find an order' };

/** Runs of another year are too old for the store. */
const startMs = Date.now() - 60_000;

function spansOf(trace: number): readonly Span[] {
  const attributes = { 'gen_ai.tool.definitions': definitions, 'gen_ai.usage.input_tokens': 12, 'gen_ai.usage.output_tokens': 3 };
  return [
    agentSpan({
      id: 1,
      trace,
      start: startMs + 0,
      end: startMs + 100,
      agent: 'support',
      input: 'Where is it?',
      output: 'Here.',
      resource,
      attributes: { 'gen_ai.conversation.id': 's-9' },
    }),
    modelSpan({ id: 2, trace, parent: 1, start: startMs + 10, end: startMs + 20, user: 'Where is it?', asks, attributes, resource }),
    toolSpan({
      id: 3,
      trace,
      parent: 1,
      start: startMs + 30,
      end: startMs + 40,
      tool: 'find',
      call: 'c1',
      arguments: { order: 7 },
      result: 'x'.repeat(500),
      resource,
    }),
    modelSpan({
      id: 4,
      trace,
      parent: 1,
      start: startMs + 50,
      end: startMs + 60,
      user: 'Where is it?',
      history: [assistant({ asks }), toolMessage(told)],
      says: 'Here.',
      attributes,
      resource,
    }),
  ];
}

let service: Running;
let runs: readonly JsonObject[] = [];

async function send({ otlp }: Running, trace: number): Promise<void> {
  const response = await fetch(`${otlp}/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-protobuf' },
    body: new Uint8Array(writeTraces(spansOf(trace), 'protobuf')),
  });
  if (response.status !== 200) throw new Error(`the service answers ${response.status}`);
}

beforeAll(async () => {
  service = await running('');
  for (const trace of [1, 2, 3]) await send(service, trace);
  runs = await eventually(async () => {
    const found = objects(await get('/runs'), 'runs');
    return found.length === 3 ? found : undefined;
  }, 'the runs');
  await eventually(async () => (objects(await get(`${place()}/timeline`), 'spans').length === 4 ? true : undefined), 'the spans');
});
afterAll(() => service.stop());

function addressOf(run: JsonObject): string {
  return `/runs/${String(run['trace_id'])}/${String(run['span_id'])}`;
}

function place(nth = 0): string {
  return addressOf(runs[nth] ?? {});
}

async function get(path: string): Promise<JsonObject> {
  const response = await fetch(`${service.console}/api/v1${path}`);
  const answer: unknown = await response.json();
  if (!response.ok || !isJsonObject(answer)) throw new Error(`${path}: ${response.status} ${JSON.stringify(answer)}`);
  return answer;
}

function objects(answer: JsonObject, key: string): readonly JsonObject[] {
  const list = answer[key] ?? null;
  return isJsonArray(list) ? list.filter(isJsonObject) : [];
}

test('the timeline says what each span stands for', async () => {
  const timeline = await get(`${place()}/timeline`);
  expect(timeline).toMatchObject({ next: null, left_out: 0, whole: true, spans_gone: null });
  expect(
    objects(timeline, 'spans').map(({ role, agent, tool, model, input_tokens: tokens, of_run: own }) => [
      role,
      agent,
      tool,
      model,
      tokens,
      own,
    ]),
  ).toEqual([
    ['agent', 'support', null, null, null, true],
    ['model', null, null, 'm', 12, true],
    ['tool', null, 'find', null, null, true],
    ['model', null, null, 'm', 12, true],
  ]);
});

test('one span has its attributes, and what the collectors read of it', async () => {
  const [, , tool, model] = objects(await get(`${place()}/timeline`), 'spans');
  expect(await get(`${place()}/spans/${String(tool?.['span_id'])}`)).toMatchObject({
    role: 'tool',
    tool: { name: 'find', id: 'c1', arguments: { order: 7 }, result_carried: true, result: 'x'.repeat(500) },
    span: { attributes: { 'gen_ai.tool.name': 'find' }, status: { code: 'unset' } },
    messages: [],
  });
  const call = await get(`${place()}/spans/${String(model?.['span_id'])}`);
  expect(call).toMatchObject({ role: 'model', model: 'm', input_tokens: 12, output_tokens: 3, repeated_messages: 2, left_out: 0 });
  expect(objects(call, 'messages').map(({ role, of_answer: isAnswer }) => [role, isAnswer])).toEqual([
    ['user', false],
    ['assistant', false],
    ['tool', false],
    ['assistant', true],
  ]);
  expect(objects(call, 'tool_definitions')).toMatchObject([{ name: 'find', input_schema: { required: ['order'] } }]);
});

test('the conversation has each message once, and shortened texts are marked', async () => {
  const whole = await get(`${place()}/conversation`);
  expect(objects(whole, 'messages').map(({ role, text, cut }) => [role, text, cut])).toEqual([
    ['user', 'Where is it?', false],
    ['assistant', null, false],
    ['tool', null, false],
    ['assistant', 'Here.', false],
  ]);
  const short = objects(await get(`${place()}/conversation?text_max=100`), 'messages');
  expect(short.map(({ cut }) => cut)).toEqual([false, false, true, false]);
  expect(objects(short[2] ?? {}, 'results')).toMatchObject([{ id: 'c1', result: 'x'.repeat(100) }]);
});

test('beside a run stand the others of its session and of its task', async () => {
  const related = await get(`${place(1)}/related`);
  const others = [runs[0], runs[2]].map((run) => run?.['trace_id']);
  expect(related).toMatchObject({ session: { id: 's-9', more: false }, task: { task: 'find an order', more: false } });
  for (const of of ['session', 'task']) expect(objects(related[of] as JsonObject, 'runs').map(({ trace_id: id }) => id)).toEqual(others);
});

test('the example that a run would make is a draft of what it did', async () => {
  expect(await get(`${place()}/example`)).toMatchObject({
    reason: null,
    example: { review: 'draft', expect: { tool_calls: [{ name: 'find', arguments: { order: 7 } }], output: 'Here.' } },
  });
});

test('a verdict has its threshold, and a skip names the missing data', async () => {
  const run = await get(place());
  expect(objects(run, 'verdicts').find(({ name }) => name === 'tool_call_validity')).toMatchObject({ passed: false, threshold: 1 });
  expect(objects(run, 'decisions').every((decision) => decision['missing'] === null)).toBe(true);
  expect(run['task']).toBe('find an order');
});

test('a span that is not in the trace is answered 404', async () => {
  const response = await fetch(`${service.console}/api/v1${place()}/spans/${'e'.repeat(16)}`);
  expect([response.status, await response.json()]).toMatchObject([404, { error: { message: 'The store has no such span.' } }]);
});

test('the question to a judge is made again, and nobody is asked', async () => {
  const judged = await running(
    'store: { url: "memory:", content: all }\njudges: { main: { base_url: "http://127.0.0.1:9/v1", model: m } }\nevaluators:\n  - tool_error\n  - { use: answer_relevance, judge: main, sample: { rate: 0 } }\n',
  );
  await send(judged, 7);
  const ask = async (path: string): Promise<JsonObject> => (await (await fetch(`${judged.console}/api/v1${path}`)).json()) as JsonObject;
  const at = await eventually(async () => {
    const [run] = objects(await ask('/runs'), 'runs');
    if (run === undefined) return undefined;
    const address = addressOf(run);
    return objects(await ask(`${address}/timeline`), 'spans').length === 4 ? address : undefined;
  }, 'the run and its spans');
  const { question } = await ask(`${at}/questions/answer_relevance`);
  expect(question).toMatchObject({ instruction: expect.stringContaining('relevant'), first_of_several: false });
  expect(JSON.stringify(question)).toContain('Where is it?');
  expect([await ask(`${at}/questions/tool_error`), await ask(`${at}/questions/none`)]).toEqual([
    { question: null, reason: 'no_judge' },
    { question: null, reason: 'not_configured' },
  ]);
  await judged.stop();
});
