import { expect, test } from 'vitest';
import type { Answer, Question } from '../../../evaluators/evaluator.ts';
import type { Outcome } from '../../../src/model/verdict.ts';
import { type Ask, runJudge } from '../../../src/pipeline/jury/judge-driver.ts';

const question: Question = { id: 'q', instruction: 'Is it so?', data: [], answerSchema: { type: 'object' } };
const yes: Answer = { kind: 'answered', value: { yes: true }, truncated: false };
const scored = (score: number): Outcome => ({ kind: 'scored', score, explanation: 'so', evidence: [], details: {} });
const answers = async (): Promise<Answer> => yes;

function* asks(times: number, score = 1): Generator<Question, Outcome, Answer> {
  for (let at = 0; at < times; at++) yield question;
  return scored(score);
}

const cases: readonly {
  readonly name: string;
  readonly questions: () => Generator<Question, Outcome, Answer>;
  readonly ask: Ask;
  readonly want: object;
}[] = [
  {
    name: 'the outcome becomes the verdict, by the threshold',
    questions: () => asks(2, 0.5),
    ask: answers,
    want: { kind: 'scored', score: 0.5, passed: true, label: 'pass' },
  },
  {
    name: 'one below the threshold fails',
    questions: () => asks(1, 0.4),
    ask: answers,
    want: { kind: 'scored', passed: false, label: 'fail' },
  },
  { name: 'as many questions as allowed are asked', questions: () => asks(3), ask: answers, want: { kind: 'scored' } },
  {
    name: 'one question more is a failed verdict',
    questions: () => asks(4),
    ask: answers,
    want: { kind: 'failed', error: 'too_many_questions' },
  },
  {
    name: 'a score above 1 is a failed verdict',
    questions: () => asks(1, 1.5),
    ask: answers,
    want: { kind: 'failed', error: 'score_out_of_range' },
  },
  {
    name: 'a score that is not a number is a failed verdict',
    questions: () => asks(1, Number.NaN),
    ask: answers,
    want: { kind: 'failed', error: 'score_out_of_range' },
  },
  {
    name: 'an evaluator that throws is a failed verdict without its words',
    questions: function* broken() {
      yield question;
      throw new TypeError('secret text of the run');
    },
    ask: answers,
    want: { kind: 'failed', error: 'evaluator_fault', explanation: 'The evaluator broke off: TypeError.' },
  },
  {
    name: 'the evaluator gets a failed answer from a judge that rejects',
    questions: function* telling() {
      const answer = yield question;
      return { kind: 'failed', error: answer.kind === 'failed' ? answer.error : 'no fault', explanation: '' };
    },
    ask: async () => {
      throw new RangeError('secret');
    },
    want: { kind: 'failed', error: 'judge_fault: RangeError' },
  },
  {
    name: 'a skipped outcome stays skipped',
    questions: function* skipping() {
      return { kind: 'skipped', reason: 'no_tasks', explanation: 'There are none.' };
    },
    ask: answers,
    want: { kind: 'skipped', reason: 'no_tasks' },
  },
];

for (const { name, questions, ask, want } of cases) {
  test(`ask: ${name}`, async () => {
    expect(await runJudge(questions(), ask, { questionsMax: 3, threshold: 0.5 })).toMatchObject(want);
  });
}

test('ask: without a threshold a score neither passes nor fails', async () => {
  expect(await runJudge(asks(1, 0.2), answers, { questionsMax: 3, threshold: null })).toMatchObject({
    kind: 'scored',
    passed: null,
    label: '',
  });
});

test('ask: an evaluator that is cut short cleans up and cannot go on by asking there', async () => {
  let cleaned = 0;
  function* endless(): Generator<Question, Outcome, Answer> {
    try {
      for (;;) yield question;
    } finally {
      cleaned++;
    }
  }
  expect(await runJudge(endless(), answers, { questionsMax: 5, threshold: 1 })).toMatchObject({
    kind: 'failed',
    error: 'too_many_questions',
  });
  expect(cleaned).toBe(1);
});

test('ask: a verdict names the model that was asked last, unless its evaluator does', async () => {
  const models = ['first', 'second', undefined];
  const answered = async (): Promise<Answer> => {
    const model = models.shift();
    return { kind: 'answered', value: true, truncated: false, ...(model === undefined ? {} : { model }) };
  };
  expect(await runJudge(asks(3, 1), answered, { questionsMax: 5, threshold: 1 })).toMatchObject({ details: { model: 'second' } });
  expect((await runJudge(asks(1, 1), answered, { questionsMax: 5, threshold: 1 })).details).not.toHaveProperty('model');
});
