import { expect, test } from 'vitest';
import { foldersOf, sourceTree } from './source-tree-page.ts';

const text = (lines: number, ...imports: readonly string[]): string =>
  [...imports.map((path) => `import '${path}';`), ...Array.from({ length: lines - imports.length }, () => '')].join('\n') + '// end\n';
const folders = foldersOf(
  [
    { path: 'src/model/a.ts', text: text(120) },
    { path: 'src/runtime/a.ts', text: text(10, '../model/a.ts') },
    { path: 'src/otlp/read/a.ts', text: text(40, '../../runtime/a.ts', '../../model/a.ts') },
    { path: 'src/otlp/write.ts', text: text(20, './read/a.ts', 'node:zlib') },
    { path: 'test/a.ts', text: text(10, '../src/otlp/write.ts') },
  ].map((file) => ({ ...file })),
);
const page = (known = ''): string => sourceTree(folders, { upward: 1, circles: 2 }, known);

test('source tree: counts files and lines by folder, tests left out', () => {
  expect(folders.map(({ name, floor, files, lines, imports }) => [floor, name, files, lines, [...imports]])).toEqual([
    [2, 'src/otlp', 2, 60, ['src/runtime', 'src/model']],
    [1, 'src/runtime', 1, 10, ['src/model']],
    [0, 'src/model', 1, 120, []],
  ]);
});

test('source tree: draws no arrow that others imply, and counts what the rules find', () => {
  expect([...page().matchAll(/^ {2}(\w+) --> (\w+)$/gm)].map(([, from, to]) => [from, to])).toEqual([
    ['src_otlp', 'src_runtime'],
    ['src_runtime', 'src_model'],
  ]);
  expect(page()).toContain('Upward arrows: 1. Circles of files: 2. Folders that import each other: 0.');
});

test('source tree: names folders that import each other', () => {
  const both = [
    { path: 'src/cli/a.ts', text: text(2, '../config/a.ts') },
    { path: 'src/config/a.ts', text: '' },
    { path: 'src/config/b.ts', text: text(2, '../cli/b.ts') },
    { path: 'src/cli/b.ts', text: '' },
  ];
  expect(sourceTree(foldersOf(both), { upward: 0, circles: 0 }, '')).toContain('each other: 1 (`src/cli` and `src/config`).');
});

test.each([
  { name: 'stays within a tenth', before: '1 | 100', after: '1 | 100' },
  { name: 'is renewed beyond', before: '9 | 400', after: '1 | 100' },
])('source tree: a known figure $name', ({ before, after }) => {
  expect(page(`| 0 | \`src/model\` | ${before} |  |\n`)).toContain(`| 0 | \`src/model\` | ${after} |`);
});
