import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { isStale } from '../../../src/cli/console/stale.ts';

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** A checkout with files of these ages in seconds; folders are old. */
function checkout(files: { readonly [path: string]: number }): string {
  const top = mkdtempSync(join(tmpdir(), 'tracejury-stale-'));
  folders.push(top);
  const nowS = Math.floor(Date.now() / 1_000) - 1;
  for (const [path, age] of Object.entries(files)) {
    const file = join(top, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, '');
    utimesSync(file, nowS, nowS - age);
  }
  for (const path of Object.keys(files)) utimesSync(dirname(join(top, path)), nowS, nowS - 1_000);
  return top;
}

test.each([
  { name: 'never built', files: { 'src/console/main.tsx': 10 }, want: true },
  { name: 'built after the last change', files: { 'src/console/main.tsx': 10, 'dist/console/index.html': 5 }, want: false },
  { name: 'older than a source', files: { 'src/console/main.tsx': 3, 'dist/console/index.html': 5 }, want: true },
  { name: 'older than a source in a folder', files: { 'src/console/parts/a.tsx': 3, 'dist/console/index.html': 5 }, want: true },
  { name: 'older than its settings', files: { 'src/console/a.tsx': 9, 'vite.config.ts': 1, 'dist/console/index.html': 5 }, want: true },
  { name: 'without sources, as in the package', files: { 'dist/console/index.html': 5 }, want: false },
])('console build: $name', ({ files, want }) => {
  expect(isStale(checkout(files))).toBe(want);
});

test('console build: a deleted source makes its folder new', () => {
  const top = checkout({ 'src/console/a.tsx': 10, 'src/console/b.tsx': 10, 'dist/console/index.html': 5 });
  expect(isStale(top)).toBe(false);
  rmSync(join(top, 'src/console/b.tsx'));
  expect(isStale(top)).toBe(true);
});
