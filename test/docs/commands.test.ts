/** Commands as the pages show them: they exist, and are those of a checkout where a page speaks of one. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commands } from '../../src/cli/commands/index.ts';

const top = join(import.meta.dirname, '../..');
const files = [
  'README.md',
  'CONTRIBUTING.md',
  ...globSync('docs/{tutorial,guides,reference,explanation}/*.md', { cwd: top }),
  ...globSync('examples/**/*.{yaml,md}', { cwd: top }),
];
const names = commands.map(({ name }) => name);
const { scripts } = JSON.parse(readFileSync(join(top, 'package.json'), 'utf8')) as { readonly scripts: object };

describe.each(files)('%s', (file) => {
  const text = readFileSync(join(top, file), 'utf8');

  test('names no command and no script that does not exist', () => {
    const shown = [...text.matchAll(/(?:^ {4}|`|\$ )(?:npx tracejury|npm run (?:--silent |-s )?tracejury --|tracejury) ([a-z]+)/gm)].map(
      ([, name = '']) => name,
    );
    expect(shown.filter((name) => !names.includes(name))).toEqual([]);
    const run = [...text.matchAll(/(?:^ {4}|`)npm run (?:--silent |-s )?([a-z][a-z:-]*)/gm)].map(([, name = '']) => name);
    // Of the agent's own project, in a workflow.
    expect(run.filter((name) => name !== 'record-agent-runs' && !Object.hasOwn(scripts, name))).toEqual([]);
  });

  test('starts no file of the source by hand', () => {
    expect(text).not.toMatch(/src\/cli\/main\.ts/);
  });

  test('starts files of this repository with the scripts of a checkout', () => {
    expect(text).not.toMatch(/(npx |`| {4}|: +)tracejury [a-z ]+(-c )?examples\//);
  });
});
