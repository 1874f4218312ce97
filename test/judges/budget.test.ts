/** Reservations of a real client before each request, and the reported usage. */
import { expect, test } from 'vitest';
import type { Question } from '../../evaluators/evaluator.ts';
import type { JudgeSettings } from '../../src/judges/judge.ts';
import { overBudget } from '../../src/judges/budget/budgets.ts';
import type { BudgetReservation, Tokens, Used } from '../../src/model/budget.ts';
import { mutualTls, serverTls } from '../receivers/certificates.ts';
import { bench, benchAt } from './bench.ts';
import { calls, embeds, says, status, tlsChatServer, type Play } from './chat-server.ts';

const question: Question = {
  id: 'q',
  instruction: 'Is it so?',
  data: [{ title: 'Text', text: 'ü'.repeat(1_000) }],
  answerSchema: { type: 'object', required: ['yes'], properties: { yes: { type: 'boolean' } } },
};
const good = '{"yes":true}';

/** Lets this many through. */
function reservation(lets = Infinity) {
  const most: Tokens[] = [];
  const used: Used[] = [];
  const own: BudgetReservation = {
    async take(tokens) {
      if (most.length >= lets) return overBudget('usd_per_day');
      most.push(tokens);
      return (what) => void used.push(what);
    },
  };
  return { own, most, used };
}

/** A completion without the usage. */
const silent: Play = (response) => {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: good } }] }));
};
const told = { input: 100, output: 10 };

const cases: readonly {
  readonly name: string;
  readonly script: readonly Play[];
  readonly settings?: Partial<JudgeSettings>;
  readonly used: readonly Used[];
}[] = [
  { name: 'an answer has its tokens', script: [says(good)], used: [told] },
  { name: 'an answer and its correction are paid one by one', script: [says('no'), says(good)], used: [told, told] },
  { name: 'an answer without tokens counts with the most', script: [silent], used: ['unknown'] },
  {
    name: 'a refusal of the request costs nothing, and the laxer format is paid anew',
    script: [status(400), says(good)],
    used: ['nothing', told],
  },
  {
    name: 'each refused format costs nothing, those of tools as well',
    script: [status(400), status(404), status(422), says(good)],
    used: ['nothing', 'nothing', 'nothing', told],
  },
  { name: 'calls that differ have their tokens', script: [status(400), calls([good, '{}'])], used: ['nothing', told] },
  { name: 'busy endpoints cost nothing', script: [status(429), status(503), says(good)], used: ['nothing', 'nothing', told] },
  {
    name: 'the outcome of a request that timed out is unknown',
    script: [() => {}],
    settings: { timeoutMs: 50 },
    used: Array<Used>(5).fill('unknown'),
  },
  { name: 'nor of one whose connection broke', script: [(response) => void response.destroy(), says(good)], used: ['unknown', told] },
  { name: 'a refusal by the model has its tokens', script: [says(good, { finish_reason: 'content_filter' })], used: [told] },
  {
    name: 'a huge answer may have cost the most',
    script: [(response) => void response.end(Buffer.alloc(3 * 1024 * 1024, 32))],
    used: ['unknown'],
  },
];
const told1 = (prompt_tokens: unknown, completion_tokens: unknown): Play => says(good, {}, { prompt_tokens, completion_tokens });
const unbelievable: readonly (readonly [name: string, play: Play])[] = [
  ['1e300 tokens', told1(1e300, 1e300)],
  ['a million billions of tokens', told1(1e15, 10)],
  ['far more tokens than were sent', told1(100_000, 10)],
  ['far more tokens than an answer may have', told1(100, 50_000)],
  ['tokens below zero', told1(-100, 10)],
  ['half a token', told1(100.5, 10)],
  ['no tokens', told1(0, 0)],
  ['no tokens for its answer', told1(100, 0)],
  ['no tokens for what it was sent', told1(0, 10)],
  ['tokens as text', told1('1e300', '10')],
];
for (const [name, play] of unbelievable) {
  test(`budget: an answer with ${name} is taken, and costs what was reserved`, async () => {
    const money = reservation();
    const { judge, disbelieved } = await bench([play], { answerTokensMax: 500 }, money.own);
    const answer = await judge.ask(question);
    expect(answer).toMatchObject({ kind: 'answered', value: { yes: true } });
    expect({ used: money.used, tokens: answer.tokens, disbelieved: disbelieved() }).toEqual({
      used: ['unknown'],
      tokens: undefined,
      disbelieved: name === 'tokens as text' ? 0 : 1,
    });
  });
}

test('budget: a refusal with a nonsensical usage costs what was reserved', async () => {
  const money = reservation();
  const { judge } = await bench(
    [says(good, { finish_reason: 'content_filter' }, { prompt_tokens: 1e300, completion_tokens: 1 })],
    { answerTokensMax: 500 },
    money.own,
  );
  await judge.ask(question);
  expect(money.used).toEqual(['unknown']);
});

for (const { name, script, settings, used } of cases) {
  test(`budget: ${name}`, async () => {
    const money = reservation();
    const { judge, server } = await bench(script, { answerTokensMax: 500, ...settings }, money.own);
    await judge.ask(question);
    expect(money.used).toEqual(used);
    expect(server.requests).toHaveLength(used.length);
  });
}

test.each([{ name: 'without tls' }, { name: 'with another authority', tls: { ca: mutualTls.clientCa } }])(
  'budget: an endpoint that is not trusted has read nothing, so it costs nothing, $name',
  async ({ tls }) => {
    const money = reservation();
    const { judge, server } = await benchAt(await tlsChatServer(serverTls, says(good)), tls === undefined ? {} : { tls }, money.own);
    await judge.ask(question);
    expect(new Set(money.used)).toEqual(new Set(['nothing']));
    expect(server.requests).toHaveLength(0);
  },
);

test('budget: a door that is shut costs nothing', async () => {
  const money = reservation();
  const { judge, server } = await bench([says(good)], {}, money.own);
  await server.close();
  await judge.ask(question);
  expect(new Set(money.used)).toEqual(new Set(['nothing']));
});

test('budget: the most is above every byte that is sent, and as much answer as may come', async () => {
  const money = reservation();
  const { judge, server } = await bench([says(good)], { answerTokensMax: 500 }, money.own);
  await judge.ask(question);
  const [request] = server.requests;
  const bytes = request?.body.messages.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0) ?? Infinity;
  expect(bytes).toBeGreaterThan(2_000);
  expect(money.most[0]?.input).toBeGreaterThan(bytes + JSON.stringify(question.answerSchema).length);
  expect([money.most[0]?.output, request?.body.max_completion_tokens]).toEqual([500, 500]);
});

test('budget: a forced call reserves its tool and what endpoints write around it as well', async () => {
  const [plain, forced] = [reservation(), reservation()];
  await (await bench([says(good)], {}, plain.own)).judge.ask(question);
  const { judge, server } = await bench([calls([good])], { answerFormat: 'tool_call' }, forced.own);
  await judge.ask(question);
  const bytes = Buffer.byteLength(JSON.stringify(server.requests[0]?.body.tools));
  const texts = server.requests[0]?.body.messages.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0) ?? Infinity;
  expect(forced.most[0]?.input).toBeGreaterThan(texts + bytes + 530);
  expect(forced.most[0]?.input).toBeGreaterThan(plain.most[0]?.input ?? Infinity);
  expect(forced.used).toEqual([told]);
});

test('budget: what there is no budget for is not sent, also not a second time', async () => {
  const none = reservation(0);
  const { judge, server, slept } = await bench([says(good)], {}, none.own);
  expect(await judge.ask(question)).toEqual({ kind: 'failed', error: expect.stringContaining('over_budget') as string });
  expect([server.requests.length, slept]).toEqual([0, []]);
});

test('budget: a correction that there is no budget for leaves what was paid in the answer', async () => {
  const once = reservation(1);
  const { judge, server } = await bench([says('no')], {}, once.own);
  expect(await judge.ask(question)).toEqual({ kind: 'failed', error: expect.stringContaining('over_budget') as string, tokens: told });
  expect(server.requests).toHaveLength(1);
});

test('budget: vectors are paid for too', async () => {
  const money = reservation(1);
  const { judge } = await bench([embeds(() => [1, 2])], {}, money.own);
  const texts = Array.from({ length: 17 }, (_, at) => `text ${at}`);
  expect(await judge.embed({ kind: 'embed', texts })).toEqual({ kind: 'failed', error: expect.stringContaining('over_budget') as string });
  expect([money.most.length, money.used]).toEqual([1, [{ input: 5, output: 0 }]]);
});

test('budget: without a store nothing is sent', async () => {
  const { judge, server } = await bench([says(good)], {}, { take: () => Promise.reject(new Error('disk')) });
  expect(await judge.ask(question)).toEqual({ kind: 'failed', error: 'judge_fault: Error' });
  expect(server.requests).toHaveLength(0);
});
