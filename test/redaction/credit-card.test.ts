import fc from 'fast-check';
import { expect, test } from 'vitest';
import { creditCardParts } from '../../src/redaction/settings.ts';
import { cpuSeconds } from '../builders/cpu-seconds.ts';

function matches(text: string): readonly string[] {
  return creditCardParts(text).map(({ start, end }) => text.slice(start, end));
}

const cases: readonly { readonly name: string; readonly text: string; readonly want: readonly string[] }[] = [
  { name: 'sixteen digits', text: 'card 4111111111111111.', want: ['4111111111111111'] },
  { name: 'groups of four with spaces', text: 'card 4111 1111 1111 1111 thanks', want: ['4111 1111 1111 1111'] },
  { name: 'groups of four with hyphens', text: '5500-0000-0000-0004', want: ['5500-0000-0000-0004'] },
  {
    name: 'no-break spaces and hyphens of typography',
    text: '4111\u00a01111\u202f1111\u20111111',
    want: ['4111\u00a01111\u202f1111\u20111111'],
  },
  { name: 'fifteen digits in groups of 4, 6 and 5', text: '3782 822463 10005', want: ['3782 822463 10005'] },
  { name: 'fourteen digits', text: '30569309025904', want: ['30569309025904'] },
  { name: 'thirteen digits', text: '4222222222222', want: ['4222222222222'] },
  { name: 'nineteen digits', text: '6304000000000000000', want: ['6304000000000000000'] },
  { name: 'letters beside it', text: 'PAN4111111111111111EUR', want: ['4111111111111111'] },
  { name: 'two cards', text: '4111111111111111,5500000000000004', want: ['4111111111111111', '5500000000000004'] },
  {
    name: 'two cards with nothing but a space between them',
    text: '4111111111111111 5500000000000004',
    want: ['4111111111111111', '5500000000000004'],
  },
  { name: 'a number before it', text: '12 4111 1111 1111 1111', want: ['4111 1111 1111 1111'] },
  { name: 'a number of four digits before it', text: '2031 4111 1111 1111 1111', want: ['4111 1111 1111 1111'] },
  { name: 'a security code behind it', text: '4111 1111 1111 1111 123', want: ['4111 1111 1111 1111'] },
  { name: 'a wrong check digit', text: '4111111111111112', want: [] },
  { name: 'twelve digits', text: '411111111112', want: [] },
  { name: 'a time in milliseconds, whose check digit happens to be right', text: '1700000000005', want: [] },
  { name: 'a longer number', text: '41111111111111110000000000000000', want: [] },
  { name: 'two spaces within', text: '4111  1111 1111 1111', want: [] },
  { name: 'a list of small numbers', text: '4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1', want: [] },
  { name: 'other separators', text: '4111.1111.1111.1111 4111,1111,1111,1111', want: [] },
  { name: 'zeros', text: '0000000000000000', want: [] },
];

for (const { name, text, want } of cases) test(`credit_card: ${name}`, () => expect(matches(text)).toEqual(want));

function withCheckDigit(digits: string): string {
  const sum = [...digits]
    .reverse()
    .reduce(
      (total, digit, at) => total + [...String(Number(digit) * (at % 2 === 0 ? 2 : 1))].reduce((one, part) => one + Number(part), 0),
      0,
    );
  return `${digits}${(10 - (sum % 10)) % 10}`;
}

test('credit_card: every number with a right check digit is found, in every grouping of four and more, and with another last digit it is not', () => {
  const digits = fc
    .tuple(fc.constantFrom(...'23456789'), fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 11, maxLength: 17 }))
    .map(([first, rest]) => withCheckDigit(first + rest));
  fc.assert(
    fc.property(
      digits,
      fc.constantFrom('', ' ', '-', '\u2011'),
      fc.integer({ min: 4, max: 7 }),
      fc.integer({ min: 1, max: 9 }),
      (number, separator, size, off) => {
        const grouped = (all: string): string => (all.match(new RegExp(`.{1,${size}}`, 'g')) ?? []).join(separator);
        expect(matches(`x ${grouped(number)}, y`)).toEqual([grouped(number)]);
        const wrong = `${number.slice(0, -1)}${(Number(number.at(-1)) + off) % 10}`;
        expect(matches(`x ${wrong}, y`)).toEqual([]);
      },
    ),
  );
});

test('credit_card: a million digits in groups take little time', () => {
  for (const text of ['1234 '.repeat(200_000), '1'.repeat(1_000_000)])
    expect(cpuSeconds(() => expect(creditCardParts(text)).toEqual([]))).toBeLessThan(5);
});
