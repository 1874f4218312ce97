/** The questions of a newcomer, and the ways of a request and a close. That each file exists is a rule of test/tidy. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { documentsNameWhatExists } from '../tidy/documents.ts';
import { repositoryFiles } from '../tidy/tree.ts';

const path = 'docs/explanation/architecture.md';
const text = readFileSync(join(import.meta.dirname, '../..', path), 'utf8');
const rowsUnder = (heading: string): readonly string[] => {
  const [, section = ''] = text.split(`## ${heading}\n`);
  const [own = ''] = section.split('\n## ');
  return own.split('\n').filter((line) => /^\| (?!-|question|file)/.test(line) && !line.startsWith('|---'));
};
const filesOf = (row: string): readonly string[] =>
  [...row.matchAll(/`((?:src|evaluators|collectors)\/[\w./-]+\.ts)`/g)].map(([, file = '']) => file);

describe('architecture', () => {
  const questions = rowsUnder('Where to find things');

  test('architecture: a newcomer has ten questions', () => {
    expect(questions).toHaveLength(10);
  });

  test.each(questions)('architecture: one to three files answer: %s', (row) => {
    expect(filesOf(row).length).toBeGreaterThanOrEqual(1);
    expect(filesOf(row).length).toBeLessThanOrEqual(3);
  });

  test('architecture: every file of the page exists', () => {
    const others = repositoryFiles().filter((file) => file.path !== path);
    expect(documentsNameWhatExists([{ path, text }, ...others])).toEqual([]);
    const wrong = { path, text: text.replaceAll('close-policy.ts', 'close-politics.ts') };
    expect(documentsNameWhatExists([wrong, ...others]).length).toBeGreaterThan(0);
  });

  test.each(['One request', 'One close'])('architecture: the way of %s names each file once', (heading) => {
    const files = rowsUnder(heading).flatMap(filesOf);
    expect(files.length).toBeGreaterThan(10);
    expect(files).toEqual([...new Set(files)]);
  });
});
