/** The beginning of an example's input, as reports of experiments show it. */
import { expect, test } from 'vitest';
import { inputExcerpt } from '../../../src/pipeline/reporting/experiment-result.ts';

const long = `refund ${'x'.repeat(1_000)}`;
const cases = [
  { name: 'a text is in one line', input: 'Refund\n  order 7', want: 'Refund order 7' },
  {
    name: 'of messages the last one of the user counts',
    input: [
      { role: 'user', content: 'first' },
      { role: 'assistant', content: 'yes?' },
      { role: 'user', content: 'second' },
    ],
    want: 'second',
  },
  {
    name: 'messages without a text of the user are JSON',
    input: [{ role: 'system', content: 'be kind' }],
    want: '[{"role":"system","content":"be kind"}]',
  },
  { name: 'other inputs are JSON', input: { order: 7 }, want: '{"order":7}' },
  { name: 'a long text is cut', input: long, want: `${long.slice(0, 159)}…` },
];

for (const { name, input, want } of cases) test(`experiment result: ${name}`, () => expect(inputExcerpt(input)).toBe(want));

test('experiment result: an input is redacted before it is cut', () => {
  const secret = '4111 1111 1111 1111';
  const input = `${'x'.repeat(150)} ${secret}`;
  expect(inputExcerpt(input, (text) => text.replace(secret, '…'))).toBe(`${'x'.repeat(150)} …`);
});
