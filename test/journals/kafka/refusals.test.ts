import { expect, test } from 'vitest';
import { refusalsIn, type Refusals } from '../../../src/journals/kafka/refusals.ts';
import { refusalOf, type Outcome } from '../../builders/kafka-refusals.ts';

const some = new Map<number, Outcome>([
  [0, 'taken'],
  [1, 'too_few_brokers'],
  [2, 'too_large'],
]);
const other = new Map<number, Outcome>([
  [0, 'too_few_brokers'],
  [1, 'taken'],
  [2, 'too_large'],
]);
const away = new Error('the connection is closed');

const errors: readonly { readonly name: string; readonly error: unknown; readonly want: Refusals }[] = [
  {
    name: 'one attempt',
    error: refusalOf(some),
    want: {
      isUnanswered: false,
      taken: new Set([0]),
      refused: new Map([
        [1, 'failed'],
        [2, 'too_large'],
      ]),
    },
  },
  {
    name: 'two attempts that took different partitions',
    error: refusalOf(some, other),
    want: { isUnanswered: false, taken: new Set([0, 1]), refused: new Map([[2, 'too_large']]) },
  },
  {
    name: 'an attempt without an answer at last',
    error: refusalOf(some, away),
    want: {
      isUnanswered: true,
      taken: new Set([0]),
      refused: new Map([
        [1, 'failed'],
        [2, 'too_large'],
      ]),
    },
  },
  { name: 'no answer', error: refusalOf(away), want: { isUnanswered: true, taken: new Set(), refused: new Map() } },
  { name: 'another error', error: away, want: { isUnanswered: true, taken: new Set(), refused: new Map() } },
];
for (const { name, error, want } of errors) {
  test(`refusals: ${name}`, () => {
    expect(refusalsIn(error)).toEqual(want);
  });
}
