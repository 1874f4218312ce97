import { expect, test } from 'vitest';
import { noTenant } from '../../src/model/ids.ts';
import type { JsonValue } from '../../src/model/json.ts';
import { annotationsOfAnswers, type QueueQuestion, readAnswers, responseCharsMax } from '../../src/queues/question.ts';
import { spanId } from '../builders/agent-trace.ts';
import { traceId } from '../builders/spans.ts';

const questions: readonly QueueQuestion[] = [
  { kind: 'evaluator', name: 'goal_reached' },
  { kind: 'label', name: 'tone', values: ['good', 'bad'] },
  { kind: 'score', name: 'helpful', min: 1, max: 5 },
  { kind: 'text', name: 'why' },
];
const good: readonly JsonValue[] = [
  { name: 'goal_reached', value: 'fail' },
  { name: 'tone', value: 'good' },
  { name: 'helpful', value: 4 },
];
const but = (name: string, value: JsonValue): readonly JsonValue[] => [
  ...good.filter((one) => (one as { readonly name: string }).name !== name),
  { name, value },
];

test.each<{ readonly name: string; readonly given: JsonValue; readonly want: object }>([
  { name: 'each question', given: good, want: { values: { goal_reached: 'fail', tone: 'good', helpful: 4 } } },
  { name: 'a text besides', given: but('why', 'It never asked.'), want: { values: { why: 'It never asked.' } } },
  { name: 'the least and the most of a range', given: but('helpful', 1), want: { values: { helpful: 1 } } },
  { name: 'nothing', given: [], want: { fault: { message: 'goal_reached, tone, helpful has no answer.' } } },
  { name: 'no list', given: { tone: 'good' }, want: { fault: { message: 'goal_reached, tone, helpful has no answer.' } } },
  { name: 'a number out of range', given: but('helpful', 5.1), want: { fault: { todo: 'Give a number from 1 to 5.' } } },
  { name: 'a number as a text', given: but('helpful', '4'), want: { fault: { message: 'helpful is "4", which is out of its range.' } } },
  { name: 'another label', given: but('tone', 'fine'), want: { fault: { todo: 'Give one of good, bad.' } } },
  { name: 'a label of another case', given: but('goal_reached', 'Pass'), want: { fault: { todo: 'Give one of pass, fail.' } } },
  {
    name: 'a long text',
    given: but('why', 'x'.repeat(responseCharsMax + 1)),
    want: { fault: { message: 'why is not a text, or it is too long.' } },
  },
  { name: 'an empty text', given: but('why', ''), want: { fault: { message: 'why is not a text, or it is too long.' } } },
  {
    name: 'an unrequested name',
    given: [...good, { name: 'other', value: 'x' }],
    want: { fault: { message: 'The queue asks nothing named "other".' } },
  },
  { name: 'one question twice', given: [...good, { name: 'tone', value: 'bad' }], want: { fault: { message: 'tone is answered twice.' } } },
])('readAnswers: $name', ({ given, want }) => {
  expect(readAnswers(questions, given)).toMatchObject(want);
});

test('annotationsOfAnswers: each answer is an annotation of the person, in the form that judges are compared with', () => {
  const run = { tenant: noTenant, traceId: traceId(1), spanId: spanId(2) };
  const made = annotationsOfAnswers(
    questions,
    { goal_reached: 'fail', tone: 'good', helpful: 4, why: 'It never asked.' },
    { run, person: 'ann', comment: 'Late.', at: 7 },
  );
  expect(made.map(({ name, label, score, passed, explanation }) => ({ name, label, score, passed, explanation }))).toEqual([
    { name: 'goal_reached', label: 'fail', score: undefined, passed: false, explanation: 'Late.' },
    { name: 'tone', label: 'good', score: undefined, passed: undefined, explanation: 'Late.' },
    { name: 'helpful', label: undefined, score: 0.75, passed: undefined, explanation: 'Late.' },
    { name: 'why', label: 'text', score: undefined, passed: undefined, explanation: 'It never asked.' },
  ]);
  for (const one of made) expect(one).toMatchObject({ ...run, by: 'ann', kind: 'human', at: 7 });
});

test('annotationsOfAnswers: a text that is left out makes none', () => {
  const run = { tenant: noTenant, traceId: traceId(1), spanId: spanId(2) };
  expect(annotationsOfAnswers(questions, { tone: 'bad' }, { run, person: 'ann', comment: '', at: 7 }).map(({ name }) => name)).toEqual([
    'tone',
  ]);
});
