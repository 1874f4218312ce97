/** The words of the glossary are those of the code: each is used in the product, in a name or in a comment. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isProduct } from '../tidy/source.ts';
import { repositoryFiles } from '../tidy/tree.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/reference/glossary.md'), 'utf8');
const words = [...page.matchAll(/^\| (?!word \||-)([^|]+) \|/gm)].flatMap(([, cell = '']) => cell.split(', '));
/** Names in words, however they are written: `scanPlanner`, `scan-planner` and `SCAN_PLANNER`. */
const product = repositoryFiles()
  .filter(isProduct)
  .map(({ path, text }) => `${path}\n${text}`.replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2').replaceAll(/[-_]/g, ' '))
  .join('\n')
  .toLowerCase();

test('glossary: it lists words', () => {
  expect(words.length).toBeGreaterThan(60);
});

test.each(words)('glossary: the code uses %s', (word) => {
  expect(product.includes(word.replaceAll('-', ' '))).toBe(true);
});

test('glossary: no word is in two rows', () => {
  expect(words).toEqual([...new Set(words)]);
});
