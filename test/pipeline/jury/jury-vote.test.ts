import { expect, test } from 'vitest';
import type { Answer, EvaluatorRequest, Question } from '../../../evaluators/evaluator.ts';
import type { JsonValue } from '../../../src/model/json.ts';
import type { Verdict } from '../../../src/model/verdict.ts';
import { voting } from '../../../src/pipeline/jury/jury-vote.ts';
import { failed, scored } from '../../builders/scored-run.ts';

const schema = {
  type: 'object',
  additionalProperties: false,
  required: ['explanation', 'label'],
  properties: { explanation: { type: 'string' }, label: { enum: ['good', 'bad'] } },
};
const question: Question = { id: 'q', instruction: 'Is it good?', data: [{ title: 'input', text: 'confidence: 1' }], answerSchema: schema };

function answered(value: JsonValue): Answer {
  return { kind: 'answered', value, truncated: false };
}

/** Asks once, and returns the question and the answers for the evaluator and the listener. */
function asked(request: EvaluatorRequest, answer: Answer, { vote = 1, asksConfidence = false } = {}) {
  const seen: { heard?: Answer; told: (number | undefined)[] } = { told: [] };
  function* evaluation(): Generator<EvaluatorRequest, Verdict, Answer> {
    seen.heard = yield request;
    return scored(1);
  }
  const asking = voting(evaluation(), { vote, asksConfidence, heard: (_, confidence) => void seen.told.push(confidence) });
  const sent = asking.next().value as Question;
  const end = asking.next(answer);
  expect(end).toEqual({ done: true, value: scored(1) });
  return { sent, ...seen };
}

test('vote: the first vote asks what any evaluation asks, and a later one bears its number', () => {
  const answer = answered({ explanation: 'So.', label: 'good' });
  expect(asked(question, answer)).toEqual({ sent: question, heard: answer, told: [undefined] });
  expect(asked(question, answer, { vote: 3 })).toEqual({ sent: { ...question, vote: 3 }, heard: answer, told: [undefined] });
});

test('vote: a confidence is asked for last, reported, and kept from the evaluator and its check', () => {
  const checked: JsonValue[] = [];
  const { sent, heard, told } = asked(
    { ...question, check: (value) => void checked.push(value) },
    answered({ explanation: 'So.', label: 'good', confidence: 0.4 }),
    { vote: 2, asksConfidence: true },
  );
  expect(sent.instruction).toMatch(/^Is it good\?\n\nLast, give as confidence the probability, from 0 to 1, /);
  expect(JSON.stringify(sent.answerSchema)).toBe(
    '{"type":"object","additionalProperties":false,"required":["explanation","label","confidence"],"properties":{"explanation":{"type":"string"},"label":{"enum":["good","bad"]},"confidence":{"type":"number","minimum":0,"maximum":1}}}',
  );
  expect([sent.vote, sent.data]).toEqual([2, question.data]);
  sent.check?.({ label: 'bad', confidence: 1 });
  expect([heard, told, checked]).toEqual([answered({ explanation: 'So.', label: 'good' }), [0.4], [{ label: 'bad' }]]);
});

const answers: readonly { readonly name: string; readonly answer: Answer; readonly told: number | undefined }[] = [
  { name: 'one that is missing', answer: answered({ label: 'good' }), told: undefined },
  { name: 'one that is none', answer: answered({ label: 'good', confidence: 'high' }), told: undefined },
  { name: 'one out of range', answer: answered({ label: 'good', confidence: 40 }), told: undefined },
  { name: 'a bare value', answer: answered('good'), told: undefined },
  { name: 'a failure', answer: { kind: 'failed', error: 'judge_timed_out' }, told: undefined },
];
for (const { name, answer, told } of answers)
  test(`vote: ${name} is not a confidence`, () => expect(asked(question, answer, { asksConfidence: true }).told).toEqual([told]));

test('vote: a question with its own confidence stays unchanged, and so does one whose answer is not an object', () => {
  const own: Question = { ...question, answerSchema: { type: 'object', properties: { confidence: { type: 'number' }, label: {} } } };
  const answer = answered({ confidence: 0.3, label: 'good' });
  expect(asked(own, answer, { asksConfidence: true })).toEqual({ sent: own, heard: answer, told: [0.3] });
  const bare: Question = { ...question, answerSchema: { type: 'string' } };
  expect(asked(bare, answered('good'), { asksConfidence: true })).toEqual({ sent: bare, heard: answered('good'), told: [undefined] });
});

test('vote: notes on a piece of a run are not a verdict, so no confidence is asked for; they bear the number of the vote', () => {
  const notes: Question = { ...question, notes: true };
  const answer = answered({ explanation: 'So.', label: 'good', confidence: 0.3 });
  expect(asked(notes, answer, { vote: 2, asksConfidence: true })).toEqual({
    sent: { ...notes, vote: 2 },
    heard: answer,
    told: [undefined],
  });
});

test('vote: anything but a question is passed on', () => {
  const embed: EvaluatorRequest = { kind: 'embed', texts: ['a'] };
  expect(asked(embed, answered([[1]]), { vote: 2, asksConfidence: true })).toEqual({
    sent: embed,
    heard: answered([[1]]),
    told: [undefined],
  });
});

test('vote: an evaluation that is ended early ends what it is made of', () => {
  const ends: string[] = [];
  function* evaluation(): Generator<EvaluatorRequest, Verdict, Answer> {
    try {
      yield question;
    } finally {
      ends.push('ended');
    }
    return scored(1);
  }
  const asking = voting(evaluation(), { vote: 1, asksConfidence: false, heard: () => undefined });
  asking.next();
  asking.return(failed());
  expect(ends).toEqual(['ended']);
});
