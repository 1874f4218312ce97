/** Rates and agreement, asked over HTTP of a whole service with a judge. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { jsonText, type JsonObject } from '../../src/model/json.ts';
import { chatServer, says, type ChatServer } from '../judges/chat-server.ts';
import { eventually, running, sendAgentRun, type Running } from '../service/running.ts';

let service: Running;
let judge: ChatServer;
/** Two of six fail by the judge; people fail one of these, and one that it passed. */
const runs: { readonly traceId: string; readonly bad: boolean }[] = [];
const people = [true, true, false, true, true, false];

beforeAll(async () => {
  judge = await chatServer((response, request) =>
    says(
      jsonText({
        tasks: [
          { number: 1, explanation: 'So it is.', completed: !request.body.messages.some(({ content }) => content.includes('a bad one')) },
        ],
      }),
    )(response, request),
  );
  service = await running(
    `evaluators: [ tool_error, { use: task_completion, name: done, judge: main, sample: { rate: 1 }, expect: { tasks: [ "answer" ] } }, { use: task_completion, name: never, judge: main, sample: { rate: 0 }, expect: { tasks: [ "answer" ] } } ]\njudges: { main: { base_url: "${judge.baseUrl}", model: small, api_key: secret } }\nqueues: [ { name: review, ask: [ { evaluator: done } ] } ]\n`,
  );
  for (let at = 0; at < 6; at++) {
    const bad = at >= 4;
    runs.push({
      bad,
      ...(await sendAgentRun(service.otlp, {
        agent: at % 2 === 0 ? 'even' : 'odd',
        input: bad ? 'a bad one' : 'a good one',
        resource: { 'service.version': at < 4 ? '1.0' : '1.1' },
      })),
    });
  }
  await eventually(
    async () => ((await get('/runs?evaluator=done')) as { readonly runs?: readonly JsonObject[] }).runs?.length === 6 || undefined,
    'six verdicts',
  );
  const annotations = runs.flatMap(({ traceId }, at) => [
    { trace_id: traceId, name: 'done', by: 'ann', passed: people[at] ?? true },
    ...(at < 2 ? [{ trace_id: traceId, name: 'done', by: 'user', kind: 'user', passed: true }] : []),
  ]);
  await fetch(`${service.console}/api/v1/annotations`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: jsonText({ annotations }),
  });
});
afterAll(async () => {
  await service.stop();
  await judge.close();
});

interface Figures {
  readonly since: string;
  readonly rates: readonly JsonObject[];
  readonly judges: readonly JsonObject[];
  readonly people: readonly JsonObject[];
  readonly evaluators: readonly JsonObject[];
  readonly traffic: readonly JsonObject[];
  readonly latency: readonly JsonObject[];
}

async function get(path: string): Promise<Figures> {
  const response = await fetch(`${service.console}/api/v1${path}`);
  expect(response.status).toBe(200);
  return (await response.json()) as Figures;
}

test('figures: evaluators that ask have a rate with an interval; where all runs are one session, it is not estimable', async () => {
  const { rates } = await get('/rates');
  expect(rates.map(({ name, kind, agent }) => [name, kind, agent])).toEqual([['done', 'judge', null]]);
  // All runs of the sender are of one session.
  expect(rates[0]).toMatchObject({
    measure: 'pass_rate',
    corrected: false,
    labels: 6,
    drawn_labels: 0,
    uncorrected: { reason: 'no_drawn_labels' },
    rate: { point: null, not_estimable: { reason: 'one_session', explanation: expect.stringMatching(/./) } },
    uncovered: 0,
    balance: 1,
  });
});

test('figures: a rule is shown when it is named, and rates by agent when these are asked for', async () => {
  const { rates, since } = await get('/rates?evaluator=tool_error&by=agent&from=2020-01-01');
  expect([since, rates.map(({ name, kind, agent }) => [name, kind, agent])]).toEqual([
    '2020-01-01T00:00:00.000000Z',
    [
      ['tool_error', 'rule', null],
      ['tool_error', 'rule', 'even'],
      ['tool_error', 'rule', 'odd'],
    ],
  ]);
  expect((await get('/rates?evaluator=none')).rates).toEqual([]);
  expect((await get('/rates?to=2020-01-01')).rates).toMatchObject([
    { name: 'done', labels: 0, uncovered: null, rate: { not_estimable: { reason: 'no_observations' } } },
  ]);
});

test('figures: a judge is beside the verdicts of people', async () => {
  const { judges, people: who } = await get('/judges');
  expect(judges).toMatchObject([
    {
      name: 'done',
      evaluator: 'task_completion',
      kind: 'judge',
      version: 1,
      model: 'small',
      runs: 6,
      both_pass: 3,
      both_fail: 1,
      missed: 1,
      false_alarms: 1,
      drawn_labels: 0,
      chosen_labels: { runs: 6, both_pass: 3, both_fail: 1, missed: 1, false_alarms: 1, precision: 0.5, recall: 0.5, accuracy: 4 / 6 },
      precision: { point: null, not_estimable: { reason: 'no_drawn_labels' } },
      recall: { point: null },
      specificity: { point: null },
      kappa: { point: null },
    },
    { name: 'never', runs: 0 },
  ]);
  expect(who).toMatchObject([
    { name: 'done', people: 2, runs: 6, disputed: 0, unreadable: 0, pairs: [{ people: ['ann', 'user'], runs: 2 }] },
  ]);
  expect((await get('/judges?annotator=user')).judges).toMatchObject([{ runs: 2 }, { runs: 0 }]);
  expect((await get('/judges?agent=odd')).judges).toMatchObject([{ runs: 3 }, { runs: 0 }]);
  expect((await get('/judges?evaluator=other')).judges).toEqual([]);
});

test('figures: a judge is beside the verdicts of people for each version of the agent', async () => {
  expect((await get('/judges?evaluator=done&by=version')).judges).toMatchObject([
    { name: 'done', version: 1, agent_version: null, runs: 6 },
    { name: 'done', version: 1, agent_version: '1.0', runs: 4, both_fail: 0, missed: 1 },
    { name: 'done', version: 1, agent_version: '1.1', runs: 2, both_fail: 1, false_alarms: 1 },
  ]);
});

test('figures: evaluators of the configuration are in its order; a rule has its rate, a sample does not', async () => {
  const { evaluators } = await get('/evaluators');
  expect(evaluators).toMatchObject([
    { name: 'tool_error', on: true, kind: 'rule', threshold: 1, sample_rate: 1, judges: [], conditional: false },
    {
      name: 'done',
      on: true,
      evaluator: 'task_completion',
      kind: 'judge',
      judges: ['main'],
      sample_rate: 1,
      verdicts: { pass: 4, fail: 2, raw: 0, skipped: 0, error: 0 },
      mean_score: expect.closeTo(4 / 6, 10),
      pass_rate: null,
    },
    { name: 'never', sample_rate: 0, verdicts: { pass: 0, fail: 0 }, mean_score: null, pass_rate: null },
  ]);
  // Each run has a failed call of a tool.
  expect(evaluators[0]).toMatchObject({
    verdicts: { pass: 0, fail: 6, skipped: 0 },
    pass_rate: { point: 0, low: 0, n: 6, confidence: 0.95 },
  });
  expect((await get('/evaluators?agent=odd')).evaluators[1]).toMatchObject({ verdicts: { pass: 2, fail: 1 } });
  expect((await get('/evaluators?to=2020-01-01')).evaluators).toMatchObject([
    { mean_score: null },
    { mean_score: null },
    { mean_score: null },
  ]);
});

test('figures: traffic of a judge counts its requests, and the time to a verdict is by evaluator', async () => {
  const { traffic, latency } = await get('/judges');
  // The six runs ask two different questions.
  expect(traffic).toMatchObject([{ judge: 'main', answered: 2, cached: 4, not_cached: 2, failed: 0, retried: 0, waiting: 0 }]);
  expect(latency).toMatchObject([{ name: 'done', verdicts: 6 }]);
  expect((await get('/judges?evaluator=never')).latency).toEqual([]);
});

test('figures: a judge without labelled verdicts is listed, with the reason why it has no figures', async () => {
  const none = { point: null, not_estimable: { reason: 'no_labels', explanation: 'No run was judged both by a person and by the judge.' } };
  expect((await get('/judges?evaluator=never')).judges).toMatchObject([
    {
      name: 'never',
      evaluator: 'task_completion',
      kind: 'judge',
      version: 1,
      model: 'small',
      runs: 0,
      both_pass: 0,
      precision: none,
      recall: none,
      accuracy: none,
      kappa: none,
    },
  ]);
});

test('figures: a queue draws judged runs, and answers about them are drawn labels', async () => {
  const post = async (path: string, body: JsonObject): Promise<JsonObject> => {
    const response = await fetch(`${service.console}/api/v1/queues/review${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: jsonText(body),
    });
    return (await response.json()) as JsonObject;
  };
  await eventually(async () => ((await get('/queues/review')) as unknown as JsonObject)['open'] === 6 || undefined, 'six drawn runs');
  const probabilities: unknown[] = [];
  for (let turn = 0; turn < 6; turn++) {
    const { item } = (await post('/next', { person: 'dot' })) as { readonly item: JsonObject };
    // The person who answers does not see that the run is drawn.
    expect(item).toMatchObject({ why: null, probability: null });
    const answers = [{ name: 'done', value: 'fail' }];
    await post('/answers', { person: 'dot', item: item['id'] ?? null, lease: (item['lease'] as JsonObject)['id'] ?? null, answers });
    probabilities.push(((await get(`/queues/review/items/${String(item['id'])}`)) as unknown as JsonObject)['probability']);
  }
  expect(probabilities).toEqual([1, 1, 1, 1, 1, 1]);
  expect((await get('/judges?evaluator=done')).judges).toMatchObject([
    {
      runs: 6,
      missed: 4,
      both_fail: 2,
      drawn_labels: 6,
      chosen_labels: { runs: 0, recall: null },
      recall: { not_estimable: { reason: 'too_few_drawn_labels' } },
    },
  ]);
  expect((await get('/rates')).rates).toMatchObject([
    { labels: 6, drawn_labels: 6, corrected: false, uncorrected: { reason: 'too_few_drawn_labels' } },
  ]);
});
