/** Links to a part of a page lead to a heading that is there. That files exist is a rule of test/tidy. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { anchorsOf } from './anchors.ts';

const top = join(import.meta.dirname, '../..');
const files = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', ...globSync('docs/**/*.md', { cwd: top })];

test.each(files)('docs: links of %s to parts of pages lead there', (file) => {
  const text = readFileSync(join(top, file), 'utf8');
  const dangling = [...text.matchAll(/\]\((?!https?:)([^)\s#]*\.md)?#([^)]+)\)/g)].filter(([, page, anchor = '']) => {
    const target = page === undefined ? join(top, file) : join(top, dirname(file), page);
    return !anchorsOf(readFileSync(target, 'utf8')).has(anchor);
  });
  expect(dangling.map(([link]) => link)).toEqual([]);
});

test('docs: docs/README.md lists each page, and that of decisions each decision', () => {
  const folders = ['docs', 'docs/decisions'];
  const listed = folders.flatMap((folder) =>
    [...readFileSync(join(top, folder, 'README.md'), 'utf8').matchAll(/\]\(([^)#]+\.md)/g)].map(([, page = '']) => join(folder, page)),
  );
  expect(files.filter((file) => !listed.includes(file) && !['README.md', 'docs/README.md'].includes(file))).toEqual([]);
});
