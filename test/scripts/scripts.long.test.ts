import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { catalogues, type Catalogue } from './catalogue.ts';

const top = join(import.meta.dirname, '../..');
const kinds = Object.entries(catalogues) as readonly (readonly [string, Catalogue])[];

function ran(...words: readonly string[]): { readonly status: number | null; readonly stdout: string; readonly stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(import.meta.dirname, 'run.ts'), ...words], { encoding: 'utf8' });
  return { status, stdout, stderr };
}

describe.each(kinds)('scripts of %s', (kind, { scripts }) => {
  test('scripts: each starts a file of this repository', () => {
    const files = Object.values(scripts).map(({ command }) => command.split(' ')[1] ?? '');
    expect(files.filter((file) => !/^test\/.+\.(ts|py)$/.test(file) || !existsSync(join(top, file)))).toEqual([]);
  });

  test('scripts: --help lists each with what it does', () => {
    const { status, stdout } = ran(kind, '--help');
    expect(status).toBe(0);
    const listed = [...stdout.matchAll(/^  (\S+) +(.*)$/gm)].map(([, name, about]) => [name, about]);
    expect(listed).toEqual(Object.entries(scripts).map(([name, { about }]) => [name, about]));
  });

  test('scripts: an unknown name is answered in a sentence', () => {
    const stderr = `npm run ${kind} knows no nothing. --help lists the names.\n`;
    expect(ran(kind, 'nothing')).toEqual({ status: 2, stdout: '', stderr });
  });
});

test('scripts: arguments after the name go to the script, and its exit code comes back', () => {
  const { status, stderr } = ran('check', 'faults', '--trails', '2');
  expect([status, stderr]).toEqual([2, "Unknown option '--trails'. --help shows the options.\n"]);
});

test('scripts: a check needs a name, and a measurement without one is the usual one', () => {
  expect(ran('check')).toMatchObject({ status: 2, stderr: expect.stringContaining('npm run check -- NAME') });
  const { status, stderr } = ran('bench', '--span', '9');
  expect([status, stderr]).toEqual([2, "Unknown option '--span'. --help shows the options.\n"]);
});
