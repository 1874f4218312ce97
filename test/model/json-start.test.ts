/** Texts that cannot be JSON by their beginning are refused unread; nothing else is. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseJson, type JsonValue } from '../../src/model/json.ts';

const pieces = [
  '{',
  '}',
  '[',
  ']',
  '"',
  ':',
  ',',
  'true',
  'false',
  'null',
  'nul',
  '-',
  '+',
  '.',
  'e',
  'E',
  '0',
  '1',
  '25',
  ' ',
  '\t',
  '\n',
  '\r',
  '\v',
  '\u00a0',
  '\ufeff',
  'a',
  '`',
];

test('json: short texts are read, and refused, as JSON.parse reads and refuses them', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 6 }), (some) => {
      const text = some.join('');
      expect(parseJson(text)).toEqual(parsed(text));
    }),
    { numRuns: 3_000 },
  );
});

for (const text of [
  ' \r\n\t-1.5e+3 \n',
  'true\n',
  ' null ',
  '"a"',
  '0',
  '1 2',
  'truest',
  '-',
  '01',
  '.5',
  '',
  ' ',
  'Trip 1 is planned.',
  '3 rooms are free.',
]) {
  test(`json: ${JSON.stringify(text)} is read as JSON.parse reads it`, () => {
    expect(parseJson(text)).toEqual(parsed(text));
  });
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
