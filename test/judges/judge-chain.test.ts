/** The order of what a question passes: each case shows which of the stages one question reaches. */
import { expect, test } from 'vitest';
import type { Answer, Question } from '../../evaluators/evaluator.ts';
import type { BatchingJudge } from '../../src/judges/batch/batch-client.ts';
import { answerCache } from '../../src/judges/client/answer-cache.ts';
import { questionChain, requestChain, judgeCircuitBreaker } from '../../src/judges/judge-chain.ts';
import type { JudgeSettings } from '../../src/judges/judge.ts';
import type { BudgetReservation } from '../../src/model/budget.ts';
import { manualClock } from '../../src/model/clock.ts';
import { lendNothing, type Lend } from '../../src/runtime/concurrency-limiter.ts';
import { noTelemetry } from '../../src/telemetry/telemetry.ts';

const question: Question = { id: 'q', instruction: 'Is it so?', data: [], answerSchema: { type: 'boolean' } };
const yes: Answer = { kind: 'answered', value: true, truncated: false };
const gone: Answer = { kind: 'failed', error: 'judge_unavailable: no connection' };
const clock = manualClock(1_000_000);
const parts = { telemetry: noTelemetry, clock, random: () => 0, sleep: async () => undefined };
const settings: JudgeSettings = {
  name: 'main',
  baseUrl: 'http://127.0.0.1:1',
  model: 'm',
  apiKey: '',
  concurrency: 1,
  timeoutMs: 1_000,
  cacheMs: 60_000,
};

function bench(answer: () => Answer) {
  const passed: string[] = [];
  const breaker = judgeCircuitBreaker({
    ...parts,
    sleep: () => new Promise(() => undefined),
    name: 'main',
    signal: new AbortController().signal,
  });
  const chain = questionChain({
    ...parts,
    cache: answerCache(parts),
    breaker: {
      ...breaker,
      run: (ask) => {
        passed.push('breaker');
        return breaker.run(ask);
      },
    },
    client: async (work) =>
      await work({
        ask: async (_question, _note, budget) => {
          await budget?.take({ input: 1, output: 1 });
          passed.push('client');
          return answer();
        },
      } as Partial<BatchingJudge> as BatchingJudge),
    judge: settings,
    settings: () => settings,
    reservation: () => undefined,
    newId: () => 'id',
    onBatched: () => undefined,
    onFault: (error) => {
      throw error;
    },
  });
  return { chain, passed };
}

test('judge chain: a cached answer comes before the breaker, and a question asked anew passes the cache by', async () => {
  const { chain, passed } = bench(() => yes);
  expect(await chain.ask(question, { id: 'a' })).toMatchObject({ kind: 'answered' });
  expect(await chain.ask(question, { id: 'b' })).toMatchObject({ kind: 'answered', cached: true });
  expect(passed).toEqual(['breaker', 'client']);
  expect(await chain.askAnew(question, { id: 'b' })).not.toHaveProperty('cached');
  expect(passed).toEqual(['breaker', 'client', 'breaker', 'client']);
});

test('judge chain: an open breaker comes before the client, and with it before every retry and budget', async () => {
  const { chain, passed } = bench(() => gone);
  for (let times = 0; times < 10; times++) await chain.ask(question, { id: 'a' });
  passed.length = 0;
  expect(await chain.ask(question, { id: 'a' })).toMatchObject({ kind: 'failed', error: expect.stringContaining('judge_down') as unknown });
  expect(passed).toEqual(['breaker']);
});

test('judge chain: the budget of the evaluator is given the slot of the question', async () => {
  const { chain } = bench(() => yes);
  const lent: Lend[] = [];
  const lend: Lend = (wait) => wait();
  const reservation: BudgetReservation = { take: async () => () => undefined };
  await chain.ask(question, { id: 'a', lend, budget: { batched: reservation, direct: (own) => (lent.push(own), reservation) } });
  expect(lent).toEqual([lend]);
  expect(lent[0]).not.toBe(lendNothing);
});

test('judge chain: each sending is paid for anew, by the evaluator first and by the judge last', async () => {
  const passed: string[] = [];
  const reservation = (name: string): BudgetReservation => ({
    async take() {
      passed.push(name);
      return (used) => void passed.push(`${name} ${typeof used === 'string' ? used : 'used'}`);
    },
  });
  const retry = {
    ...parts,
    attemptsMax: 2,
    onRetry: () => void passed.push('retry'),
    signal: new AbortController().signal,
    stopped: 'judge_stopped: the service is stopping',
    parseDate: Date.parse,
  };
  const request = requestChain({ retry, reservation: reservation('judge'), onDisbelief: () => undefined, onReply: () => undefined });
  let sendings = 0;
  await request({
    record: { record: async (_what, policy, work) => await work(policy, () => void passed.push('sent')) },
    what: { operation: 'chat' },
    budget: reservation('evaluator'),
    most: { input: 100, output: 100 },
    send: async () =>
      ++sendings === 1
        ? ({ kind: 'busy', error: 'judge_unavailable: status 503', retryAfter: undefined } as const)
        : ({ kind: 'text', tokens: { input: 10, output: 1 } } as const),
  });
  const paid = ['evaluator', 'judge', 'sent'];
  expect(passed).toEqual([...paid, 'judge nothing', 'evaluator nothing', 'retry', ...paid, 'judge used', 'evaluator used']);
});
