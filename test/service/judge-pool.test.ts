/** Judges that are exchanged while runs wait for them, against an endpoint on loopback. */
import { afterEach, expect, test } from 'vitest';
import { configuredEvaluator } from '../../evaluators/configuration/configured.ts';
import { evaluators } from '../../evaluators/index.ts';
import type { JudgeConfig } from '../../src/config/config.ts';
import type { PlannedEvaluator, ToJudge } from '../../src/pipeline/evaluation/evaluate.ts';
import type { AskEnd } from '../../src/pipeline/jury/judge-driver.ts';
import { judgeOfQueueKey, judgePool, judgesOfQueueKey, type Payer, questionsOf, queueKeyOf } from '../../src/service/judge-pool.ts';
import { noTelemetry } from '../../src/telemetry/telemetry.ts';
import { agentTrace } from '../builders/agent-trace.ts';
import { run } from '../builders/scored-run.ts';
import { chatServer, type ChatServer, type Play, says, status } from '../judges/chat-server.ts';
import { eventually } from './running.ts';

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of open.splice(0).reverse()) await stop();
});

const answer = says('{"tasks":[{"number":1,"explanation":"It says so.","completed":true}]}');

async function host(judges: (baseUrl: string) => readonly JudgeConfig[], script: readonly Play[] = []) {
  const held: (() => void)[] = [];
  const hold: Play = (response, request) => void held.push(() => answer(response, request));
  const server: ChatServer = await chatServer(...(script.length === 0 ? [hold] : script));
  open.push(server.close);
  const bench = judgePool(judges(server.baseUrl), noTelemetry);
  open.push(bench.stop);
  const result = configuredEvaluator({ use: 'task_completion', judge: 'main', expect: { tasks: ['find it'] } }, evaluators);
  if (result.kind === 'faulty' || result.evaluator.kind === 'rule') throw new Error('no judge evaluator');
  const { evaluator: configured } = result;
  const ends: AskEnd[] = [];
  return {
    bench,
    ends,
    judge: (config: Partial<JudgeConfig>): JudgeConfig => ({ ...judges(server.baseUrl)[0], ...config }) as JudgeConfig,
    ask: (work: Partial<ToJudge> = {}) =>
      bench.ask(
        run({ trace: agentTrace({ input: 'find it', finalResponse: 'there' }) }),
        { configured, judge: 'main', expected: {}, probability: 1, ...work },
        (end) => ends.push(end),
      ),
    configured,
    models: () => server.requests.map(({ body }) => body.model),
    asked: (times: number) => eventually(() => (server.requests.length >= times ? true : undefined), `${times} questions`),
    async answerAll(times: number) {
      await eventually(() => {
        for (const one of held.splice(0)) one();
        return ends.length >= times ? true : undefined;
      }, `${times} ends`);
    },
  };
}

const main = (baseUrl: string): JudgeConfig => ({ name: 'main', baseUrl, model: 'old', apiKey: '', concurrency: 1, timeoutMs: 60_000 });

test('judge bench: with another model, what waits is asked of the old one, and neither waits for the other', async () => {
  const to = await host((baseUrl) => [main(baseUrl)]);
  to.ask();
  to.ask();
  await to.asked(1);
  to.bench.prepare([to.judge({ model: 'new' })])();
  to.ask();
  await to.asked(2);
  expect(to.models()).toEqual(['old', 'new']);
  await to.answerAll(3);
  expect(to.models()).toEqual(['old', 'new', 'old']);
  expect(to.ends).toMatchObject(Array.from({ length: 3 }, () => ({ kind: 'judged', verdict: { kind: 'scored', score: 1 } })));
});

test('judge bench: more places for the same judge count for the next run', async () => {
  const to = await host((baseUrl) => [main(baseUrl)]);
  to.ask();
  await to.asked(1);
  to.bench.prepare([to.judge({ concurrency: 3 })])();
  to.ask();
  to.ask();
  await to.asked(3);
  await to.answerAll(3);
  expect(to.ends).toHaveLength(3);
});

test('judge bench: a judge that is taken away answers what it was asked, and takes nothing new', async () => {
  const to = await host((baseUrl) => [main(baseUrl)]);
  to.ask();
  await to.asked(1);
  to.bench.prepare([])();
  to.ask();
  expect(to.ends).toEqual([{ kind: 'overload', reason: 'no_such_judge' }]);
  await to.answerAll(2);
  expect(to.ends[1]).toMatchObject({ kind: 'judged', verdict: { kind: 'scored' } });
});

test('judge bench: beyond a number of judges that leave, the first of them is given up and the others go on', async () => {
  const to = await host((baseUrl) => [main(baseUrl)]);
  for (let nth = 1; nth <= 17; nth++) {
    to.ask();
    await to.asked(nth);
    to.bench.prepare([to.judge({ model: `model ${nth}` })])();
  }
  await eventually(() => to.ends[0], 'an end');
  expect(to.ends).toMatchObject([{ kind: 'judged', verdict: { kind: 'failed', error: expect.stringContaining('judge_stopped') } }]);
  await to.answerAll(17);
  expect(to.ends.slice(1)).toMatchObject(Array.from({ length: 16 }, () => ({ verdict: { kind: 'scored' } })));
});

test('judge bench: a judge that does not answer gets a rest, and is asked at once when its key changes', async () => {
  const to = await host((baseUrl) => [main(baseUrl)], [...Array<Play>(10).fill(status(401)), answer]);
  for (let nth = 1; nth <= 10; nth++) {
    to.ask();
    await eventually(() => (to.ends.length === nth ? true : undefined), 'an end');
  }
  expect(to.ends.at(-1)).toMatchObject({
    kind: 'judged',
    verdict: { kind: 'failed', error: expect.stringContaining('judge_unavailable') },
  });
  to.ask();
  await eventually(() => to.ends[10], 'an end');
  expect([to.ends[10], to.models().length, to.bench.places('main')]).toEqual([{ kind: 'overload', reason: 'judge_down' }, 10, 0]);
  to.bench.prepare([to.judge({ apiKey: 'new' })])();
  to.ask();
  await eventually(() => to.ends[11], 'an end');
  expect([to.ends[11], to.bench.places('main')]).toMatchObject([{ kind: 'judged', verdict: { kind: 'scored' } }, 1]);
});

test('judge bench: a question that waits for the minute of its evaluator holds up no other, and ends with the judge', async () => {
  const to = await host((baseUrl) => [main(baseUrl)]);
  const budget = { requestsPerMinute: 1 };
  to.ask({ budget });
  await to.asked(1);
  await to.answerAll(1);
  for (let times = 0; times < 3; times++) to.ask({ budget });
  to.ask();
  await to.asked(2);
  await to.answerAll(2);
  expect(to.ends).toMatchObject([
    { kind: 'judged', verdict: { kind: 'scored' } },
    { kind: 'judged', verdict: { kind: 'scored' } },
  ]);
  await to.bench.stop();
  await eventually(() => (to.ends.length >= 3 ? true : undefined), 'the end of what waited');
  expect(to.ends[2]).toMatchObject({ kind: 'judged', verdict: { kind: 'failed', error: expect.stringContaining('judge_stopped') } });
});

test('judge bench: an evaluator with a budget of nothing asks nothing, and its rate is nothing; the others go on', async () => {
  const to = await host((baseUrl) => [main(baseUrl)]);
  const budget = { tokensPerDay: 0 };
  expect([
    to.bench.pace({ configured: to.configured, judge: 'main', budget }),
    to.bench.pace({ configured: to.configured, judge: 'main' }),
  ]).toEqual([
    { left: 0, by: 'evaluator_tokens_per_day' },
    { left: 1, by: '' },
  ]);
  to.ask({ budget });
  await eventually(() => to.ends[0], 'an end');
  expect(to.ends).toEqual([{ kind: 'over_budget', reason: 'evaluator_tokens_per_day' }]);
  to.ask();
  await to.asked(1);
  await to.answerAll(2);
  expect(to.bench.budgets([{ configured: to.configured, judge: 'main', budget }])).toMatchObject([
    { judge: undefined, evaluator: 'task_completion', limit: 'tokens_per_day', most: 0, spent: 0, share: 0 },
  ]);
});

// Where pairs wait for judges, and how many questions they are.

function planned(name: string, asked: Partial<PlannedEvaluator>): PlannedEvaluator {
  const result = configuredEvaluator({ use: 'task_completion', name, judge: 'main', expect: { tasks: ['find it'] } }, evaluators);
  if (result.kind === 'faulty') throw new Error('no evaluator');
  return { configured: result.evaluator, sampleRate: 1, ...asked };
}

const budget = { usdPerDay: 1 };
const plan = [
  planned('plain', { judge: 'main' }),
  planned('thrifty', { judge: 'main', budget }),
  planned('thrice', { panel: { judges: ['main'], votes: 3 } }),
  planned('careful', { panel: { judges: ['main'], votes: 2 }, budget }),
  planned('several', { panel: { judges: ['main', 'other'], votes: 2 }, budget }),
];

test('judge parties: an evaluator with a budget waits in a separate line, and so does one with several judges', () => {
  expect(plan.map(queueKeyOf)).toEqual(['main', 'main thrifty', 'main', 'main careful', 'jury:several']);
  expect(plan.slice(0, 4).map((one) => judgeOfQueueKey(queueKeyOf(one)))).toEqual(['main', 'main', 'main', 'main']);
});

test('judge parties: in a line of votes all that may be asked count, in another one its judge', () => {
  const passing = planned('passing', { panel: { judges: ['main', 'other'], votes: 1, escalate: { to: 'dear', onDisagreement: true } } });
  expect(
    ['main', 'main thrifty', 'jury:several', 'jury:passing', 'jury:gone'].map((party) => judgesOfQueueKey(party, [...plan, passing])),
  ).toEqual([['main'], ['main'], ['main', 'other'], ['main', 'other', 'dear'], ['jury:gone']]);
});

const lines: readonly { readonly party: string; readonly payer: Payer; readonly want: number }[] = [
  { party: 'main', payer: { of: 'judge', name: 'main' }, want: 3 },
  { party: 'main', payer: { of: 'judge', name: 'other' }, want: 0 },
  { party: 'main thrifty', payer: { of: 'judge', name: 'main' }, want: 1 },
  { party: 'main thrifty', payer: { of: 'evaluator', name: 'thrifty' }, want: 1 },
  { party: 'main thrifty', payer: { of: 'evaluator', name: 'main' }, want: 0 },
  { party: 'main careful', payer: { of: 'evaluator', name: 'careful' }, want: 2 },
  { party: 'jury:several', payer: { of: 'judge', name: 'other' }, want: 2 },
  { party: 'jury:several', payer: { of: 'evaluator', name: 'several' }, want: 4 },
  { party: 'jury:gone', payer: { of: 'judge', name: 'main' }, want: 0 },
];
for (const { party, payer, want } of lines)
  test(`judge parties: a pair of ${party} is ${want} questions at the cost of ${payer.of} ${payer.name}`, () =>
    expect(questionsOf(party, payer, plan)).toBe(want));
