/** A whole process with a judge that takes its questions together, killed while they are at the endpoint: the next one has the answers, and nothing is asked twice. */
import { afterEach, expect, test } from 'vitest';
import { isJsonArray, type JsonObject } from '../../src/model/json.ts';
import { agentSpan } from '../builders/gen-ai-spans.ts';
import { answerLine, batchServer, type BatchServer } from '../judges/batch-server.ts';
import { says } from '../judges/chat-server.ts';
import { serviceFolder, type ServiceFolder, type ServiceProcess } from './process.ts';
import { eventually, sample } from './running.ts';

let folder: ServiceFolder;
let judge: BatchServer;
afterEach(async () => {
  await folder.remove();
  await judge.close();
});

const runs = 12;
const answer = '{"tasks":[{"number":1,"explanation":"It says so.","completed":true}]}';
const trace = (nth: number): string => nth.toString(16).padStart(32, '0');

async function decisions(service: ServiceProcess): Promise<readonly string[]> {
  const pages = await Promise.all(
    Array.from(
      { length: runs },
      async (_, at) => (await (await fetch(`${service.console}/api/v1/decisions/${trace(at + 1)}`)).json()) as JsonObject,
    ),
  );
  return pages
    .flatMap((page) => (isJsonArray(page['decisions'] ?? null) ? (page['decisions'] as readonly JsonObject[]) : []))
    .map(({ decision }) => String(decision));
}

async function start(): Promise<ServiceProcess> {
  folder.configure(`judges:
  main: { base_url: "${judge.baseUrl}", model: m, mode: batch, cache: 0s, price: { input_per_million: 1000, output_per_million: 1000 }, batch: { poll: 1s, gather: 1s, requests: 5, in_flight: 4, price: { input_per_million: 500, output_per_million: 500 } } }
evaluators: [ { use: task_completion, name: done, judge: main, sample: { rate: 1 }, expect: { tasks: ["find it"] } } ]`);
  return await folder.start();
}

async function answerAll(service: ServiceProcess): Promise<readonly string[]> {
  return await eventually(async () => {
    for (const batch of judge.batches)
      if (batch.status === 'validating')
        judge.finish(batch, { output: batch.lines.map(({ custom_id: id }) => answerLine(id, answer)).join('\n') });
    const ends = await decisions(service);
    return ends.length >= runs ? ends : undefined;
  }, 'every decision');
}

test('judge batches: killed while all questions are at the endpoint, the next process has the answers, and every pair ends once', async () => {
  folder = serviceFolder();
  judge = await batchServer(says(answer));
  const first = await start();
  for (let nth = 1; nth <= runs; nth++)
    expect(
      await first.send([agentSpan({ id: 1, trace: nth, start: 0, end: 7, agent: 'finder', input: `find number ${nth}`, output: 'there' })]),
    ).toBe(200);
  const asked = (): number => judge.batches.reduce((sum, { lines }) => sum + lines.length, 0);
  await eventually(() => (asked() === runs ? true : undefined), 'all questions at the endpoint');
  await eventually(
    async () => (sample(await first.metrics(), 'tracejury_judge_batch_waiting', { tracejury_judge: 'main' }) === runs ? true : undefined),
    'all of them waited for',
  );
  expect(judge.batches.every(({ lines }) => lines.length <= 5)).toBe(true);
  await first.end('SIGKILL');

  const second = await start();
  expect(await answerAll(second)).toEqual(Array<string>(runs).fill('scored'));
  expect([asked(), judge.direct]).toEqual([runs, []]);
  await eventually(
    async () => (sample(await second.metrics(), 'tracejury_judge_jobs_waiting', { tracejury_judge: 'main' }) === 0 ? true : undefined),
    'an empty queue',
  );
});

test('judge batches: a stop does not wait for them, and tokens cost what they cost in a batch', async () => {
  folder = serviceFolder();
  judge = await batchServer(says(answer));
  const first = await start();
  for (let nth = 1; nth <= runs; nth++)
    expect(
      await first.send([agentSpan({ id: 1, trace: nth, start: 0, end: 7, agent: 'finder', input: `find number ${nth}`, output: 'there' })]),
    ).toBe(200);
  await eventually(() => (judge.batches.length >= 3 ? true : undefined), 'batches');
  expect(await first.end('SIGTERM')).toBe(0);
  expect(first.said()).not.toMatch(/"level":50/);

  const second = await start();
  expect(await answerAll(second)).toEqual(Array<string>(runs).fill('scored'));
  expect(judge.direct).toEqual([]);
  // 77 tokens each, at 500 dollars a million.
  await eventually(
    async () =>
      Math.abs(
        (sample(await second.metrics(), 'tracejury_evaluation_cost_total', { gen_ai_evaluation_name: 'done' }) ?? 0) - runs * 77 * 0.0005,
      ) < 1e-9
        ? true
        : undefined,
    'the cost',
  );
});
