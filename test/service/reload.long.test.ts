/** SIGHUP to the real process: a configuration takes the place of another one, and nothing is lost. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { isJsonArray, type JsonObject } from '../../src/model/json.ts';
import { agentSpan, toolSpan } from '../builders/gen-ai-spans.ts';
import { otlpSink, readCarrier, type Sink, type SinkAnswer } from '../exporters/otlp-sink.ts';
import { chatServer, says, type Play } from '../judges/chat-server.ts';
import { serviceFolder, type ServiceFolder, type ServiceProcess } from './process.ts';
import { eventually, sample } from './running.ts';

const open: { close(): Promise<void> }[] = [];
let folder: ServiceFolder;
afterEach(async () => {
  await folder.remove();
  for (const one of open.splice(0)) await one.close();
});

async function started(yaml: string): Promise<ServiceProcess> {
  folder = serviceFolder();
  folder.configure(yaml);
  return folder.start();
}

/** A run of two tool calls, one failed: `tool_error` gives it 0.5. */
async function sendRun(service: ServiceProcess, trace: number): Promise<number | undefined> {
  return service.send([
    agentSpan({
      id: 1,
      resource: { 'service.name': 'shop' },
      trace,
      start: 0,
      end: 7,
      agent: 'finder',
      input: `question ${trace}`,
      output: 'there',
    }),
    toolSpan({ id: 2, parent: 1, trace, tool: 'find', result: 'there' }),
    toolSpan({ id: 3, parent: 1, trace, tool: 'find', status: 'error' }),
  ]);
}

async function reloads(service: ServiceProcess, outcome?: string): Promise<number> {
  const page = await service.metrics();
  const outcomes = outcome === undefined ? ['applied', 'unchanged', 'refused'] : [outcome];
  return outcomes.reduce((sum, one) => sum + (sample(page, 'tracejury_config_reloads_total', { tracejury_outcome: one }) ?? 0), 0);
}

/** Puts this in force. */
async function reload(service: ServiceProcess, yaml: string): Promise<void> {
  const before = await reloads(service, 'applied');
  folder.configure(yaml);
  service.hangUp();
  await eventually(async () => ((await reloads(service, 'applied')) > before ? true : undefined), 'a configuration that is in force');
}

async function stored(service: ServiceProcess, traces: number): Promise<readonly JsonObject[]> {
  return eventually(async () => {
    const runs = await service.runs();
    return runs.length >= traces ? runs : undefined;
  }, `${traces} runs in the store`);
}

/** `name label, name label`, sorted. */
function labels({ verdicts }: JsonObject): string {
  return (isJsonArray(verdicts ?? null) ? (verdicts as readonly JsonObject[]) : [])
    .map(({ name, label }) => `${String(name)} ${String(label)}`)
    .toSorted()
    .join(', ');
}

function logged(service: ServiceProcess, message: RegExp): readonly JsonObject[] {
  return service
    .said()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as JsonObject)
    .filter(({ msg }) => message.test(String(msg)));
}

/** Four senders until `isOver`; each request must be taken. Gives the number of runs that were sent. */
function load(service: ServiceProcess, isOver: AbortSignal): Promise<{ readonly sent: number; readonly refused: number }> {
  const counts = { sent: 0, refused: 0 };
  const sender = async (): Promise<void> => {
    while (!isOver.aborted) if ((await sendRun(service, ++counts.sent)) !== 200) counts.refused++;
  };
  return Promise.all(Array.from({ length: 4 }, sender)).then(() => counts);
}

const own = (score: number): string =>
  `export const own = { kind: 'rule', id: 'own', version: 1, summary: '', needs: [], onByDefault: false, defaultThreshold: 1, defaults: {}, optionsSchema: { type: 'object' }, source: 'tests', evaluate: () => ({ kind: 'scored', score: ${score}, explanation: '', evidence: [], details: {} }) };`;

const thresholds = (threshold: number): string =>
  `evaluators: [ { use: tool_error, name: one, threshold: ${threshold} }, { use: tool_error, name: two, threshold: ${threshold} } ]`;
const old = 'one fail, two fail';
const fresh = 'one pass, two pass';

test('reload: under load every run is scored by one configuration, the old or the new, and none is lost or refused', async () => {
  const service = await started(thresholds(1));
  const isOver = new AbortController();
  const loaded = load(service, isOver.signal);
  const seen = async (wanted: string): Promise<void> =>
    void (await eventually(async () => ((await service.runs()).some((run) => labels(run) === wanted) ? true : undefined), wanted));
  await seen(old);
  await reload(service, thresholds(0.5));
  await seen(fresh);
  isOver.abort();
  const { sent, refused } = await loaded;
  expect(refused).toBe(0);
  const runs = await stored(service, sent);
  expect(runs.length).toBe(sent);
  expect(new Set(runs.map(({ trace_id }) => trace_id)).size).toBe(sent);
  expect([...new Set(runs.map(labels))].toSorted()).toEqual([old, fresh]);
  expect(new Set(runs.map(({ revision }) => revision))).toEqual(new Set([1]));
});

test('reload: a hundred signals under load end with the last state of the file', async () => {
  const service = await started(thresholds(1));
  const isOver = new AbortController();
  const loaded = load(service, isOver.signal);
  for (let at = 0; at < 100; at++) {
    folder.configure(thresholds(at % 2 === 0 ? 1 : 0.6));
    service.hangUp();
    if (at % 10 === 0) await service.metrics();
  }
  folder.configure(thresholds(0.5));
  service.hangUp();
  await eventually(async () => {
    const trace = 1_000_000 + Math.floor(performance.now() * 10);
    expect(await sendRun(service, trace)).toBe(200);
    const run = await eventually(
      async () => (await service.runs()).find(({ trace_id }) => trace_id === trace.toString(16).padStart(32, '0')),
      'the run',
    );
    return labels(run) === fresh ? true : undefined;
  }, 'a run that is scored by the last file');
  isOver.abort();
  expect((await loaded).refused).toBe(0);
  expect(await reloads(service)).toBeLessThanOrEqual(101);
  expect(await reloads(service, 'refused')).toBe(0);
});

test('reload: a faulty file changes nothing, and the log names each fault with its line, its key and what would be right', async () => {
  const service = await started(thresholds(1));
  folder.configure(`evaluators: [ { use: tool_error, threshold: 7 }, { use: tool_errror } ]\nexport: [ { to: span_events } ]`);
  service.hangUp();
  await eventually(async () => ((await reloads(service, 'refused')) === 1 ? true : undefined), 'a refusal');
  const faults = (): readonly JsonObject[] => logged(service, /has a fault and was refused/);
  await eventually(() => (faults().length === 3 ? true : undefined), 'three faults');
  expect(faults()).toMatchObject([
    {
      level: 50,
      file: expect.stringMatching(/tracejury\.yaml$/),
      line: 6,
      key: 'evaluators[0].threshold',
      problem: expect.any(String),
      todo: expect.any(String),
      faults: 3,
    },
    { line: 6, key: 'evaluators[1].use', todo: expect.stringContaining('tool_error') },
    { line: 7, key: 'export[0]', problem: 'lacks endpoint' },
  ]);
  expect(sample(await service.metrics(), 'tracejury_config_refused')).toBe(1);
  await sendRun(service, 1);
  expect((await stored(service, 1)).map(labels)).toEqual([old]);
  await reload(service, thresholds(0.5));
  expect(sample(await service.metrics(), 'tracejury_config_refused')).toBe(0);
});

test('reload: what cannot change while it runs is named in one warning, and the rest is in force', async () => {
  const service = await started(thresholds(1));
  writeFileSync(
    join(folder.path, 'tracejury.yaml'),
    `listen: { otlp_http: "127.0.0.1:1", otlp_grpc: "127.0.0.1:0", console: "127.0.0.1:0" }\nclosing: { settle: 10ms, quiet: 1s }\nlimits: { memory_bytes: 1GiB }\nstore: { url: "memory:" }\n${thresholds(0.5)}\n`,
  );
  service.hangUp();
  await eventually(async () => ((await reloads(service, 'applied')) === 1 ? true : undefined), 'a reload');
  expect([await eventually(() => logged(service, /take effect after a restart/)[0], 'a warning')]).toMatchObject([
    { level: 40, keys: ['listen.otlp_http', 'limits.memory_bytes', 'limits.journal_bytes', 'store.url', 'journal.url'] },
  ]);
  expect(sample(await service.metrics(), 'tracejury_config_waiting')).toBe(5);
  await sendRun(service, 1);
  expect((await stored(service, 1)).map(labels)).toEqual([fresh]);
  // As it was at the start: nothing waits any more.
  await reload(service, thresholds(0.6));
  expect(sample(await service.metrics(), 'tracejury_config_waiting')).toBe(0);
  expect(logged(service, /take effect after a restart/)).toHaveLength(1);
});

test('reload: a signal while it starts is heard when it is up, and one during the stop does no harm', async () => {
  folder = serviceFolder();
  const [begun, go] = [join(folder.path, 'begun'), join(folder.path, 'go')];
  // The configuration is read when this module reports that it has begun, and not before it may go on.
  writeFileSync(
    join(folder.path, 'own.mjs'),
    `import { existsSync, writeFileSync } from 'node:fs';\nwriteFileSync(${JSON.stringify(begun)}, '');\nwhile (!existsSync(${JSON.stringify(go)})) await new Promise((resolve) => setTimeout(resolve, 5));\n${own(1)}`,
  );
  folder.configure('evaluators: [ { use: ./own.mjs } ]');
  const service = await folder.start(async (hangUp) => {
    await eventually(() => (existsSync(begun) ? true : undefined), 'a configuration that is being read');
    hangUp();
    hangUp();
    writeFileSync(go, '');
  });
  await eventually(async () => ((await reloads(service)) > 0 ? true : undefined), 'a reload');
  const stopped = service.end('SIGTERM');
  service.hangUp();
  service.hangUp();
  expect(await stopped).toBe(0);
});

const to = (...sinks: readonly Sink[]): string =>
  `export: [ ${sinks.map(({ url }) => `{ to: span_events, name: at-${new URL(url).port}, endpoint: "${url}" }`).join(', ')} ]`;

function traces({ received }: Sink): readonly number[] {
  return received.map((one) => Number.parseInt(readCarrier(one).span.traceId, 16)).toSorted((a, b) => a - b);
}

async function sink(answer?: SinkAnswer): Promise<Sink> {
  const made = await otlpSink(answer);
  open.push(made);
  return made;
}

async function delivered(one: Sink, wanted: readonly number[]): Promise<void> {
  await eventually(() => (one.received.length >= wanted.length ? true : undefined), `${wanted.length} scores`);
  expect(traces(one)).toEqual(wanted);
}

test('reload: exporters come, stay and go, and each score is sent once to those that were there when it was reached', async () => {
  const [first, second, third] = [await sink(), await sink(), await sink()];
  const service = await started(to(first));
  await sendRun(service, 1);
  await delivered(first, [1]);
  await reload(service, to(first, second));
  await sendRun(service, 2);
  await delivered(first, [1, 2]);
  await delivered(second, [2]);
  await reload(service, to(third, second));
  await sendRun(service, 3);
  await delivered(second, [2, 3]);
  await delivered(third, [3]);
  expect(traces(first)).toEqual([1, 2]);
});

test('reload: what waits for an exporter that is taken out is still sent there', async () => {
  const held: (() => void)[] = [];
  let isOpen = false;
  const slow = await sink((response) => void (isOpen ? response.end() : held.push(() => response.end())));
  const other = await sink();
  const service = await started(to(slow));
  const before = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
  for (const trace of before) await sendRun(service, trace);
  await stored(service, before.length);
  await eventually(() => (held.length === 4 ? true : undefined), 'four requests under way');
  await reload(service, to(other));
  for (const trace of [11, 12, 13]) await sendRun(service, trace);
  await delivered(other, [11, 12, 13]);
  // Requests; each may hold several scores.
  expect(held).toHaveLength(4);
  isOpen = true;
  for (const answer of held) answer();
  await delivered(slow, before);
  expect(traces(other)).toEqual([11, 12, 13]);
});

test('reload: another key for the same backend is used for what waits as well', async () => {
  const backend = await otlpSink((response, at) => {
    response.statusCode = backend.received[at]?.headers['x-key'] === 'right' ? 200 : 503;
    response.end();
  });
  open.push(backend);
  const keyed = (key: string): string => `export: [ { to: span_events, endpoint: "${backend.url}", headers: { x-key: ${key} } } ]`;
  const service = await started(keyed('wrong'));
  await sendRun(service, 1);
  await eventually(() => (backend.received.length > 0 ? true : undefined), 'an attempt');
  await reload(service, keyed('right'));
  const taken = (): readonly number[] =>
    backend.received.flatMap((one) => (one.headers['x-key'] === 'right' ? [Number.parseInt(readCarrier(one).span.traceId, 16)] : []));
  await eventually(() => (taken().length > 0 ? true : undefined), 'a score with the right key');
  await sendRun(service, 2);
  await eventually(() => (taken().length > 1 ? true : undefined), 'another score');
  expect(taken()).toEqual([1, 2]);
});

test('reload: a question under way ends with the old key of the judge, and those that wait are asked with the new one', async () => {
  const answer = says('{"tasks":[{"number":1,"explanation":"It says so.","completed":true}]}');
  let release: (() => void) | undefined;
  const hold: Play = (response, request) => void (release = () => answer(response, request));
  const judge = await chatServer(hold, answer);
  open.push(judge);
  const judged = (key: string): string =>
    `evaluators: [ { use: task_completion, judge: main, sample: { rate: 1 }, expect: { tasks: [ "find it" ] } } ]\njudges: { main: { base_url: "${judge.baseUrl}", model: small, api_key: ${key}, concurrency: 1 } }`;
  const service = await started(judged('old'));
  await sendRun(service, 1);
  await eventually(() => (release === undefined ? undefined : true), 'a question under way');
  await sendRun(service, 2);
  await eventually(async () => (sample(await service.metrics(), 'tracejury_judge_queue') === 1 ? true : undefined), 'a run that waits');
  await reload(service, judged('new'));
  release?.();
  await eventually(
    async () =>
      sample(await service.metrics(), 'tracejury_evaluation_results_total', {
        gen_ai_evaluation_name: 'task_completion',
        gen_ai_evaluation_score_label: 'pass',
      }) === 2
        ? true
        : undefined,
    'two verdicts',
  );
  expect(judge.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer old', 'Bearer new']);
});

test('reload: an evaluator’s file that was changed is loaded anew, and one that breaks leaves the old one at work', async () => {
  folder = serviceFolder();
  const file = join(folder.path, 'own.mjs');
  writeFileSync(file, own(1));
  folder.configure('evaluators: [ { use: ./own.mjs } ]');
  const service = await folder.start();
  const scored = async (trace: number): Promise<string> => {
    await sendRun(service, trace);
    const run = await eventually(
      async () => (await service.runs()).find(({ trace_id }) => trace_id === trace.toString(16).padStart(32, '0')),
      'the run',
    );
    return labels(run);
  };
  expect(await scored(1)).toBe('own pass');
  writeFileSync(file, own(0));
  await reload(service, 'evaluators: [ { use: ./own.mjs } ]');
  expect(await scored(2)).toBe('own fail');
  writeFileSync(file, 'export const own = {');
  service.hangUp();
  await eventually(async () => ((await reloads(service, 'refused')) === 1 ? true : undefined), 'a refusal');
  expect(await eventually(() => logged(service, /was refused/)[0], 'a fault')).toMatchObject({
    key: 'evaluators[0].use',
    problem: expect.stringContaining('cannot be loaded'),
  });
  expect(await scored(3)).toBe('own fail');
  writeFileSync(file, own(1));
  await reload(service, 'evaluators: [ { use: ./own.mjs } ]');
  expect(await scored(4)).toBe('own pass');
});
