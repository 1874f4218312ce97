import fc from 'fast-check';
import { expect, test } from 'vitest';
import { labelledItems, type LabelOfItems } from '../../../evaluators/judging/question-judge.ts';
import type { JsonValue } from '../../../src/model/json.ts';
import type { Outcome } from '../../../src/model/verdict.ts';

const labels = { good: 1, half: 0.5, bad: 0 };

function outcomeOf(numbers: readonly number[], entries: readonly JsonValue[], scoredBy: LabelOfItems['scoredBy'] = 'share'): Outcome {
  const running = labelledItems({
    instruction: 'Judge.',
    input: [],
    labels,
    what: 'thing',
    list: 'things',
    scoredBy,
    items: numbers.map((number) => ({ number, name: `thing ${number}`, details: { number } })),
  });
  running.next();
  const { value } = running.next({ kind: 'answered', value: { things: entries }, truncated: false });
  if (value === undefined || 'instruction' in value) throw new Error('it asked again');
  return value;
}

const entry = (number: number, label: keyof typeof labels = 'good') => ({ number, explanation: 'e', label });

test('labelled items: exactly one verdict on each is a score, anything else is none', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.integer({ min: 1, max: 8 }), { minLength: 1, maxLength: 5 }),
      fc.array(fc.integer({ min: 0, max: 8 }), { maxLength: 6 }),
      (numbers, given) => {
        const isWhole =
          given.length === numbers.length && new Set(given).size === given.length && numbers.every((number) => given.includes(number));
        expect(
          outcomeOf(
            numbers,
            given.map((number) => entry(number)),
          ).kind,
        ).toBe(isWhole ? 'scored' : 'failed');
        expect(
          outcomeOf(
            numbers,
            numbers.toReversed().map((number) => entry(number)),
          ).kind,
        ).toBe('scored');
      },
    ),
  );
});

test('labelled items: the score is the exact mean, or the worst', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('good', 'half', 'bad'), { minLength: 1, maxLength: 100 }), (given) => {
      const numbers = given.map((_, at) => at + 1);
      const entries = given.map((label, at) => entry(at + 1, label));
      const halves = given.reduce((total, label) => total + labels[label] * 2, 0);
      expect(outcomeOf(numbers, entries)).toMatchObject({ kind: 'scored', score: halves / (2 * given.length) });
      const worst = given.includes('bad') ? 'bad' : given.includes('half') ? 'half' : 'good';
      expect(outcomeOf(numbers, entries, 'worst')).toMatchObject({ kind: 'scored', score: labels[worst], label: worst });
    }),
  );
});

test('labelled items: the sentence counts each bad label for itself', () => {
  expect(outcomeOf([1, 2, 3], [entry(1, 'bad'), entry(2), entry(3, 'half')])).toMatchObject({
    explanation: '1 of 3 things is bad: thing 1 (e); 1 of 3 things is half: thing 3 (e).',
  });
});

test('labelled items: the text of a judge is kept within bounds, and stays one line', () => {
  const outcome = outcomeOf([1], [{ ...entry(1, 'bad'), explanation: `It is\nbad. ${'x'.repeat(10_000)}` }]);
  expect(outcome.explanation.length).toBeLessThan(400);
  expect(outcome.explanation).not.toContain('\n');
  expect(JSON.stringify(outcome.details).length).toBeLessThan(2_000);
});
