/** The built console: it is there, it is small, and nothing in it needs what the content security policy forbids. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { build } from '../../src/cli/console/build.ts';

/** Limit of all scripts together, compressed by gzip. */
const scriptBytesMax = 150 * 1024;

let folder = '';

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tracejury-built-console-'));
  await build(join(import.meta.dirname, '../..'), folder);
});

afterAll(() => rmSync(folder, { recursive: true }));

test('built console: all scripts together are less than 150 KiB compressed', () => {
  const scripts = readdirSync(join(folder, 'assets')).filter((name) => name.endsWith('.js'));
  expect(scripts.length).toBeGreaterThan(0);
  const bytes = scripts.reduce((sum, name) => sum + gzipSync(readFileSync(join(folder, 'assets', name))).length, 0);
  expect(bytes).toBeLessThan(scriptBytesMax);
});

test('built console: its HTML has no inline script, no inline style and no foreign address', () => {
  const html = readFileSync(join(folder, 'index.html'), 'utf8');
  expect(html).toMatch(/<script type="module"[^>]* src="\/assets\/[^"]+"><\/script>/);
  expect([...html.matchAll(/<script(?![^>]*\bsrc=)[^>]*>|<style|\sstyle=|\son\w+=|https?:/g)]).toEqual([]);
});

test('built console: its scripts build no HTML from text and no code from text', () => {
  for (const name of readdirSync(join(folder, 'assets')).filter((one) => one.endsWith('.js'))) {
    const code = readFileSync(join(folder, 'assets', name), 'utf8');
    expect([name, ...code.matchAll(/\beval\(|new Function\(|document\.write\(|insertAdjacentHTML/g)]).toEqual([name]);
  }
});
