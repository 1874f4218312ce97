/** The requests of a page about one run, over HTTP. */
import { expect, onTestFinished, test } from 'vitest';
import { collectors } from '../../../collectors/index.ts';
import { isJsonArray, isJsonObject, type JsonObject } from '../../../src/model/json.ts';
import type { RunKey } from '../../../src/model/agent-trace.ts';
import type { Span } from '../../../src/model/span.ts';
import { runReader, type TraceSource } from '../../../src/web/run-reader.ts';
import { defaultClosing } from '../../../src/pipeline/gathering/close-policy.ts';
import { regatheredRuns } from '../../../src/pipeline/gathering/regathered-runs.ts';
import { noTelemetry } from '../../../src/telemetry/telemetry.ts';
import { emptyApi, openConsole } from '../../builders/console-listener.ts';
import { agentSpan, assistant, modelSpan, toolMessage, toolSpan } from '../../builders/gen-ai-spans.ts';
import { scored, scoredRun, skipped } from '../../builders/scored-run.ts';

const asks = [{ id: 'c1', name: 'find', arguments: { order: 7 } }];
const told = [{ id: 'c1', response: 'x'.repeat(500) }];
const definitions = [
  { type: 'function', name: 'find', parameters: { type: 'object', required: ['order'], properties: { order: { type: 'string' } } } },
];
const resource = { 'service.name': 'shop', task: 'find an order' };

function spansOf(trace: number): readonly Span[] {
  const attributes = { 'gen_ai.tool.definitions': definitions, 'gen_ai.usage.input_tokens': 12, 'gen_ai.usage.output_tokens': 3 };
  return [
    agentSpan({
      id: 1,
      trace,
      start: 0,
      end: 100,
      agent: 'support',
      input: 'Where is it?',
      output: 'Here.',
      resource,
      attributes: { 'gen_ai.conversation.id': 's-9' },
    }),
    modelSpan({ id: 2, trace, parent: 1, start: 10, end: 20, user: 'Where is it?', asks, attributes, resource }),
    toolSpan({
      id: 3,
      trace,
      parent: 1,
      start: 30,
      end: 40,
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
      start: 50,
      end: 60,
      user: 'Where is it?',
      history: [assistant({ asks }), toolMessage(told)],
      says: 'Here.',
      attributes,
      resource,
    }),
  ];
}

let url = '';
let runs: readonly JsonObject[] = [];

/** A console over a store with three runs and their spans. */
async function opened(): Promise<void> {
  const api = await emptyApi();
  const traces = [1, 2, 3].map(spansOf);
  const items = traces.map((spans) => {
    const [run] = regatheredRuns({ spans, records: [] }, { closing: defaultClosing, collectors, telemetry: noTelemetry }).values();
    if (run === undefined) throw new Error('the spans make no run');
    const decision = {
      name: 'judge',
      evaluator: 'answer_relevance',
      evaluatorKind: 'judge',
      decision: 'skipped',
      reason: 'no_tool_definitions',
    } as const;
    return {
      ...scoredRun({ tool_call_validity: scored(0, { threshold: 1 }), judge: skipped }, run),
      decisions: [decision],
      figures: { task: 'find an order' },
    };
  });
  await api.store.write(items);
  const kept = new Map(traces.map((spans) => [spans[0]?.traceId, { spans, records: [], isWhole: true }]));
  const source = async ({ traceId }: RunKey): Promise<TraceSource | undefined> => {
    const spans = kept.get(traceId);
    return spans === undefined ? undefined : { mark: traceId, spans: spans.spans.length, bytes: 1_000, load: async () => spans };
  };
  const console_ = await openConsole({
    api: { ...api, spans: async ({ traceId }) => kept.get(traceId), runs: runReader({ source, telemetry: noTelemetry }) },
  });
  onTestFinished(() => console_.listener.stop());
  url = console_.url;
  runs = objects(await get('/runs'), 'runs');
}

function addressOf(run: JsonObject): string {
  return `/runs/${String(run['trace_id'])}/${String(run['span_id'])}`;
}

function place(nth = 0): string {
  return addressOf(runs[nth] ?? {});
}

async function get(path: string): Promise<JsonObject> {
  const response = await fetch(`${url}/api/v1${path}`);
  const answer: unknown = await response.json();
  if (!response.ok || !isJsonObject(answer)) throw new Error(`${path}: ${response.status} ${JSON.stringify(answer)}`);
  return answer;
}

function objects(answer: JsonObject, key: string): readonly JsonObject[] {
  const list = answer[key] ?? null;
  return isJsonArray(list) ? list.filter(isJsonObject) : [];
}

test('the timeline shows what each span represents', async () => {
  await opened();
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

test('a brief timeline has the members that say something', async () => {
  await opened();
  const [whole, brief] = await Promise.all([get(`${place()}/timeline?brief=false`), get(`${place()}/timeline?brief=true`)]);
  const left = new Set(['trace_id', 'kind', 'service', 'input_tokens', 'output_tokens', 'events']);
  const wanted = objects(whole, 'spans').map((span) =>
    Object.fromEntries(Object.entries(span).filter(([key, value]) => !left.has(key) && value !== null && value !== '')),
  );
  expect(wanted.length).toBe(4);
  expect(objects(brief, 'spans')).toEqual(wanted);
  expect({ ...brief, spans: [] }).toEqual({ ...whole, spans: [] });
});

test('one span has its attributes, and what the collectors read of it', async () => {
  await opened();
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
  await opened();
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
  await opened();
  const related = await get(`${place(1)}/related`);
  const others = [runs[0], runs[2]].map((run) => run?.['trace_id']);
  expect(related).toMatchObject({ session: { id: 's-9', more: false }, task: { task: 'find an order', more: false } });
  for (const kind of ['session', 'task'])
    expect(objects(related[kind] as JsonObject, 'runs').map(({ trace_id: id }) => id)).toEqual(others);
});

test('the example that a run would make is a draft of what it did', async () => {
  await opened();
  expect(await get(`${place()}/example`)).toMatchObject({
    reason: null,
    example: { review: 'draft', expect: { tool_calls: [{ name: 'find', arguments: { order: 7 } }], output: 'Here.' } },
  });
});

test('a verdict has its threshold, and a skip names the missing data', async () => {
  await opened();
  const run = await get(place());
  expect(objects(run, 'verdicts').find(({ name }) => name === 'tool_call_validity')).toMatchObject({ passed: false, threshold: 1 });
  expect(objects(run, 'decisions')).toMatchObject([
    {
      name: 'judge',
      decision: 'skipped',
      missing: { need: 'tool_definitions', name: 'tool definitions', places: expect.arrayContaining([]) },
    },
  ]);
  expect(run['task']).toBe('find an order');
});

test('a span that is not in the trace is answered 404', async () => {
  await opened();
  const response = await fetch(`${url}/api/v1${place()}/spans/${'e'.repeat(16)}`);
  expect([response.status, await response.json()]).toMatchObject([404, { error: { message: 'The store has no such span.' } }]);
});
