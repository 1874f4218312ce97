import { expect, test } from 'vitest';
import { cell } from '../../src/report/markdown.ts';

test.each([
  { name: 'a short text', text: ' two\n words ', want: 'two words' },
  { name: 'more characters than a cell has', text: '🙂'.repeat(11), want: `${'🙂'.repeat(9)}…` },
  { name: 'as many characters as a cell has', text: '🙂'.repeat(10), want: '🙂'.repeat(10) },
  { name: 'words behind more white space than is read', text: `a${' '.repeat(40)}b`, want: 'a…' },
  { name: 'markup and a mention', text: '<b>*@ann*', want: '&lt;b&gt;\\*@\u200bann\\*' },
])('markdown: a cell of $name', ({ text, want }) => {
  expect(cell(text, 10)).toBe(want);
});
