import { expect, test } from 'vitest';
import { failingCall, faultyArguments } from '../../../../src/console/pages/issues/failing-call.ts';

const part = (index: number, tool: string, passed = false): object => ({ index, tool, passed });
const verdict = (name: string, parts: readonly object[], passed = false) => ({ name, passed, details: { parts } });
const issue = { evaluator: 'validity', tool: 'refund' };

test.each([
  { name: 'the call of the tool', verdicts: [verdict('validity', [part(0, 'find'), part(2, 'refund')])], call: 2 },
  { name: 'any call of the evaluator', verdicts: [verdict('validity', [part(1, 'find'), part(2, 'refund', true)])], call: 1 },
  { name: 'no call of another evaluator', verdicts: [verdict('other', [part(1, 'refund')])], call: undefined },
])('failingCall: $name', ({ verdicts, call }) => {
  expect(failingCall({ verdicts }, issue)).toBe(call);
});

test('failingCall: without parts the first failed call of the tool', () => {
  const first = { call: 1, tool: 'find', later: [{ call: 4, tool: 'refund' }] };
  expect(failingCall({ verdicts: [], first_failure: first }, issue)).toBe(4);
  expect(failingCall({ verdicts: [], first_failure: first }, { ...issue, tool: null })).toBeUndefined();
  expect(failingCall({ verdicts: [], first_failure: null }, issue)).toBeUndefined();
});

test('faultyArguments: each argument of the call that a verdict names, once', () => {
  const problems = [
    { parameter: 'amount', message: '/amount must be number' },
    { parameter: 'amount', message: '/amount must be >= 0' },
    { parameter: 'items.0.id', message: '/items/0 must have the member id' },
  ];
  const details = {
    calls: [
      { index: 1, problems },
      { index: 2, problems: [{ parameter: 'order', message: 'x' }] },
    ],
  };
  expect(faultyArguments([{ name: 'validity', details }], 1, { amount: 'all', items: [{}] })).toEqual(['/amount', '/items/0/id']);
  expect(faultyArguments([{ name: 'validity', details: {} }], 1, { amount: 'all' })).toEqual([]);
});
