import fc from 'fast-check';
import { expect, test } from 'vitest';
import { oneLine, oneName } from '../../src/model/one-line.ts';
import { anyCharacter } from '../builders/any-character.ts';

const cases = [
  { name: 'blanks are folded', text: ' a\n\tb  c ', want: 'a b c' },
  { name: 'escape sequences are shown, not obeyed', text: 'a\u001bb', want: 'a\\u001bb' },
  { name: 'so are those of the second control set', text: 'a\u009bb', want: 'a\\u009bb' },
  { name: 'marks that turn text around are shown', text: 'a\u202eb', want: 'a\\u202eb' },
  { name: 'a long text is cut', text: 'abcdefghijklm', want: 'abcdefghi…' },
  { name: 'signs of two halves stay whole', text: '😀'.repeat(12), want: `${'😀'.repeat(9)}…` },
  { name: 'ten signs are not cut', text: 'ąęśżźćńółé', want: 'ąęśżźćńółé' },
] as const;

for (const { name, text, want } of cases) {
  test(`one line: ${name}`, () => {
    expect(oneLine(text, 10)).toBe(want);
  });
}

test('one line: for any input, nothing that a terminal obeys comes out, and no more signs than asked for', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, maxLength: 300 }), fc.integer({ min: 1, max: 50 }), (text, charsMax) => {
      const shown = oneLine(text, charsMax);
      expect([...shown].length).toBeLessThanOrEqual(charsMax);
      expect(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u.test(shown)).toBe(false);
      expect(shown.isWellFormed()).toBe(true);
    }),
  );
});

const place = `${'a'.repeat(32)}/${'b'.repeat(16)}`;
test.each([
  { text: `agent ${place}`, charsMax: 60, want: `agent ${place}` },
  { text: `${'x'.repeat(500)} ${place}`, charsMax: 120, want: `${'x'.repeat(63)}…${'x'.repeat(6)} ${place}` },
  { text: 'abcdefghijklm', charsMax: 9, want: 'abcd…jklm' },
  { text: 'a\u001b\nb', charsMax: 10, want: 'a\\u001b b' },
])('one name: $text within $charsMax characters keeps its end', ({ text, charsMax, want }) => {
  expect(oneName(text, charsMax)).toBe(want);
});
