/** Budgets in a whole service: questions within them, the others, and the answer of the API. */
import { afterEach, expect, test } from 'vitest';
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../../src/model/json.ts';
import { chatServer, says, type ChatServer } from '../judges/chat-server.ts';
import { eventually, running, sample, sendAgentRun, type Running } from './running.ts';

let service: Running;
let judge: ChatServer;
afterEach(async () => {
  await service.stop();
  await judge.close();
});

async function listed(path: string, key: string): Promise<readonly JsonObject[]> {
  const page = (await (await fetch(`${service.console}/api/v1${path}`)).json()) as JsonValue;
  const list = isJsonObject(page) ? member(page, key) : undefined;
  return isJsonArray(list) ? list.filter(isJsonObject) : [];
}

test('budgets: an evaluator and its judge have separate limits, and the API and the metrics show their state', async () => {
  judge = await chatServer(says('{"tasks":[{"number":1,"explanation":"It says so.","completed":true}]}'));
  service =
    await running(`judges: { main: { base_url: "${judge.baseUrl}", model: m, price: { input_per_million: 1, output_per_million: 1 }, budget: { usd_per_day: 1000, tokens_per_minute: 1000000 } } }
evaluators:
  - { use: task_completion, name: some, judge: main, sample: { rate: 1 }, expect: { tasks: [ another ] }, budget: { requests_per_day: 3 } }
  - { use: task_completion, name: none, judge: main, sample: { rate: 1 }, expect: { tasks: [ a ] }, budget: { requests_per_day: 0, usd_per_day: 5 } }
  - { use: task_completion, name: all, judge: main, sample: { rate: 1 }, expect: { tasks: [ a ] } }
`);
  const runs = 6;
  const traces: string[] = [];
  for (let at = 0; at < runs; at++) traces.push((await sendAgentRun(service.otlp, { input: `run ${at}` })).traceId);
  const decisions = await eventually(async () => {
    const all = (await Promise.all(traces.map((trace) => listed(`/decisions/${trace}`, 'decisions')))).flat();
    return all.length === 3 * runs ? all : undefined;
  }, 'every decision');
  const ended = (name: string, decision: string): number =>
    decisions.filter((one) => one['name'] === name && one['decision'] === decision).length;
  expect([ended('all', 'scored'), ended('none', 'over_budget')]).toEqual([runs, runs]);
  expect(decisions.filter(({ name }) => name === 'none').every(({ reason }) => reason === 'evaluator_requests_per_day')).toBe(true);
  // Their number depends on the hour: the rate sinks.
  const some = ended('some', 'scored');
  expect(some).toBeLessThanOrEqual(3);
  expect(some + ended('some', 'over_budget') + ended('some', 'sampled_out')).toBe(runs);
  expect(judge.requests).toHaveLength(runs + some);

  const cost = (110 * (runs + some)) / 1_000_000;
  expect(await listed('/judges', 'budgets')).toMatchObject([
    { judge: 'main', evaluator: null, budget: 'usd_per_day', limit: 1_000, spent: expect.closeTo(cost, 9) },
    { judge: null, evaluator: 'some', budget: 'requests_per_day', limit: 3, spent: some },
    { judge: null, evaluator: 'none', budget: 'usd_per_day', limit: 5, spent: 0, left: 5, pace: 1 },
    { judge: null, evaluator: 'none', budget: 'requests_per_day', limit: 0, spent: 0, left: 0, pace: 0 },
  ]);
  const page = await service.metrics();
  expect(sample(page, 'tracejury_judge_pace_ratio', { gen_ai_evaluation_name: 'none', tracejury_budget: 'requests_per_day' })).toBe(0);
  expect(sample(page, 'tracejury_judge_left', { tracejury_judge: 'main', tracejury_budget: 'usd_per_day' })).toBeGreaterThan(900);
});
