import { expect, test } from 'vitest';
import { draftOf, exampleOf } from '../../../../src/console/parts/run/example-draft.ts';

const example = { id: 'e', input: 'Hello', expect: { output: 'Hi' }, tags: ['a'], review: 'draft', origin: { trace_id: 't' } };

test('an unchanged example stays as it was stored', () => {
  expect(exampleOf(example, draftOf(example))).toEqual({ example });
});

test('the form changes input, expectation and review', () => {
  const draft = { ...draftOf(example), input: 'Bye', expect: '{"output":"See you"}', isReviewed: true };
  expect(exampleOf(example, draft)).toEqual({
    example: { ...example, input: 'Bye', expect: { output: 'See you' }, review: 'reviewed' },
  });
});

test('an input of messages is edited as JSON', () => {
  const messages = [{ role: 'user', content: 'Hello' }];
  const draft = draftOf({ ...example, input: messages });
  expect([draft.isInputJson, exampleOf(example, draft)]).toMatchObject([true, { example: { input: messages } }]);
  expect(exampleOf(example, { ...draft, input: '[' })).toEqual({ faults: { input: 'The input is not JSON.' } });
});

for (const expect_ of ['{', '[]', '"text"', 'null'])
  test(`what is expected must be an object: ${expect_}`, () => {
    expect(exampleOf(example, { ...draftOf(example), expect: expect_ })).toEqual({
      faults: { expect: expect.stringContaining('expected') },
    });
  });
