/** Traces that belong to one run come to different replicas: the verdicts are those of one process, and a death on the way loses and doubles nothing. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { collectors } from '../../../collectors/index.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, objectsAt } from '../../../src/model/json.ts';
import { type Attributed, type Span, spanWith } from '../../../src/model/span.ts';
import { regathering } from '../../../src/pipeline/gathering/regathered-runs.ts';
import { noTelemetry } from '../../../src/telemetry/telemetry.ts';
import { modelSpan } from '../../builders/gen-ai-spans.ts';
import { kafkaBroker } from '../../builders/kafka.ts';
import { emptyPostgres } from '../../builders/postgres.ts';
import { attributed } from '../../builders/spans.ts';
import { contentsOf, ownRecordings } from '../../recordings/read.ts';
import { serviceFolder, type ServiceProcess } from '../../service/process.ts';
import { eventually, sample } from '../../service/running.ts';

interface Started extends ServiceProcess {
  restart(): Promise<Started>;
}

/** Starts a process: over separate files, or as a replica. Recordings of years ago are kept. */
async function started(over: { readonly store: string; readonly journal: string } | undefined, quiet = '1s'): Promise<Started> {
  const folder = serviceFolder();
  onTestFinished(() => folder.remove());
  const { store, journal } = over ?? { store: `sqlite:${folder.path}/store.db`, journal: `disk:${folder.path}/journal` };
  writeFileSync(
    join(folder.path, 'tracejury.yaml'),
    `listen: { otlp_http: "127.0.0.1:0", otlp_grpc: "127.0.0.1:0", console: "127.0.0.1:0" }
closing: { settle: 10ms, quiet: ${quiet} }
store: { url: "${store}", keep: { runs: 3650d } }
journal: { url: "${journal}" }
`,
  );
  const start = async (): Promise<Started> => ({ ...(await folder.start()), restart: start });
  return await start();
}

async function cluster(replicas: number, partitions: number, quiet?: string): Promise<readonly [Started, Started, ...Started[]]> {
  const broker = await kafkaBroker();
  const topic = await broker.topic(partitions);
  const over = { store: await emptyPostgres(), journal: `kafka://${broker.address}/${topic}?group=${topic}` };
  const [first, second] = [await started(over, quiet), await started(over, quiet)];
  const more: Started[] = [];
  for (let count = 2; count < replicas; count++) more.push(await started(over, quiet));
  return [first, second, ...more];
}

/** Spans of the recordings in which traces may hold parts of one run. */
function joinedRecordings(): readonly (readonly Span[])[] {
  const read = regathering({ collectors, telemetry: noTelemetry });
  return ownRecordings()
    .map(contentsOf)
    .filter(({ spans, records }) => records.length === 0 && new Set(spans.map(({ traceId }) => traceId)).size > 1)
    .filter((contents) => read.whole(contents).left.size > 0)
    .map(({ spans }, at) => spans.map((span) => spanWith(span, { resource: ofService(span.resource, at) })));
}

/** Recordings of one SDK share the names of their sessions, and turns of one session share their tools. */
function ofService(resource: Attributed, number: number): Attributed {
  const attributes = resource.attributeKeys().map((key) => [key, resource.attribute(key) ?? null] as const);
  return attributed({ ...Object.fromEntries(attributes), 'service.name': `service ${number}` });
}

/** The content of verdicts, without times. */
function content(value: JsonValue): JsonValue {
  if (isJsonArray(value)) return value.map(content);
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([name]) => !/(^|_)(at|ms|us|revision)$/.test(name));
  return Object.fromEntries(kept.map(([name, own]) => [name, content(own ?? null)]));
}

const named = (run: JsonObject): string => `${String(run['trace_id'])}/${String(run['span_id'])}`;

/** A definition in a later turn completes an earlier one that is still held, which depends on time: the texts about definitions are left out. */
function withoutDefinitions(verdict: JsonValue): JsonValue {
  if (!isJsonObject(verdict) || verdict['name'] !== 'tool_call_validity') return verdict;
  const { explanation: _explanation, details: _details, ...own } = verdict;
  return own;
}

/** The verdicts of each run. Its name depends on the part that closed first, so names are left out. */
async function verdicts(from: ServiceProcess): Promise<readonly string[]> {
  const found = await Promise.all(
    (await from.runs()).map(async (run) => {
      const answer = (await (await fetch(`${from.console}/api/v1/runs/${named(run)}`)).json()) as JsonObject;
      const own = objectsAt(answer, 'verdicts').map(withoutDefinitions);
      return JSON.stringify(content([run['agent'] ?? null, run['completeness'] ?? null, own]));
    }),
  );
  return found.sort();
}

async function sent(spans: readonly Span[], to: () => readonly ServiceProcess[], first = 0): Promise<void> {
  for (let attempt = first; attempt < first + 600; attempt++) {
    const all = to();
    if ((await all[attempt % all.length]?.send(spans)) === 200) return;
    await wait(50);
  }
  throw new Error('no replica has acknowledged a request');
}

const looks = { everyMs: 1_000, looksMax: 120 };

test.each([2, 3])('kafka: runs over several traces have the verdicts of one process with %i replicas', async (count) => {
  // A part that comes later than this is a separate run.
  const quiet = '4s';
  const [alone, replicas] = [await started(undefined, quiet), await cluster(count, 5, quiet)];
  const recordings = joinedRecordings();
  expect(recordings.length).toBeGreaterThan(20);
  for (const [at, spans] of recordings.entries()) {
    await sent(spans, () => [alone]);
    await sent(spans, () => replicas, at);
  }
  let [one, many]: readonly (readonly string[])[] = [[], []];
  const areEqual = async (): Promise<true | undefined> => {
    [one, many] = [await verdicts(alone), await verdicts(replicas[0])];
    return many.length >= recordings.length && JSON.stringify(one) === JSON.stringify(many) ? true : undefined;
  };
  await eventually(areEqual, 'equal verdicts', looks).catch(() => undefined);
  expect(many).toEqual(one);
  const handedOver = await Promise.all(
    replicas.map(async (replica) => sample(await replica.metrics(), 'tracejury_traces_handed_over_total')),
  );
  expect(handedOver.reduce<number>((sum, value) => sum + (value ?? 0), 0)).toBeGreaterThan(10);
});

/** A run of two requests, each in a separate trace: the second has the result of the call of the first. */
function requests(run: number, begun: number): readonly [readonly Span[], readonly Span[]] {
  const call = { id: `call-${run}`, name: 'find', arguments: '{"x":1}' };
  const asked = { role: 'assistant', parts: [{ type: 'tool_call', ...call }] };
  return [
    [modelSpan({ id: run * 2, trace: run * 2, start: begun + 1, end: begun + 2, user: `where is ${run}?`, asks: [call] })],
    [
      modelSpan({
        id: run * 2 + 1,
        trace: run * 2 + 1,
        start: begun + 3,
        end: begun + 4,
        user: `where is ${run}?`,
        history: [asked],
        told: [{ id: call.id, response: 'there' }],
        says: 'there',
      }),
    ],
  ];
}

test.each([0, 1])('kafka: runs over several traces are stored once and whole when replica %i is killed meanwhile', async (killed) => {
  // The first part of a run stays open until the second has come, however long the partitions take to find an owner.
  const replicas = await cluster(2, 6, '120s');
  let all: readonly Started[] = replicas;
  let [run, isOver] = [0, false];
  // The store deletes runs by their start.
  const begun = Date.now();
  const agents = [0, 1, 2, 3].map(async (agent) => {
    while (!isOver) {
      const [first, second] = requests(++run, begun);
      await sent(first, () => all, agent);
      await sent(second, () => all, agent + 1);
      await wait(20);
    }
  });
  await wait(2_000);
  const victim = replicas[killed] ?? replicas[0];
  all = replicas.filter((one) => one !== victim);
  await victim.end('SIGKILL');
  await wait(500);
  all = [...all, await victim.restart()];
  await wait(12_000);
  isOver = true;
  await Promise.all(agents);
  const [survivor] = all;
  if (survivor === undefined) throw new Error('there is no replica');
  let found: readonly JsonObject[] = [];
  const isWhole = async (): Promise<true | undefined> => {
    found = await survivor.runs();
    return found.length === run && found.every(({ completeness }) => completeness === 'complete') ? true : undefined;
  };
  await eventually(isWhole, 'all runs', looks).catch(() => undefined);
  const runs = found.map(({ trace_id: id }) => Math.floor(parseInt(String(id), 16) / 2));
  expect(runs.sort((a, b) => a - b)).toEqual(Array.from({ length: run }, (_, at) => at + 1));
  expect(found.filter(({ completeness }) => completeness !== 'complete')).toEqual([]);
});
