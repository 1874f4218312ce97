/** The same question is asked once, and anything that is another question anew. */
import { expect, test } from 'vitest';
import type { Answer, Question } from '../../../evaluators/evaluator.ts';
import { answerCache, type AnswerCache, type AnswerCacheOptions } from '../../../src/judges/client/answer-cache.ts';
import { manualClock } from '../../../src/model/clock.ts';
import type { JudgeAnswerStore } from '../../../src/model/store/judge-store.ts';
import { memoryStore } from '../../builders/memory-store.ts';
import { metricRegistry } from '../../../src/telemetry/registry.ts';
import { settled } from '../../builders/manual-sleep.ts';

const question: Question = {
  id: 'q',
  instruction: 'Is it so?',
  data: [{ title: 'A', text: 'b' }],
  answerSchema: { type: 'object', required: ['yes'] },
};
type Who = Parameters<AnswerCache['answer']>[0];
const judge: Who = { name: 'main', baseUrl: 'http://a/v1', model: 'm', cacheMs: 60_000 };
const yes: Answer = { kind: 'answered', value: { yes: true }, truncated: false, tokens: { input: 7, output: 2 } };

function bench({
  store,
  mayLie,
  ...options
}: Partial<AnswerCacheOptions> & { readonly store?: JudgeAnswerStore; readonly mayLie?: (text: string) => boolean } = {}) {
  const clock = manualClock(1_000_000_000_000);
  const telemetry = metricRegistry();
  const faults: unknown[] = [];
  const cache = answerCache({ telemetry, clock, onFault: (error) => faults.push(error), ...options });
  if (store !== undefined) cache.open(store, mayLie);
  let times = 0;
  const counts = () =>
    Object.fromEntries(
      telemetry
        .snapshot()
        .find(({ name }) => name === 'tracejury.judge.answers')
        ?.points.map((point) => [point.labels['tracejury.outcome'] ?? '', point.kind === 'number' ? point.value : 0] as const) ?? [],
    );
  return {
    clock,
    faults,
    counts,
    asked: () => times,
    ask: (of: Question = question, who: Parameters<typeof cache.answer>[0] = judge, answer: Answer | Promise<Answer> = yes) =>
      cache.answer(who, of, async () => {
        times++;
        return await answer;
      }),
  };
}

test('answer cache: the same question costs nothing the second time, and the answer is marked so', async () => {
  const { ask, asked, counts } = bench();
  expect(await ask()).toEqual(yes);
  expect(await ask({ ...question, data: [{ title: 'A', text: 'b' }], answerSchema: { required: ['yes'], type: 'object' } })).toEqual({
    kind: 'answered',
    value: { yes: true },
    truncated: false,
    cached: true,
  });
  expect([asked(), counts()]).toEqual([1, { asked: 1, cached: 1 }]);
});

const others: readonly { readonly name: string; readonly question?: Partial<Question>; readonly who?: Partial<Who> }[] = [
  { name: 'of another evaluator', question: { id: 'r' } },
  { name: 'with another instruction', question: { instruction: 'Is it not so?' } },
  { name: 'about another text', question: { data: [{ title: 'A', text: 'c' }] } },
  { name: 'whose texts are cut elsewhere', question: { data: [{ title: 'Ab', text: '' }] } },
  {
    name: 'about one text more',
    question: {
      data: [
        { title: 'A', text: 'b' },
        { title: '', text: '' },
      ],
    },
  },
  { name: 'with another schema', question: { answerSchema: { type: 'object' } } },
  { name: 'that is another vote', question: { vote: 2 } },
  { name: 'to another model', who: { model: 'n' } },
  { name: 'to another endpoint', who: { baseUrl: 'http://b/v1' } },
  { name: 'in another answer format', who: { answerFormat: 'tool_call' } },
];
for (const { name, question: of, who } of others) {
  test(`answer cache: a question ${name} is another one`, async () => {
    const { ask, asked } = bench();
    await ask();
    await ask({ ...question, ...of }, { ...judge, ...who });
    expect(asked()).toBe(2);
  });
}

test('answer cache: a judge of the same model under another name has the same answers', async () => {
  const { ask, asked } = bench();
  await ask();
  await ask(question, { ...judge, name: 'second' });
  expect(asked()).toBe(1);
});

test('answer cache: an answer that is too old is asked for anew, and so is everything where nothing is to be kept', async () => {
  const { ask, asked, clock } = bench();
  await ask();
  clock.advance(60_000);
  await ask();
  expect(asked()).toBe(1);
  clock.advance(1);
  await ask();
  await ask(question, { ...judge, cacheMs: 0 });
  await ask(question, { name: 'main', baseUrl: judge.baseUrl, model: 'm' });
  expect(asked()).toBe(4);
});

test('answer cache: a failure is not kept, nor an answer that a check finds fault with', async () => {
  const { ask, asked } = bench();
  await ask(question, judge, { kind: 'failed', error: 'judge_timed_out: no' });
  const strict: Question = { ...question, check: () => 'one verdict is missing' };
  await ask(strict);
  expect(await ask(strict)).toEqual(yes);
  await ask();
  expect(asked()).toBe(4);
  await ask(strict);
  expect(asked()).toBe(5);
});

test('answer cache: the same question under way is waited for, and asked again when it fails', async () => {
  const { ask, asked } = bench();
  let answer: (answer: Answer) => void = () => undefined;
  const first = ask(question, judge, new Promise<Answer>((resolve) => (answer = resolve)));
  const second = ask();
  await settled();
  expect(asked()).toBe(1);
  answer(yes);
  expect([(await first).kind, await second]).toEqual([
    'answered',
    { kind: 'answered', value: { yes: true }, truncated: false, cached: true },
  ]);
  const broken: Question = { ...question, id: 'broken' };
  const third = ask(broken, judge, new Promise<Answer>((resolve) => (answer = resolve)));
  const fourth = ask(broken);
  await settled();
  answer({ kind: 'failed', error: 'judge_stopped: x' });
  expect([(await third).kind, await fourth, asked()]).toEqual(['failed', yes, 3]);
});

test('answer cache: beyond its bounds what was not used for longest goes', async () => {
  const { ask, asked } = bench({ entriesMax: 2 });
  const nth = (number: number): Question => ({ ...question, id: `q${number}` });
  for (const number of [1, 2, 1, 3]) await ask(nth(number));
  expect(asked()).toBe(3);
  await ask(nth(1));
  expect(asked()).toBe(3);
  await ask(nth(2));
  expect(asked()).toBe(4);
});

test('answer cache: by length too, and a huge answer is not kept at all', async () => {
  const { ask, asked } = bench({ charsMax: 100 });
  const long: Answer = { kind: 'answered', value: 'x'.repeat(60), truncated: true };
  await ask(question, judge, long);
  await ask({ ...question, id: 'r' }, judge, long);
  expect(await ask({ ...question, id: 'r' })).toEqual({ ...long, cached: true });
  await ask();
  await ask({ ...question, id: 's' }, judge, { ...long, value: 'x'.repeat(70_000) });
  await ask({ ...question, id: 's' });
  expect(asked()).toBe(5);
});

test('answer cache: what another process was answered is in the store', async () => {
  const store = (await memoryStore()).judgeAnswers;
  const [one, other] = [bench({ store }), bench({ store })];
  await one.ask();
  expect(await other.ask()).toMatchObject({ cached: true });
  expect(other.asked()).toBe(0);
});

test('answer cache: a store that fails, or holds nonsense, costs a question and nothing else', async () => {
  const down: JudgeAnswerStore = {
    find: () => Promise.reject(new Error('disk')),
    keep: () => Promise.reject(new Error('disk')),
    prune: async () => undefined,
  };
  const to = bench({ store: down });
  expect(await to.ask()).toEqual(yes);
  expect([(await to.ask()).kind, to.asked(), to.faults.length]).toEqual(['answered', 1, 2]);
  const odd = bench({ store: { ...(await memoryStore()).judgeAnswers, find: async (key) => ({ key, value: '[', answeredAt: 1e18 }) } });
  expect(await odd.ask()).toEqual(yes);
});

for (const { name, value } of [
  { name: 'a text', value: { explanation: 'of a secret' } },
  { name: 'a text deep in it', value: { tasks: [{ number: 1, explanation: 'a secret' }] } },
  { name: 'the name of a member', value: { 'a secret': 1 } },
]) {
  test(`answer cache: an answer with ${name} that may not be in the store is held in memory only`, async () => {
    const store = (await memoryStore()).judgeAnswers;
    const mayLie = (text: string): boolean => !text.includes('secret');
    const [one, other] = [bench({ store, mayLie }), bench({ store, mayLie })];
    const answer: Answer = { kind: 'answered', value, truncated: false };
    await one.ask(question, judge, answer);
    expect([(await one.ask()).kind, one.asked()]).toEqual(['answered', 1]);
    await other.ask();
    expect(other.asked()).toBe(1);
  });
}
