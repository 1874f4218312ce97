/** Sentences of the pages: at most 25 words. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sentencesOf, wordsIn } from './prose.ts';

const top = join(import.meta.dirname, '../..');
const files = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...globSync('{docs,examples}/**/*.md', { cwd: top })];
const wordsMax = 25;

test.each(files)(`prose: no sentence of %s has more than ${wordsMax} words`, (file) => {
  const sentences = sentencesOf(readFileSync(join(top, file), 'utf8'));
  const long = sentences.filter(({ text }) => wordsIn(text) > wordsMax);
  expect(long.map(({ line, text }) => `${file}:${line}: ${wordsIn(text)} words: ${text}`)).toEqual([]);
});

test.each([
  { name: 'a paragraph of two lines', page: 'One two three\nfour five. Six seven.', want: [5, 2] },
  { name: 'a heading and a paragraph', page: '# A title\n\nOne two.', want: [2, 2] },
  { name: 'items of a list, each by itself', page: '- One two\n  three\n- Four.\n1. Five six', want: [3, 1, 2] },
  { name: 'cells of a table, each by itself', page: '| one | two three |\n|---|---|\n| a \\| b | c |', want: [1, 2, 2, 1] },
  { name: 'no block of code', page: 'One.\n\n```sh\nls -l a b c\n```\n\n    npm run docs a b\n\nTwo three.', want: [1, 2] },
  { name: 'a paragraph of a list item', page: '- One.\n\n  Two three four.', want: [1, 3] },
  { name: 'code as one word, and a list of codes as one', page: 'Use `a b c` or write `d`, `e` and `f g`.', want: [5] },
  { name: 'a link by its text', page: 'See [the long page](a/b.md#c d).', want: [4] },
  { name: 'no comment', page: '<!-- one two\nthree -->\nFour.', want: [1] },
  { name: 'a small letter as part of the sentence', page: 'Some signs, e.g. this one.', want: [5] },
  {
    name: 'a value that is explained as a sentence',
    page: 'One of `a`. strict: the same calls. in_order: others between.',
    want: [3, 4, 3],
  },
  { name: 'figures as words, signs not', page: '5 ms – or 7 % – of it.', want: [6] },
  { name: 'no output of the product', page: 'Verdict: `fail`, score 0. *One of two failed: a b c.*', want: [4] },
])('prose: counts $name', ({ page, want }) => {
  expect(sentencesOf(page).map(({ text }) => wordsIn(text))).toEqual(want);
});
