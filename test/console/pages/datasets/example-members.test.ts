import { expect, test } from 'vitest';
import {
  expectationText,
  hasInexactNumber,
  inputText,
  memberDifferences,
  membersOf,
} from '../../../../src/console/pages/datasets/example-members.ts';

test('members: the expectation stands member by member, and facts about the example do not', () => {
  const members = membersOf({ id: 'a', since: 3, origin: { by: 'ann' }, input: 'x', expect: { output: 'y', tool_calls: [] }, tags: ['t'] });
  expect([...members]).toEqual([
    ['input', 'x'],
    ['expect.output', 'y'],
    ['expect.tool_calls', '[]'],
    ['tags', '[\n  "t"\n]'],
    ['review', 'reviewed'],
  ]);
});

test.each<[string, object, object, unknown]>([
  ['nothing', { input: 'x', since: 1 }, { input: 'x', since: 2, review: 'reviewed' }, []],
  ['an input', { input: 'x' }, { input: 'y' }, [{ member: 'input', before: 'x', after: 'y' }]],
  ['a member that came', { input: 'x' }, { input: 'x', split: 'test' }, [{ member: 'split', before: undefined, after: 'test' }]],
  [
    'one member of the expectation',
    { expect: { output: 'a', context: ['c'] } },
    { expect: { context: ['c'] } },
    [{ member: 'expect.output', before: 'a', after: undefined }],
  ],
  ['the mark', { review: 'draft' }, {}, [{ member: 'review', before: 'draft', after: 'reviewed' }]],
])('differences: %s', (_, before, after, want) => {
  expect(memberDifferences(before as never, after as never)).toEqual(want);
});

test.each<[unknown, string]>([
  [undefined, ''],
  [{ output: 'Done.' }, 'answer “Done.”'],
  [{ tool_calls: [] }, 'no tool call'],
  [{ tool_calls: [{ name: 'find' }, { name: 'refund' }], output: 7 }, 'calls find → refund, output'],
  [{ tool_calls: ['x'], tool_calls_count: [] }, 'calls ?, tool calls count'],
])('the expectation %j is %j', (expect_, want) => {
  expect(expectationText({ expect: expect_ })).toBe(want);
});

test.each<[unknown, string]>([
  ['plain', 'plain'],
  [undefined, ''],
  [{ city: 'Rome' }, '{"city":"Rome"}'],
  [[{ role: 'user', content: 'one' }], 'one'],
  [
    [
      { role: 'user', content: 'one' },
      { role: 'assistant', content: 'x' },
      { role: 'user', content: 'two' },
    ],
    'two (3 messages)',
  ],
  [[1, 2], '[1,2] (2 messages)'],
])('the input %j is %j', (input, want) => expect(inputText(input)).toBe(want));

test.each<[unknown, boolean]>([
  [{ a: [1, 2.5, 'x', null, Number.MAX_SAFE_INTEGER] }, false],
  [{ a: [{ b: Number.MAX_SAFE_INTEGER + 2 }] }, true],
  [1e300, true],
  [0.1, false],
])('%j has a number that a browser rounds: %s', (value, want) => expect(hasInexactNumber(value)).toBe(want));
