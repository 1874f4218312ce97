import fc from 'fast-check';
import { expect, test } from 'vitest';
import { emailParts } from '../../src/redaction/settings.ts';
import { cpuSeconds } from '../builders/cpu-seconds.ts';

function matches(text: string): readonly string[] {
  return emailParts(text).map(({ start, end }) => text.slice(start, end));
}

const cases: readonly { readonly text: string; readonly want: readonly string[] }[] = [
  { text: 'write to anna.lee+shop@mail.example.com, please', want: ['anna.lee+shop@mail.example.com'] },
  { text: 'ANNA@EXAMPLE.COM', want: ['ANNA@EXAMPLE.COM'] },
  { text: 'the end is anna@example.com.', want: ['anna@example.com'] },
  { text: '<anna@example.com>;bob@example.org', want: ['anna@example.com', 'bob@example.org'] },
  { text: 'https://shop.example/?mail=anna%40example.com&x=1', want: ['anna%40example.com'] },
  { text: 'jürgen@büro.example und 𝒶nna@example.com', want: ['jürgen@büro.example', '𝒶nna@example.com'] },
  { text: 'anna@example.com@example.org', want: ['anna@example.com'] },
  { text: 'anna@example.com.1', want: ['anna@example.com'] },
  { text: 'anna@example-.com anna@xn--bcher-kva.example', want: ['anna@example-.com', 'anna@xn--bcher-kva.example'] },
  { text: 'node@18.2.1, anna@localhost, @example.com, anna@, anna@example.c, a @ b.com', want: [] },
  { text: '', want: [] },
];

for (const { text, want } of cases) test(`email: ${JSON.stringify(text)} holds ${want.length}`, () => expect(matches(text)).toEqual(want));

test('email: between any characters, an address is found whole', () => {
  const word = fc.string({ unit: fc.constantFrom(...'abcXYZ019'), minLength: 1, maxLength: 8 });
  const around = fc.string({ unit: fc.constantFrom(' ', '"', '<', ',', '(', '😀', '\n', '/'), maxLength: 5 });
  fc.assert(
    fc.property(word, word, fc.constantFrom('com', 'de', 'example', 'museum'), around, around, (local, host, top, before, behind) => {
      expect(matches(`${before}${local}@${host}.${top}${behind}`)).toEqual([`${local}@${host}.${top}`]);
    }),
  );
});

test('email: parts are in order, apart and within the text', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('a', '@', '.', '-', '%40', '1', 'ü', ' '), maxLength: 60 }), (text) => {
      let end = 0;
      for (const part of emailParts(text)) {
        expect(part.start).toBeGreaterThanOrEqual(end);
        expect(part.end).toBeGreaterThan(part.start);
        end = part.end;
      }
      expect(end).toBeLessThanOrEqual(text.length);
    }),
  );
});

const hostile: readonly (readonly [string, string])[] = [
  ['signs', '@'.repeat(200_000)],
  ['labels', `a@${'a.'.repeat(100_000)}`],
  ['one label', `a@${'a'.repeat(200_000)}`],
  ['local parts without a domain', 'aaaaaaaaaa@'.repeat(20_000)],
  ['hyphens', `a@${'-'.repeat(200_000)}`],
  ['signs as URLs write them', 'a%40'.repeat(50_000)],
];

/** Quadratic work on these would take minutes. */
for (const [name, text] of hostile)
  test(`email: 200,000 characters of ${name} take little time`, () => {
    expect(cpuSeconds(() => expect(emailParts(text)).toEqual([]))).toBeLessThan(5);
  });
