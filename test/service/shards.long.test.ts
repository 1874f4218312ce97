/** The service with shards answers, scores and counts as one thread does, and what it has accepted outlives shards and their number. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { gunzipSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import { writeTraces } from '../../src/otlp/write/write.ts';
import { halves } from '../builders/gen-ai-spans.ts';
import { ownRecordings } from '../recordings/read.ts';
import { serviceFolder, type ServiceFolder } from './process.ts';
import { eventually, running, sample, sendAgentRun, type Running } from './running.ts';

let folder: ServiceFolder | undefined;
afterEach(() => folder?.remove());

const traces = Array.from({ length: 12 }, (_, at) => at + 1);
const firsts = traces.flatMap((trace) => halves(trace)[0]);
const rests = traces.flatMap((trace) => halves(trace)[1]);

async function post(service: Pick<Running, 'otlp'>, body: Buffer, type = 'application/x-protobuf', path = 'traces'): Promise<Response> {
  return await fetch(`${service.otlp}/v1/${path}`, { method: 'POST', headers: { 'content-type': type }, body: new Uint8Array(body) });
}

async function runsOf(service: Pick<Running, 'console'>): Promise<readonly JsonObject[]> {
  const found: JsonObject[] = [];
  for (let cursor = ''; ;) {
    const page = (await (await fetch(`${service.console}/api/v1/runs?limit=200${cursor}`)).json()) as {
      readonly runs: readonly JsonObject[];
      readonly next: string | null;
    };
    found.push(...page.runs);
    if (page.next === null) return found;
    cursor = `&cursor=${page.next}`;
  }
}

async function allRuns(service: Pick<Running, 'console'>, count: number): Promise<readonly JsonObject[]> {
  return await eventually(async () => {
    const runs = await runsOf(service);
    return runs.length >= count ? runs : undefined;
  }, `${count} runs`);
}

test('shards: the store, the metrics and the API tell of all runs as of one service', async () => {
  const service = await running('shards: 2');
  for (let run = 0; run < 6; run++) await sendAgentRun(service.otlp, { agent: `agent-${run % 3}` });
  expect((await post(service, writeTraces([...firsts, ...rests], 'protobuf'))).status).toBe(200);
  expect((await post(service, writeTraces([...firsts, ...rests], 'json'), 'application/json')).status).toBe(200);
  expect(await allRuns(service, 18)).toHaveLength(18);
  const page = await service.metrics();
  expect(sample(page, 'tracejury_receiver_spans_total', { tracejury_outcome: 'accepted' })).toBe(18 + 72);
  expect(sample(page, 'tracejury_spans_duplicate_total')).toBe(36);
  expect(sample(page, 'tracejury_store_items_total', { tracejury_outcome: 'written' })).toBe(18);
  const refused = await post(service, Buffer.from('no protobuf'));
  expect(refused.status).toBe(400);
  const { evaluability } = (await (await fetch(`${service.console}/api/v1/evaluability`)).json()) as {
    readonly evaluability: readonly object[];
  };
  expect(evaluability.length).toBeGreaterThan(0);
  await service.stop();
});

test('shards: a shard that dies is started again and goes on with its journal, and meanwhile asks for patience', async () => {
  folder = serviceFolder();
  const threads: Worker[] = [];
  const service = await running(
    `shards: 2\nstore: { url: "sqlite:${join(folder.path, 'store.db')}" }\njournal: { url: "disk:${join(folder.path, 'journal')}" }`,
    { onShard: (thread) => threads.push(thread), closing: 'settle: 5ms, quiet: 20s' },
  );
  expect((await post(service, writeTraces(firsts, 'protobuf'))).status).toBe(200);
  const before = sample(await service.metrics(), 'tracejury_journal_records_total');
  await threads[0]?.terminate();
  const statuses = new Set<number>();
  await eventually(async () => {
    const { status } = await post(service, writeTraces(rests, 'protobuf'));
    statuses.add(status);
    return status === 200 ? true : undefined;
  }, 'the shard is back');
  expect([...statuses].filter((status) => status !== 200 && status !== 503)).toEqual([]);
  const runs = await allRuns(service, traces.length);
  expect(runs.map((run) => [run['completeness'], run['agent']])).toEqual(traces.map(() => ['complete', 'finder']));
  expect(threads).toHaveLength(3);
  expect(sample(await service.metrics(), 'tracejury_journal_records_total')).toBeGreaterThanOrEqual(before ?? Infinity);
  await service.stop();
});

test('shards: open runs go on whatever the number of shards of the next process', async () => {
  folder = serviceFolder();
  let service = undefined as Awaited<ReturnType<ServiceFolder['start']>> | undefined;
  for (const shards of [3, 2, 1]) {
    folder.configure(`shards: ${shards}`);
    await service?.end(shards === 2 ? 'SIGKILL' : 'SIGTERM');
    service = await folder.start();
    if (shards === 3) expect(await service.send(firsts)).toBe(200);
  }
  expect(await service?.runs()).toEqual([]);
  folder.configure('shards: 2');
  await service?.end('SIGKILL');
  const last = await folder.start();
  expect(await last.send(rests)).toBe(200);
  const runs = await allRuns(last, traces.length);
  expect(runs.map((run) => [run['completeness'], run['revision'], run['agent']])).toEqual(traces.map(() => ['complete', 1, 'finder']));
  await last.end('SIGTERM');
});

test('shards: a configuration that is read again holds in all shards, or in none', async () => {
  folder = serviceFolder();
  const evaluators = (use: string): string => `shards: 2\nevaluators: [ { use: ${use} } ]`;
  folder.configure(evaluators('tool_error'));
  const service = await folder.start();
  const names = async (from: number, to: number): Promise<unknown> => {
    const own = traces.slice(from, to);
    await service.send(own.flatMap((trace) => halves(trace).flat()));
    const runs = await allRuns(service, to);
    const verdicts = runs.filter((run) => own.some((trace) => run['trace_id'] === halves(trace)[1][0]?.traceId));
    return [...new Set(verdicts.flatMap((run) => (run['verdicts'] as readonly JsonObject[]).map(({ name }) => name)))];
  };
  const said = async (text: string): Promise<void> =>
    void (await eventually(() => (service.said().includes(text) ? true : undefined), text));
  expect(await names(0, 4)).toEqual(['tool_error']);
  folder.configure(evaluators('no_such_evaluator'));
  service.hangUp();
  await said('was refused');
  expect(await names(4, 8)).toEqual(['tool_error']);
  folder.configure(evaluators('loop_detection'));
  service.hangUp();
  await said('is in force');
  expect(await names(8, 12)).toEqual(['loop_detection']);
  await service.end('SIGTERM');
});

test('shards: all recordings have the same verdicts with 1, 2 and 3 shards', async () => {
  const recordings = ownRecordings();
  const verdicts = [];
  for (const shards of [1, 2, 3]) {
    const service = await running(`shards: ${shards}\nlimits: { memory_bytes: 4GiB }\nevaluators: [ defaults ]`, {
      closing: 'settle: 6s, quiet: 12s, abandon: 18s',
    });
    const sendAll = async ({ expected, folder: place }: (typeof recordings)[number]): Promise<void> => {
      for (const { file, kind, content_type: type } of expected.files) {
        if (kind !== 'traces' && kind !== 'logs') continue;
        const raw = readFileSync(join(place, file));
        const body = file.endsWith('.gz') ? gunzipSync(raw) : raw;
        await eventually(async () => {
          const { status } = await post(service, body, type, kind);
          return status === 429 || status === 503 ? undefined : status;
        }, 'an answer');
      }
    };
    const waiting = [...recordings];
    const sender = async (): Promise<void> => {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) await sendAll(next);
    };
    await Promise.all(Array.from({ length: 8 }, sender));
    let [count, looks] = [-1, 0];
    await eventually(
      async () => {
        const found = (await runsOf(service)).length;
        looks = found === count ? looks + 1 : 0;
        count = found;
        return looks > 22 ? true : undefined;
      },
      'no more runs',
      { everyMs: 1_000, looksMax: 120 },
    );
    const runs = await runsOf(service);
    verdicts.push(
      runs
        .map((run) =>
          // A run in several traces keeps the trace id that it first closed under.
          JSON.stringify([
            run['agent'],
            (run['verdicts'] as readonly JsonObject[]).map(({ name, verdict, score, reason }) => [name, verdict, score, reason]),
          ]),
        )
        .toSorted(),
    );
    await service.stop();
  }
  expect(verdicts[0]?.length).toBeGreaterThan(100);
  expect(verdicts[1]).toEqual(verdicts[0]);
  expect(verdicts[2]).toEqual(verdicts[0]);
}, 600_000);
