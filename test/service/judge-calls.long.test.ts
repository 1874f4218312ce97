/** Calls to judges on their way to a backend, from a whole process: they come with the score, or after it has been killed. */
import { afterEach, expect, test } from 'vitest';
import { isJsonArray, isJsonObject, type JsonObject } from '../../src/model/json.ts';
import { freePort } from '../builders/free-port.ts';
import { agentSpan } from '../builders/gen-ai-spans.ts';
import { attributes, otlpSink, readCarrier, type Sink, type SinkSpan } from '../exporters/otlp-sink.ts';
import { chatServer, says, type ChatServer } from '../judges/chat-server.ts';
import { serviceFolder, type ServiceFolder, type ServiceProcess } from './process.ts';
import { eventually, sample } from './running.ts';

let folder: ServiceFolder;
let judge: ChatServer;
let backend: Sink | undefined;
afterEach(async () => {
  await folder.remove();
  await judge.close();
  await backend?.close();
  backend = undefined;
});

const trace = (1).toString(16).padStart(32, '0');

function configure(port: number): void {
  folder.configure(`judges: { main: { base_url: "${judge.baseUrl}", model: m } }
evaluators: [ { use: task_completion, name: done, judge: main, sample: { rate: 1 }, expect: { tasks: ["find it"] } } ]
export: [ { to: span_events, endpoint: "http://127.0.0.1:${port}" } ]`);
}

async function verdictOf(service: ServiceProcess): Promise<JsonObject> {
  return await eventually(async () => {
    const [row] = await service.runs();
    if (row === undefined) return undefined;
    const body = (await (await fetch(`${service.console}/api/v1/runs/${trace}/${String(row['span_id'])}`)).json()) as JsonObject;
    const [verdict] = isJsonArray(body['verdicts'] ?? null) ? (body['verdicts'] as readonly JsonObject[]) : [];
    return verdict;
  }, 'a verdict');
}

const own = (sink: Sink): readonly SinkSpan[] =>
  sink.received.map((request) => readCarrier(request).span).filter(({ traceId }) => traceId !== trace);

test('judge calls: after a kill they reach a backend that was down, under the ids of the API, and are ignored when they come back', async () => {
  folder = serviceFolder();
  judge = await chatServer(says('{"tasks":[{"number":1,"explanation":"It says so.","completed":true}]}'));
  const port = await freePort();
  configure(port);
  const first = await folder.start();
  expect(await first.send([agentSpan({ id: 1, trace: 1, start: 0, end: 7, agent: 'finder', input: 'find it', output: 'there' })])).toBe(
    200,
  );
  const verdict = await verdictOf(first);
  expect(verdict).toMatchObject({ name: 'done', score: 1, details: { judge_requests: 1 } });
  const told = isJsonObject(verdict['judge_trace'] ?? null) ? verdict['judge_trace'] : undefined;
  await first.end('SIGKILL');

  const second = await folder.start();
  backend = await otlpSink(undefined, port);
  const sink = backend;
  await eventually(
    async () =>
      own(sink).length >= 2 && sample(await second.metrics(), 'tracejury_exporter_queue', { tracejury_exporter: 'span_events' }) === 0
        ? true
        : undefined,
    'both spans',
  );
  // No judge was asked again, so there is nothing else to report.
  expect(judge.requests).toHaveLength(1);
  const [root, call, ...more] = own(sink);
  expect([root?.name, call?.name, more]).toEqual(['judge done', 'chat m', []]);
  expect({ trace_id: root?.traceId, span_id: root?.spanId }).toEqual(told);
  expect(attributes(call?.attributes)).toMatchObject({
    'gen_ai.usage.input_tokens': 100,
    'gen_ai.evaluation.name': 'done',
    'tracejury.target.agent.name': 'finder',
  });

  const [request] = sink.received.filter((one) => readCarrier(one).span.traceId !== trace);
  if (request === undefined) throw new Error('nothing was received');
  const answer = await fetch(`${second.otlp}/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-protobuf' },
    body: new Uint8Array(request.body),
  });
  expect(answer.status).toBe(200);
  await eventually(
    async () => (sample(await second.metrics(), 'tracejury_spans_own_total') === 1 ? true : undefined),
    'a span of ours that is ignored',
  );
  expect(await second.runs()).toHaveLength(1);
});
