/** The house rules, applied to this repository. What is not checked here is not a rule. */
import { expect, test } from 'vitest';
import { rules } from './tidy/rules.ts';
import { repositoryFiles } from './tidy/tree.ts';

const files = repositoryFiles();

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
