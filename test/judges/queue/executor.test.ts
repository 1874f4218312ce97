import { expect, test } from 'vitest';
import type { Answer, Question } from '../../../evaluators/evaluator.ts';
import { type JudgeEnd, type JudgeJob, judgeExecutor, type JudgeExecutorOptions } from '../../../src/judges/queue/executor.ts';
import { scriptedJudge } from '../../../src/judges/scripted.ts';
import type { Judge } from '../../../src/judges/judge.ts';
import { overBudget, withReservation } from '../../../src/judges/budget/budgets.ts';
import { askOf, type Ask } from '../../../src/pipeline/jury/judge-driver.ts';
import type { Lend } from '../../../src/runtime/concurrency-limiter.ts';
import { tenant } from '../../../src/model/ids.ts';
import type { Outcome } from '../../../src/model/verdict.ts';
import { metricRegistry } from '../../../src/telemetry/registry.ts';
import { manualSleep, settled } from '../../builders/manual-sleep.ts';

const question: Question = { id: 'q', instruction: 'Is it so?', data: [], answerSchema: { type: 'object' } };
const yes: Answer = { kind: 'answered', value: { yes: true }, truncated: false, tokens: { input: 7, output: 2 } };

function* asks(): Generator<Question, Outcome, Answer> {
  const answer = yield question;
  if (answer.kind === 'failed') return { kind: 'failed', error: answer.error, explanation: 'No answer.' };
  return { kind: 'scored', score: 1, explanation: 'Yes.', evidence: [], details: {} };
}

/** A judge that answers when the test lets it. */
function slowJudge(name: string) {
  const pending: ((answer: Answer) => void)[] = [];
  const judge: Judge = {
    name,
    model: 'm',
    ask: () => new Promise((resolve) => pending.push(resolve)),
    embed: async () => ({ kind: 'failed', error: 'no vectors' }),
    stop: async () => {},
  };
  return {
    judge,
    asking: () => pending.length,
    async answer(answer: Answer = yes) {
      pending.shift()?.(answer);
      await settled();
    },
  };
}

function bench({ concurrency = 2, ...options }: Partial<JudgeExecutorOptions> & { readonly concurrency?: number } = {}) {
  const telemetry = metricRegistry();
  const sleep = manualSleep();
  const lane = judgeExecutor({ telemetry, sleep: sleep.sleep, ...options });
  const ends: string[] = [];
  const job = (judge: Judge, label = 'e', members: Partial<JudgeJob> = {}): JudgeJob => ({
    name: label,
    agent: 'travel',
    key: {
      name: judge.name,
      concurrency,
      judge: judge.name,
      model: judge.model,
      price: { inputPerMillion: 1_000_000, outputPerMillion: 2_000_000 },
      answer: askOf(judge),
    },
    threshold: 0.5,
    questions: asks,
    done: (end: JudgeEnd) => void ends.push(`${label}:${end.kind === 'judged' ? end.verdict.kind : end.reason}`),
    ...members,
  });
  const points = (name: string) => telemetry.snapshot().find((family) => family.name === name)?.points ?? [];
  return {
    lane,
    sleep,
    ends,
    job,
    points,
    waiting: () => points('tracejury.judge.queue').map((point) => (point.kind === 'number' ? point.value : 0))[0],
  };
}

test('lane: a job is asked and ends with its verdict; tokens are counted by evaluator and model', async () => {
  const { lane, ends, job, points } = bench();
  const judge = scriptedJudge({ q: [yes] });
  lane.offer(job(judge));
  await settled();
  lane.offer(job(judge, 'f'));
  await settled();
  expect(ends).toEqual(['e:scored', 'f:failed']);
  expect(judge.asked).toHaveLength(2);
  expect(
    points('tracejury.evaluation.tokens').map((point) => ({ ...point.labels, value: point.kind === 'number' ? point.value : 0 })),
  ).toEqual([
    {
      'gen_ai.evaluation.name': 'e',
      'tracejury.judge': 'scripted',
      'gen_ai.agent.name': 'travel',
      'gen_ai.token.type': 'input',
      'gen_ai.request.model': 'scripted',
      value: 7,
    },
    {
      'gen_ai.evaluation.name': 'e',
      'tracejury.judge': 'scripted',
      'gen_ai.agent.name': 'travel',
      'gen_ai.token.type': 'output',
      'gen_ai.request.model': 'scripted',
      value: 2,
    },
  ]);
  expect(points('tracejury.evaluation.cost').map((point) => (point.kind === 'number' ? point.value : 0))).toEqual([11]);
});

test('lane: only the one that answers for a job replaces its queue key, and an answer of a batch costs the price of the batch', async () => {
  const { lane, ends, job, points } = bench();
  const judge = scriptedJudge({});
  const own = job(judge);
  lane.offer({
    ...own,
    answer: () => async () => ({ ...yes, batched: true }),
    key: { ...own.key, batchPrice: { inputPerMillion: 500_000, outputPerMillion: 1_000_000 } },
  });
  await settled();
  lane.offer({ ...job(judge, 'f'), answer: () => async () => ({ ...yes, batched: true }) });
  await settled();
  expect([ends, judge.asked]).toEqual([['e:scored', 'f:scored'], []]);
  expect(
    points('tracejury.evaluation.cost').map((point) => [point.labels['gen_ai.evaluation.name'], point.kind === 'number' ? point.value : 0]),
  ).toEqual([
    ['e', 5.5],
    ['f', 11],
  ]);
});

test('lane: where there is no budget for a question, the job ends so, with any evaluator, and nothing more is asked', async () => {
  const { lane, ends, job } = bench();
  const over = await withReservation(
    { take: async () => overBudget('usd_per_day') },
    { input: 1, output: 0 },
    async () => ({ kind: 'answered' }) as const,
  );
  const judge = scriptedJudge({ q: (asked) => (asked.instruction === 'second' ? yes : (over as Answer)) });
  function* twice(): Generator<Question, Outcome, Answer> {
    yield question;
    yield { ...question, instruction: 'second' };
    return { kind: 'scored', score: 1, explanation: 'The rules alone.', evidence: [], details: {} };
  }
  lane.offer(job(judge, 'e', { questions: twice }));
  await settled();
  expect([ends, judge.asked.length]).toEqual([['e:usd_per_day'], 1]);
});

test('lane: a verdict counts its cached answers and its tokens', async () => {
  const telemetry = metricRegistry();
  const lane = judgeExecutor({ telemetry, sleep: manualSleep().sleep });
  const verdicts: unknown[] = [];
  for (const answers of [
    [yes, yes],
    [{ ...yes, cached: true }, yes],
  ] as const) {
    const judge = scriptedJudge({ q: answers });
    function* twice(): Generator<Question, Outcome, Answer> {
      yield question;
      yield question;
      return { kind: 'scored', score: 1, explanation: 'Yes.', evidence: [], details: { own: true } };
    }
    lane.offer({
      name: 'e',
      key: { name: 'm', concurrency: 1, answer: askOf(judge) },
      threshold: null,
      questions: twice,
      done: (end) => verdicts.push(end.kind === 'judged' && end.verdict.details),
    });
    await settled();
  }
  // Both questions of each cost seven tokens and two.
  const used = { judge_tokens: { input: 14, output: 4 } };
  expect(verdicts).toEqual([
    { own: true, ...used },
    { own: true, cached: 1, ...used },
  ]);
});

test.each([
  { what: 'what its tokens cost', batched: false as const, price: { inputPerMillion: 1, outputPerMillion: 2 }, usd: 0.000_011 },
  { what: 'what batched tokens cost', batched: true as const, price: { inputPerMillion: 1, outputPerMillion: 2 }, usd: 0.000_005_5 },
  { what: 'no cost without a price', batched: false as const, price: undefined, usd: undefined },
])('lane: a verdict has $what', async ({ batched, price, usd }) => {
  const lane = judgeExecutor({ telemetry: metricRegistry(), sleep: manualSleep().sleep });
  const judge = scriptedJudge({ q: [{ ...yes, ...(batched ? { batched } : {}) }] });
  const costs: unknown[] = [];
  lane.offer({
    name: 'e',
    key: {
      name: 'm',
      concurrency: 1,
      answer: askOf(judge),
      price,
      batchPrice: price && { inputPerMillion: price.inputPerMillion / 2, outputPerMillion: price.outputPerMillion / 2 },
    },
    threshold: null,
    *questions() {
      yield question;
      return { kind: 'scored', score: 1, explanation: 'Yes.', evidence: [], details: {} };
    },
    done: (end) => costs.push(end.kind === 'judged' ? end.verdict.details['judge_cost_usd'] : end),
  });
  await settled();
  // Seven tokens and two.
  expect(costs).toEqual([usd]);
});

test('lane: the explanation of a verdict names the judge that did not answer, and no judge where the evaluator failed', async () => {
  const { lane, job } = bench();
  const explanations: string[] = [];
  const done = (end: JudgeEnd): void => void explanations.push(end.kind === 'judged' ? end.verdict.explanation : end.reason);
  const judge = scriptedJudge({ q: [{ kind: 'failed', error: 'judge_unavailable: status 401' }] }, 'main');
  const broken = (): Generator<Question, Outcome, Answer> => {
    throw new Error('x');
  };
  lane.offer(job(judge, 'e', { done }));
  lane.offer(job(judge, 'broken', { questions: broken, done }));
  await settled();
  expect(explanations.toSorted()).toEqual(['Judge main: No answer.', 'The evaluator broke off: Error.']);
});

test('lane: each judge works on a bounded number at a time, and a slow one holds up no other', async () => {
  const { lane, ends, job, waiting } = bench();
  const [slow, fast] = [slowJudge('slow'), slowJudge('fast')];
  for (const label of ['a', 'b', 'c']) lane.offer(job(slow.judge, label));
  lane.offer(job(fast.judge, 'd'));
  await settled();
  expect([slow.asking(), fast.asking(), waiting()]).toEqual([2, 1, 1]);
  await fast.answer();
  expect(ends).toEqual(['d:scored']);
  await slow.answer();
  expect([slow.asking(), waiting()]).toEqual([2, 0]);
  await slow.answer();
  await slow.answer();
  expect(ends).toEqual(['d:scored', 'a:scored', 'b:scored', 'c:scored']);
});

test('lane: a job that waits for something else than its judge lends its slot, and is the next to have one', async () => {
  const { lane, ends, job } = bench({ concurrency: 1 });
  const slow = slowJudge('slow');
  const batch = Promise.withResolvers<Answer>();
  const waits = (lend: Lend): Ask => {
    return async () => {
      await lend(() => batch.promise);
      return await slow.judge.ask(question);
    };
  };
  lane.offer(job(slow.judge, 'batched', { answer: waits }));
  for (const label of ['a', 'b']) lane.offer(job(slow.judge, label));
  await settled();
  expect(slow.asking()).toBe(1);
  batch.resolve(yes);
  await settled();
  expect(slow.asking()).toBe(1);
  for (let times = 0; times < 3; times++) await slow.answer();
  expect(ends).toEqual(['a:scored', 'batched:scored', 'b:scored']);
});

test('lane: jobs that lent their slots count as waiting beyond the room of their judge', async () => {
  const { lane, ends, job } = bench({ waitingMax: 1, concurrency: 1 });
  const judge = scriptedJudge({ q: [yes] });
  const waits = (lend: Lend): Ask => {
    return async () => await lend(() => new Promise<Answer>(() => undefined));
  };
  const offer = (label: string, room: number): void => {
    const own = job(judge, label, { answer: waits });
    lane.offer({ ...own, key: { ...own.key, room } });
  };
  for (const label of ['a', 'b', 'c', 'd']) offer(label, 2);
  await settled();
  expect(ends).toEqual(['d:queue_full']);
});

test('lane: at the limit a job ends as overload, and what waits is kept', async () => {
  const { lane, ends, job } = bench({ waitingMax: 1, concurrency: 1 });
  const slow = slowJudge('slow');
  for (const label of ['a', 'b', 'c']) lane.offer(job(slow.judge, label));
  expect(ends).toEqual(['c:queue_full']);
  await slow.answer();
  await slow.answer();
  expect(ends).toEqual(['c:queue_full', 'a:scored', 'b:scored']);
});

test('lane: at the limit a flood of one tenant leaves another one its share', async () => {
  const { lane, ends, job } = bench({ waitingMax: 4, concurrency: 1 });
  const slow = slowJudge('slow');
  for (let at = 0; at < 10; at++) lane.offer(job(slow.judge, 'flood', { tenant: tenant('flood') }));
  for (const label of ['a', 'b', 'c']) lane.offer(job(slow.judge, label, { tenant: tenant('other') }));
  expect(ends).toEqual([...Array.from({ length: 5 }, () => 'flood:queue_full'), 'c:queue_full']);
  for (let at = 0; at < 7; at++) await slow.answer();
  expect(ends.slice(6)).toEqual([...Array.from({ length: 5 }, () => 'flood:scored'), 'a:scored', 'b:scored']);
});

test('lane: an idle judge takes a job although another judge has filled the queue', async () => {
  const { lane, ends, job } = bench({ waitingMax: 1, concurrency: 1 });
  const slow = slowJudge('slow');
  for (const label of ['a', 'b']) lane.offer(job(slow.judge, label));
  lane.offer(job(scriptedJudge({ q: [yes] }, 'idle'), 'c'));
  await settled();
  expect(ends).toEqual(['c:scored']);
});

test('lane: an evaluator that throws or asks without end is a failed verdict, and the lane goes on', async () => {
  const { lane, ends, job } = bench({ concurrency: 1, questionsMax: 3 });
  const judge = scriptedJudge({ q: () => yes });
  const broken = (): Generator<Question, Outcome, Answer> => {
    throw new Error('x');
  };
  function* endless(): Generator<Question, Outcome, Answer> {
    for (;;) yield question;
  }
  lane.offer(job(judge, 'broken', { questions: broken }));
  lane.offer(job(judge, 'endless', { questions: endless }));
  lane.offer(job(judge, 'fine'));
  await settled();
  expect(ends).toEqual(['broken:failed', 'endless:failed', 'fine:scored']);
});

test('lane: stop finishes what is there and refuses what comes', async () => {
  const { lane, ends, job, sleep } = bench({ concurrency: 1 });
  const slow = slowJudge('slow');
  for (const label of ['a', 'b']) lane.offer(job(slow.judge, label));
  const stop = lane.stop(1000);
  expect(lane.stop(1)).toBe(stop);
  lane.offer(job(slow.judge, 'c'));
  await slow.answer();
  await slow.answer();
  await stop;
  expect(ends).toEqual(['c:stopping', 'a:scored', 'b:scored']);
  expect(sleep.asleep()).toBe(0);
});

test('lane: at the deadline of a stop the rest ends as overload, each job once', async () => {
  const { lane, ends, job, sleep, waiting } = bench({ concurrency: 1 });
  const slow = slowJudge('slow');
  for (const label of ['a', 'b', 'c']) lane.offer(job(slow.judge, label));
  const stop = lane.stop(1000);
  expect(sleep.slept).toEqual([1000]);
  await sleep.wakeAll();
  await stop;
  await slow.answer();
  expect(ends).toEqual(['a:stopping', 'b:stopping', 'c:stopping']);
  expect([slow.asking(), waiting()]).toEqual([0, 0]);
});
