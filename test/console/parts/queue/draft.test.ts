import { expect, test } from 'vitest';
import {
  answersOf,
  type AskedQuestion,
  choicesOf,
  type Draft,
  emptyDraft,
  missingAnswers,
  withKey,
  withValue,
} from '../../../../src/console/parts/queue/draft.ts';

const goal: AskedQuestion = { name: 'goal', kind: 'evaluator', values: ['pass', 'fail'], min: null, max: null };
const tone: AskedQuestion = { name: 'tone', kind: 'label', values: ['good', 'bad', 'odd'], min: null, max: null };
const helpful: AskedQuestion = { name: 'helpful', kind: 'score', values: [], min: 1, max: 5 };
const share: AskedQuestion = { name: 'share', kind: 'score', values: [], min: 0, max: 1 };
const why: AskedQuestion = { name: 'why', kind: 'text', values: [], min: null, max: null };
const all = [goal, tone, why, helpful];

const pressed = (questions: readonly AskedQuestion[], ...keys: readonly string[]): Draft =>
  keys.reduce((draft, key) => withKey(questions, draft, key), emptyDraft);

test('draft: keys answer one question after the other, and leave texts out', () => {
  expect(pressed(all, '2', '1', '4')).toEqual({ values: { goal: 'fail', tone: 'good', helpful: 4 }, comment: '', at: 3 });
});

test('draft: at the last question another key changes the answer', () => {
  expect(pressed([goal], '1', '2').values).toEqual({ goal: 'fail' });
});

test.each(['3', '0', 'a', '10', 'Enter'])('draft: the key %s chooses nothing of two values', (key) => {
  expect(withKey([goal], emptyDraft, key)).toBe(emptyDraft);
});

test.each<{ readonly question: AskedQuestion; readonly want: readonly (string | number)[] }>([
  { question: goal, want: ['pass', 'fail'] },
  { question: helpful, want: [1, 2, 3, 4, 5] },
  { question: { ...helpful, min: 0, max: 8 }, want: [0, 1, 2, 3, 4, 5, 6, 7, 8] },
  { question: { ...helpful, min: 0, max: 9 }, want: [] },
  { question: share, want: [] },
  { question: { ...helpful, min: 0.5 }, want: [] },
  { question: why, want: [] },
])('choicesOf: $question.kind from $question.min to $question.max', ({ question, want }) => {
  expect(choicesOf(question)).toEqual(want);
});

test('draft: what is missing, and what is sent', () => {
  const draft = withValue(all, withValue(all, emptyDraft, { name: 'helpful', value: 9 }), { name: 'why', value: 'Late.' });
  expect(missingAnswers(all, draft)).toEqual(['goal', 'tone', 'helpful']);
  const whole = { ...pressed(all, '1', '3', '2'), comment: 'x' };
  expect(missingAnswers(all, whole)).toEqual([]);
  expect(answersOf(all, withValue(all, whole, { name: 'why', value: 'Late.' }))).toEqual([
    { name: 'goal', value: 'pass' },
    { name: 'tone', value: 'odd' },
    { name: 'why', value: 'Late.' },
    { name: 'helpful', value: 2 },
  ]);
});

test('draft: an emptied text is not an answer', () => {
  const draft = withValue(all, withValue(all, emptyDraft, { name: 'why', value: 'x' }), { name: 'why', value: '' });
  expect(draft.values).toEqual({});
});
