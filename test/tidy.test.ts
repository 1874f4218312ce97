/** The house rules, applied to this repository. A rule that is not checked here does not exist. */
import { afterAll, expect, test } from 'vitest';
import { checkPages } from './docs/pages-checks.ts';
import { sourceTreePage } from './docs/source-tree-page.ts';
import { rules } from './tidy/rules.ts';
import { parsedOnce } from './tidy/source.ts';
import { repositoryFiles } from './tidy/tree.ts';

const { files, forget } = parsedOnce(repositoryFiles());

// The process goes on to other test files.
afterAll(forget);

test('tidy: the repository is read', () => {
  const paths = files.map((file) => file.path);
  expect(paths).toEqual(
    expect.arrayContaining(['src/model/ids.ts', 'evaluators/evaluator.ts', 'collectors/collector.ts', 'package.json', 'README.md']),
  );
});

for (const [name, rule] of Object.entries(rules)) {
  test(`tidy: ${name}`, () => {
    expect(rule(files)).toEqual([]);
  });
}

checkPages([{ path: 'docs/explanation/source-tree.md', text: () => sourceTreePage(files) }]);
