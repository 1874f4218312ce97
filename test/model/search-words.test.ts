import fc from 'fast-check';
import { expect, test } from 'vitest';
import { matchesTerms, searchTerms, wordsOf } from '../../src/model/search-words.ts';

test.each([
  { text: 'Where is Order A-17?', want: ['where', 'is', 'order', 'a', '17'] },
  { text: 'find_order(find_order)', want: ['find', 'order'] },
  { text: 'Café Zürich ÅNGSTRÖM', want: ['cafe', 'zurich', 'angstrom'] },
  { text: 'ﬁne ２０２６', want: ['fine', '2026'] },
  { text: '東京都', want: ['東京', '京都', '都'] },
  { text: 'ガイドabc2', want: ['ガイ', 'イド', 'ド', 'abc2'] },
  { text: '" OR * NEAR(', want: ['or', 'near'] },
  { text: ' \n!?', want: [] },
  { text: 'x'.repeat(100), want: ['x'.repeat(64)] },
])('words: of $text', ({ text, want }) => {
  expect(wordsOf(text)).toEqual(want);
});

test.each([
  { search: 'order', text: 'my orders', want: true },
  { search: 'orders', text: 'my order', want: false },
  { search: 'rder', text: 'my order', want: false },
  { search: 'my orders', text: 'orders are not my problem', want: true },
  { search: 'or', text: 'my order', want: false },
  { search: 'is or', text: 'this or that is it', want: true },
  { search: 'CAFÉ', text: 'a cafe', want: true },
  { search: '京', text: '東京都', want: true },
  { search: '東京', text: '東京都に行く', want: true },
  { search: '京東', text: '東京都に行く', want: false },
  { search: '都に行', text: '東京都に行く', want: true },
  { search: '?', text: 'why?', want: false },
  { search: 'find_order', text: 'call find-order now', want: true },
])('words: a search for $search in $text: $want', ({ search, text, want }) => {
  expect(matchesTerms(wordsOf(text), searchTerms(search))).toBe(want);
});

test('words: a text is found by any of its words that is long enough, and by their beginnings', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (text) => {
      const words = wordsOf(text);
      for (const word of words) expect(matchesTerms(words, searchTerms(word))).toBe(true);
    }),
  );
});
