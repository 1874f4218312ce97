import { expect, test } from 'vitest';
import type { CandidateVerdict, QueueCandidate } from '../../src/model/store/queue-store.ts';
import { informativeOrder, priorityOf } from '../../src/queues/informative-order.ts';

const thresholds = new Map([
  ['goal', 0.5],
  ['strict', 0.8],
]);

function judged(name: string, score: number, confidence?: number): CandidateVerdict {
  const verdict = score >= (thresholds.get(name) ?? 0) ? 'pass' : 'fail';
  return { name, kind: 'judge', verdict, score, details: confidence === undefined ? {} : { confidence } };
}

const rule = (name: string, passes: boolean): CandidateVerdict => ({
  name,
  kind: 'rule',
  verdict: passes ? 'pass' : 'fail',
  score: passes ? 1 : 0,
  details: {},
});
const skipped: CandidateVerdict = { name: 'goal', kind: 'judge', verdict: 'skipped', score: undefined, details: { confidence: 0.1 } };

test.each<{ readonly name: string; readonly verdicts: readonly CandidateVerdict[]; readonly want: number }>([
  { name: 'no verdict', verdicts: [], want: 0 },
  { name: 'rules alone', verdicts: [rule('a', true), rule('b', false)], want: 0 },
  { name: 'a sure judge that agrees with the rules', verdicts: [rule('a', true), judged('goal', 1, 1)], want: 0 },
  { name: 'a sure judge that fails what the rules pass', verdicts: [rule('a', true), judged('goal', 0, 1)], want: 1 },
  { name: 'a judge that passes what one rule fails', verdicts: [rule('a', true), rule('b', false), judged('goal', 1, 1)], want: 1 },
  { name: 'one of two judges that differs', verdicts: [rule('a', true), judged('goal', 1), judged('strict', 0)], want: 0.5 },
  { name: 'a judge without rules', verdicts: [judged('goal', 0)], want: 0 },
  { name: 'the least sure of two judges', verdicts: [judged('goal', 1, 0.9), judged('strict', 1, 0.6)], want: 0.4 },
  { name: 'a score at the threshold', verdicts: [judged('goal', 0.5)], want: 1 },
  { name: 'a score half way to the end', verdicts: [judged('goal', 0.75)], want: 0.5 },
  { name: 'a score below an uneven threshold', verdicts: [judged('strict', 0.4)], want: 0.5 },
  { name: 'a score of 1 at a threshold of 1', verdicts: [{ ...judged('goal', 1), name: 'whole' }], want: 0 },
  { name: 'all three parts', verdicts: [rule('a', false), judged('goal', 0.5, 0.5)], want: 2.5 },
  { name: 'a verdict without a score, at any confidence', verdicts: [rule('a', false), skipped], want: 0 },
])('priorityOf: $name', ({ verdicts, want }) => {
  expect(priorityOf(verdicts, new Map([...thresholds, ['whole', 1]]))).toBeCloseTo(want, 10);
});

test('informativeOrder: the highest priority first, and of equal ones the item that entered first', () => {
  const candidate = (id: number, enteredAt: number, ...verdicts: CandidateVerdict[]): QueueCandidate => ({ id, enteredAt, verdicts });
  const order = informativeOrder(
    [candidate(1, 10), candidate(2, 20, judged('goal', 0.5)), candidate(3, 5), candidate(4, 30, judged('goal', 0.6)), candidate(5, 5)],
    thresholds,
  );
  expect(order).toEqual([2, 4, 3, 5, 1]);
});
