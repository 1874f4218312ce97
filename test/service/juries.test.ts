/** Several votes on one run, by real clients before scripted endpoints. */
import { afterEach, expect, test } from 'vitest';
import { configuredEvaluator } from '../../evaluators/configuration/configured.ts';
import { evaluators } from '../../evaluators/index.ts';
import type { JudgeConfig } from '../../src/config/config.ts';
import type { JsonObject } from '../../src/model/json.ts';
import type { AskEnd } from '../../src/pipeline/jury/judge-driver.ts';
import type { ToJudge } from '../../src/pipeline/evaluation/evaluate.ts';
import type { Panel } from '../../src/pipeline/jury/jury-panel.ts';
import { judgePool } from '../../src/service/judge-pool.ts';
import { metricRegistry } from '../../src/telemetry/registry.ts';
import { agentTrace } from '../builders/agent-trace.ts';
import { run } from '../builders/scored-run.ts';
import { chatServer, says, status, type ChatServer, type Play } from '../judges/chat-server.ts';
import { eventually } from './running.ts';

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of open.splice(0).reverse()) await stop();
});

const priced = { price: { inputPerMillion: 10_000, outputPerMillion: 100_000 }, answerTokensMax: 100 } as const;

interface Scripted extends Partial<JudgeConfig> {
  readonly plays: readonly Play[];
}

function word(label: string, confidence?: number): Play {
  return says(JSON.stringify({ explanation: `I say ${label}.`, label, ...(confidence === undefined ? {} : { confidence }) }));
}

async function court(
  judges: { readonly [name: string]: Scripted },
  options: JsonObject = { template: '{{final_response}}', labels: { good: 1, fair: 0.5, bad: 0 } },
) {
  const servers = new Map<string, ChatServer>();
  const configs: JudgeConfig[] = [];
  for (const [name, { plays, ...config }] of Object.entries(judges)) {
    const server = await chatServer(...plays);
    open.push(server.close);
    servers.set(name, server);
    configs.push({ name, baseUrl: server.baseUrl, model: `model of ${name}`, apiKey: '', concurrency: 4, timeoutMs: 60_000, ...config });
  }
  const telemetry = metricRegistry();
  const bench = judgePool(configs, telemetry);
  open.push(bench.stop);
  const result = configuredEvaluator({ use: 'custom_judge', name: 'tone', judge: 'any', options }, evaluators);
  if (result.kind === 'faulty' || result.evaluator.kind !== 'judge') throw new Error('no judge evaluator');
  const { evaluator: configured } = result;
  const points = (name: string, by: string): { readonly [label: string]: number } =>
    Object.fromEntries(
      (telemetry.snapshot().find((family) => family.name === name)?.points ?? []).map((point) => [
        by
          .split(' ')
          .map((label) => point.labels[label] ?? '')
          .join(' '),
        point.kind === 'number' ? point.value : NaN,
      ]),
    );
  return {
    bench,
    configured,
    configs,
    points,
    requests: () => Object.fromEntries([...servers].map(([name, server]) => [name, server.requests.length])),
    questions: (name: string) => servers.get(name)?.requests.map(({ body }) => body) ?? [],
    ask: (panel: Panel, response = 'Thank you.', own: Pick<ToJudge, 'budget'> = {}) =>
      new Promise<AskEnd>((resolve) => {
        bench.ask(
          run({ trace: agentTrace({ finalResponse: response }) }),
          { configured, panel, ...own, expected: {}, probability: 1 },
          resolve,
        );
      }),
  };
}

function verdictOf(end: AskEnd) {
  if (end.kind !== 'judged') throw new Error(`${end.kind}: ${end.reason}`);
  return end.verdict;
}

function juryOf(end: AskEnd): JsonObject {
  return verdictOf(end).details['jury'] as JsonObject;
}

test('juries: three judges, two of one opinion: their verdict, what each said, and the sum of what it cost', async () => {
  const to = await court({
    a: { plays: [word('good')], ...priced },
    b: { plays: [word('bad')], ...priced },
    c: { plays: [word('good')], ...priced },
  });
  const end = await to.ask({ judges: ['a', 'b', 'c'], votes: 1 });
  expect(verdictOf(end)).toMatchObject({
    kind: 'scored',
    score: 1,
    label: 'good',
    passed: true,
    explanation: 'I say good. (2 of 3 votes agree.)',
    details: { judge_called: true, model: 'model of a + model of b + model of c' },
  });
  expect(juryOf(end)).toEqual({
    decided_by: 'votes',
    votes: 3,
    answered: 3,
    agreeing: 2,
    agreement: 2 / 3,
    spread: 1,
    ballots: [
      { judge: 'a', model: 'model of a', status: 'scored', score: 1, label: 'good', passed: true, explanation: 'I say good.' },
      { judge: 'b', model: 'model of b', status: 'scored', score: 0, label: 'bad', passed: false, explanation: 'I say bad.' },
      { judge: 'c', model: 'model of c', status: 'scored', score: 1, label: 'good', passed: true, explanation: 'I say good.' },
    ],
    input_tokens: 300,
    output_tokens: 30,
    cost_usd: 6,
  });
  expect(to.points('tracejury.jury.verdicts', 'gen_ai.evaluation.name tracejury.outcome')).toEqual({ 'tone majority': 1 });
  expect(to.points('tracejury.jury.votes', 'tracejury.judge tracejury.outcome')).toEqual({ 'a agreed': 1, 'b differed': 1, 'c agreed': 1 });
  expect(to.points('tracejury.evaluation.tokens', 'tracejury.judge gen_ai.token.type')).toMatchObject({
    'a input': 100,
    'b input': 100,
    'c output': 10,
  });
});

test('juries: votes of one judge are asked one by one, with a cache too, and the cache knows each of them', async () => {
  const to = await court({ a: { plays: [word('good'), word('bad'), word('bad')], cacheMs: 60_000 } });
  const panel: Panel = { judges: ['a'], votes: 3 };
  const first = await to.ask(panel);
  expect([juryOf(first)['ballots'], to.requests()]).toMatchObject([
    [{ judge: 'a' }, { judge: 'a', vote: 2 }, { judge: 'a', vote: 3 }],
    { a: 3 },
  ]);
  expect(verdictOf(first)).toMatchObject({ label: 'bad', details: { model: 'model of a*3', jury: { agreeing: 2, input_tokens: 300 } } });
  expect(verdictOf(first).details['cached']).toBeUndefined();
  const again = await to.ask(panel);
  expect(verdictOf(again)).toMatchObject({
    label: 'bad',
    details: { cached: 3, jury: { agreeing: 2, input_tokens: 0, output_tokens: 0 } },
  });
  expect(to.requests()).toEqual({ a: 3 });
});

test('juries: two names of one model at one endpoint do not answer for one another', async () => {
  const to = await court({ a: { plays: [word('good'), word('bad')], cacheMs: 60_000, model: 'm' } });
  const [first] = to.configs;
  if (first === undefined) throw new Error('no judge');
  to.bench.prepare([first, { ...first, name: 'twin' }])();
  const end = await to.ask({ judges: ['a', 'twin'], votes: 1 });
  expect([to.requests(), juryOf(end)['ballots']]).toMatchObject([{ a: 2 }, [{ judge: 'a' }, { judge: 'twin' }]]);
  expect(verdictOf(end)).toMatchObject({
    label: 'bad',
    explanation: 'I say bad. (1 of 2 votes agree, and a tie goes to the lower score.)',
    details: { model: 'm + m', jury: { decided_by: 'tie' } },
  });
});

test('juries: a judge that gives no usable answer has no vote, and the verdict counts it', async () => {
  const to = await court({ a: { plays: [word('good')] }, b: { plays: [says('perhaps')] }, c: { plays: [word('good')] } });
  const end = await to.ask({ judges: ['a', 'b', 'c'], votes: 1 });
  expect(verdictOf(end)).toMatchObject({
    kind: 'scored',
    label: 'good',
    explanation: 'I say good. (All 2 votes agree; 1 of 3 was not given.)',
  });
  expect(juryOf(end)).toMatchObject({
    answered: 2,
    agreement: 1,
    ballots: [
      { status: 'scored' },
      { judge: 'b', status: 'failed', error: expect.stringMatching(/^judge_answer_invalid/) as string },
      { status: 'scored' },
    ],
    input_tokens: 400,
  });
  expect(Object.hasOwn(juryOf(end), 'cost_usd')).toBe(false);
  expect(to.points('tracejury.jury.votes', 'tracejury.judge tracejury.outcome')).toEqual({ 'a agreed': 1, 'b failed': 1, 'c agreed': 1 });
});

test('juries: too few votes are a failed verdict that names the judges without one', async () => {
  const to = await court({ a: { plays: [word('good')] }, b: { plays: [says('perhaps')] }, c: { plays: [status(418)] } });
  const end = await to.ask({ judges: ['a', 'b', 'c'], votes: 1, escalate: { to: 'a', onDisagreement: true } });
  expect(verdictOf(end)).toMatchObject({
    kind: 'failed',
    error: 'jury_incomplete: 1 of 3 votes were given, and 2 are needed (b: judge_answer_invalid, c: judge_unavailable)',
    details: { jury: { decided_by: 'nobody', answered: 1 } },
  });
  expect(to.points('tracejury.jury.verdicts', 'tracejury.outcome')).toEqual({ incomplete: 1 });
});

test('juries: the budget of each judge pays for its own questions, and one that is spent costs a vote, not the verdict', async () => {
  const poor = { ...priced, budget: { usdPerDay: 0.000001 } };
  const to = await court({
    a: { plays: [word('good')], ...priced, budget: { usdPerDay: 1_000_000 } },
    b: { plays: [word('bad')], ...poor },
    c: { plays: [word('good')], ...priced, budget: { usdPerDay: 1_000_000 } },
  });
  const end = await to.ask({ judges: ['a', 'b', 'c'], votes: 1 });
  expect(juryOf(end)).toMatchObject({
    answered: 2,
    agreeing: 2,
    ballots: [{ judge: 'a' }, { judge: 'b', status: 'not_asked', reason: 'usd_per_day' }, { judge: 'c' }],
    cost_usd: 4,
  });
  expect(to.requests()).toEqual({ a: 1, b: 0, c: 1 });
  expect(to.points('tracejury.judge.spent', 'tracejury.judge')).toEqual({ a: 2, b: 0, c: 2 });
  expect(await to.ask({ judges: ['a', 'b'], votes: 1 })).toEqual({ kind: 'over_budget', reason: 'usd_per_day' });
  expect(await to.ask({ judges: ['b'], votes: 3 })).toEqual({ kind: 'over_budget', reason: 'usd_per_day' });
});

test('juries: the budget of the evaluator pays for the votes of all its judges, and the rate sinks as both kinds of budgets leave it', async () => {
  const to = await court({
    a: { plays: [word('good')], budget: { requestsPerDay: 0 } },
    b: { plays: [word('good')] },
    c: { plays: [word('good')] },
  });
  const [panel, budget] = [{ judges: ['a', 'b', 'c'], votes: 1 }, { requestsPerDay: 2 }];
  const end = await to.ask({ judges: ['b', 'c'], votes: 1 }, 'Thank you.', { budget });
  expect(juryOf(end)).toMatchObject({ answered: 2 });
  expect(await to.ask({ judges: ['b', 'c'], votes: 1 }, 'Not at all.', { budget })).toEqual({
    kind: 'over_budget',
    reason: 'evaluator_requests_per_day',
  });
  expect(to.requests()).toEqual({ a: 0, b: 1, c: 1 });
  const paced = (own: Partial<ToJudge>) => to.bench.pace({ configured: to.configured, ...own });
  expect(paced({ panel })).toEqual({ left: 1, by: '' });
  expect(paced({ panel, budget })).toEqual({ left: 0, by: 'evaluator_requests_per_day' });
  expect(paced({ panel: { judges: ['a', 'b'], votes: 1 } })).toEqual({ left: 0, by: 'requests_per_day' });
});

test('juries: with most judges down the pair may wait, with one down the others decide', async () => {
  const to = await court({ a: { plays: [word('good')] }, b: { plays: [status(401)] }, c: { plays: [word('good')] } });
  // Ten failures in a row, and it rests.
  for (let nth = 1; nth <= 10; nth++) await to.ask({ judges: ['b'], votes: 1, escalate: { to: 'a', below: 0.5, onDisagreement: true } });
  expect(to.requests()).toEqual({ a: 0, b: 10, c: 0 });
  expect(juryOf(await to.ask({ judges: ['a', 'b', 'c'], votes: 1 }))).toMatchObject({
    answered: 2,
    ballots: [{ status: 'scored' }, { status: 'not_asked', reason: 'judge_down' }, { status: 'scored' }],
  });
  expect(await to.ask({ judges: ['a', 'b'], votes: 1 })).toEqual({ kind: 'overload', reason: 'judge_down' });
});

test('juries: votes that differ are passed on, and the verdict names the judge that decided and the reason', async () => {
  const to = await court({
    a: { plays: [word('good')], ...priced },
    b: { plays: [word('bad')], ...priced },
    dear: { plays: [word('fair')], ...priced },
  });
  const end = await to.ask({ judges: ['a', 'b'], votes: 1, escalate: { to: 'dear', onDisagreement: true } });
  expect(verdictOf(end)).toMatchObject({
    score: 0.5,
    label: 'fair',
    explanation: 'I say fair. (dear decided, since 1 of 2 votes agreed.)',
    details: { model: 'model of a + model of b -> model of dear' },
  });
  expect(juryOf(end)).toMatchObject({
    decided_by: 'escalation',
    agreeing: 1,
    escalation: {
      because: 'disagreement',
      judge: 'dear',
      model: 'model of dear',
      status: 'scored',
      label: 'fair',
      explanation: 'I say fair.',
    },
    input_tokens: 300,
    cost_usd: 6,
  });
  expect(to.points('tracejury.jury.verdicts', 'tracejury.outcome')).toEqual({ escalated: 1 });
  expect(to.points('tracejury.jury.votes', 'tracejury.judge tracejury.outcome')).toEqual({ 'a differed': 1, 'b differed': 1 });
  expect(to.points('tracejury.jury.escalations', 'tracejury.judge tracejury.reason tracejury.outcome')).toEqual({
    'dear disagreement decided': 1,
  });
  // The name stays when no judge has to decide.
  const agreed = await to.ask({ judges: ['a'], votes: 2, escalate: { to: 'dear', onDisagreement: true } });
  expect([
    verdictOf(agreed).details['model'],
    juryOf(agreed)['decided_by'],
    Object.hasOwn(juryOf(agreed), 'escalation'),
    to.requests(),
  ]).toEqual(['model of a*2 -> model of dear', 'votes', false, { a: 3, b: 1, dear: 1 }]);
});

test('juries: one cheap judge that is not sure is passed on, one that is sure is not', async () => {
  const to = await court({ cheap: { plays: [word('good', 0.95), word('good', 0.4)] }, dear: { plays: [word('bad', 0.9)] } });
  const panel: Panel = { judges: ['cheap'], votes: 1, escalate: { to: 'dear', below: 0.7, onDisagreement: true } };
  const sure = await to.ask(panel);
  expect([verdictOf(sure).explanation, to.requests()]).toEqual(['I say good.', { cheap: 1, dear: 0 }]);
  expect(juryOf(sure)).toMatchObject({ decided_by: 'votes', confidence: 0.95, ballots: [{ judge: 'cheap', confidence: 0.95 }] });
  const unsure = await to.ask(panel);
  expect(verdictOf(unsure)).toMatchObject({
    label: 'bad',
    explanation: 'I say bad. (dear decided, since the confidence of 0.4 was below 0.7.)',
  });
  expect(juryOf(unsure)).toMatchObject({
    confidence: 0.4,
    escalation: { because: 'low_confidence', below: 0.7, judge: 'dear', confidence: 0.9 },
  });
  expect(to.questions('cheap')[0]?.response_format?.json_schema?.schema).toMatchObject({
    required: ['explanation', 'label', 'confidence'],
  });
  expect(to.questions('cheap')[0]?.messages[1]?.content).toContain('Last, give as confidence');
});

const unheard: readonly { readonly name: string; readonly dear: Scripted; readonly told: object; readonly outcome: string }[] = [
  { name: 'answers nothing usable', dear: { plays: [says('perhaps')] }, told: { status: 'failed' }, outcome: 'failed' },
  {
    name: 'has spent its budget',
    dear: { plays: [word('bad')], ...priced, budget: { usdPerDay: 0.000001 } },
    told: { status: 'not_asked', reason: 'usd_per_day' },
    outcome: 'not_asked',
  },
];
for (const { name, dear, told, outcome } of unheard) {
  test(`juries: where the judge that was to decide ${name}, the votes do`, async () => {
    const to = await court({ a: { plays: [word('good')] }, b: { plays: [word('bad')] }, c: { plays: [word('good')] }, dear });
    const end = await to.ask({ judges: ['a', 'b', 'c'], votes: 1, escalate: { to: 'dear', onDisagreement: true } });
    expect(verdictOf(end)).toMatchObject({
      label: 'good',
      explanation: 'I say good. (dear was to decide, since 2 of 3 votes agreed, and gave no verdict.)',
      details: { jury: { decided_by: 'votes', escalation: { judge: 'dear', ...told } } },
    });
    expect(to.points('tracejury.jury.escalations', 'tracejury.outcome')).toEqual({ [outcome]: 1 });
    expect(to.points('tracejury.jury.verdicts', 'tracejury.outcome')).toEqual({ majority: 1 });
  });
}

test('juries: a jury whose judges are exchanged ends with those that it began with', async () => {
  const held: (() => void)[] = [];
  const hold =
    (label: string): Play =>
    (response, request) =>
      void held.push(() => word(label)(response, request));
  const to = await court({ a: { plays: [hold('good')] }, b: { plays: [hold('bad')] }, dear: { plays: [word('fair')] } });
  const end = to.ask({ judges: ['a', 'b'], votes: 1, escalate: { to: 'dear', onDisagreement: true } });
  await eventually(() => (held.length === 2 ? true : undefined), 'two questions');
  to.bench.prepare([])();
  for (const answer of held) answer();
  expect(verdictOf(await end)).toMatchObject({ label: 'fair', details: { model: 'model of a + model of b -> model of dear' } });
  expect(await to.ask({ judges: ['a', 'b'], votes: 1 })).toEqual({ kind: 'overload', reason: 'no_such_judge' });
});

test('juries: a stop before the last judge was asked is an end without a verdict', async () => {
  const held: (() => void)[] = [];
  const to = await court({
    a: { plays: [(response, request) => void held.push(() => word('good', 0.1)(response, request))] },
    dear: { plays: [word('fair', 1)] },
  });
  const end = to.ask({ judges: ['a'], votes: 1, escalate: { to: 'dear', below: 0.5, onDisagreement: true } });
  await eventually(() => held[0], 'a question');
  const stopped = to.bench.executor.stop(60_000);
  held[0]?.();
  expect(await end).toEqual({ kind: 'overload', reason: 'stopping' });
  await stopped;
  expect(to.requests()).toEqual({ a: 1, dear: 0 });
});

test('juries: a run that has nothing to judge is skipped, and no judge is asked', async () => {
  const to = await court({ a: { plays: [word('good')] } });
  const end = await to.ask({ judges: ['a'], votes: 3 }, '');
  expect(verdictOf(end)).toEqual({
    kind: 'skipped',
    reason: 'no_final_response',
    explanation: 'The run has nothing for {{final_response}}.',
    details: { judge_called: false },
  });
  expect([to.requests(), to.points('tracejury.jury.votes', 'tracejury.judge')]).toEqual([{ a: 0 }, {}]);
});
