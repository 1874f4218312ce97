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

describe.each(files)('%s', (file) => {
  const text = readFileSync(join(top, file), 'utf8');

  test('names no command that does not exist', () => {
    const shown = [...text.matchAll(/(?:^ {4}|`|\$ )(?:npx tracejury|npm run (?:--silent |-s )?tracejury --|tracejury) ([a-z]+)/gm)].map(
      ([, name = '']) => name,
    );
    expect(shown.filter((name) => !names.includes(name))).toEqual([]);
  });

  test('starts no file of the source by hand', () => {
    expect(text).not.toMatch(/src\/cli\/main\.ts/);
  });

  test('starts files of this repository with the scripts of a checkout', () => {
    expect(text).not.toMatch(/(npx |`| {4}|: +)tracejury [a-z ]+(-c )?examples\//);
  });
});
