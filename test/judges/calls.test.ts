/** Notes about requests to a judge, against a scripted endpoint. */
import { expect, test } from 'vitest';
import type { BudgetReservation } from '../../src/model/budget.ts';
import type { JudgeCall } from '../../src/model/judge-call.ts';
import { overBudget } from '../../src/judges/budget/budgets.ts';
import { bench } from './bench.ts';
import { embeds, knows, says, status } from './chat-server.ts';

const schema = { type: 'object', additionalProperties: false, required: ['ok'], properties: { ok: { type: 'boolean' } } } as const;
const question = { id: 'q/1', instruction: 'Is it?', data: [{ title: 'text', text: 'a secret' }], answerSchema: schema };
const good = '{"ok":true}';

test('calls: a request is noted with endpoint, models, tokens and times, without any text', async () => {
  const { judge, server } = await bench([says(good)]);
  const calls: JudgeCall[] = [];
  await judge.ask(question, (call) => void calls.push(call));
  const now = Date.parse('2026-01-01T00:00:00Z');
  expect(calls).toEqual([
    {
      judge: 'main',
      operation: 'chat',
      provider: 'openai',
      server: { address: '127.0.0.1', port: Number(new URL(server.baseUrl).port) },
      model: 'm',
      question: 'q/1',
      startMs: now,
      endMs: now,
      retries: [],
      response: { id: 'c', model: 'm', finishReason: 'stop' },
      tokens: { input: 100, output: 10 },
    },
  ]);
});

const cases = [
  {
    name: 'repeats of one request are one call',
    script: [status(503), status(429), says(good)],
    want: [{ retries: ['judge_unavailable: status 503', 'judge_unavailable: status 429'] }],
  },
  {
    name: 'one that is never answered has its error',
    script: [status(503)],
    want: [{ retries: Array(4).fill('judge_unavailable: status 503'), error: 'judge_unavailable: status 503' }],
  },
  { name: 'a correction is a separate call', script: [says('maybe'), says(good)], want: [{ retries: [] }, { retries: [] }] },
  {
    name: 'so is the same in a laxer format',
    script: [knows(['tool_call', 'json_object', 'text'], good)],
    want: [{ retries: [], error: 'judge_refused_request: status 400: no such format' }, { retries: [] }],
  },
] as const;
for (const { name, script, want } of cases) {
  test(`calls: ${name}`, async () => {
    const { judge } = await bench(script);
    const calls: JudgeCall[] = [];
    await judge.ask(question, (call) => void calls.push(call));
    expect(
      calls.map(({ retries, error }) => ({ retries: retries.map((one) => one.error), ...(error === undefined ? {} : { error }) })),
    ).toEqual(want);
  });
}

test('calls: a request that is not paid for is never sent, and none is noted', async () => {
  const empty: BudgetReservation = { take: async () => overBudget('usd_per_day') };
  const { judge } = await bench([says(good)], {}, empty);
  const calls: JudgeCall[] = [];
  expect(await judge.ask(question, (call) => void calls.push(call))).toMatchObject({ kind: 'failed' });
  expect(calls).toEqual([]);
});

test('calls: the endpoint’s facts about itself are cut', async () => {
  const { judge } = await bench([
    (response) =>
      void response
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify({ id: 'x'.repeat(5_000), model: 7, choices: [{ message: { content: good } }] })),
  ]);
  const calls: JudgeCall[] = [];
  await judge.ask(question, (call) => void calls.push(call));
  expect(calls[0]?.response).toEqual({ id: 'x'.repeat(200) });
});

test('calls: texts for vectors are noted a request', async () => {
  const { judge } = await bench([embeds(() => [1, 2])]);
  const calls: JudgeCall[] = [];
  const texts = Array.from({ length: 20 }, (_, at) => `text ${at}`);
  await judge.embed({ kind: 'embed', texts }, (call) => void calls.push(call));
  expect(calls).toMatchObject([1, 2].map(() => ({ operation: 'embeddings', model: 'm', tokens: { input: 5, output: 0 } })));
  // Known by now.
  await judge.embed({ kind: 'embed', texts }, (call) => void calls.push(call));
  expect(calls).toHaveLength(2);
});
