/** The file that the package puts on the PATH, on Node versions that are too old and new enough. */
import { execFile } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'acorn';
import { afterAll, expect, test } from 'vitest';

interface Manifest {
  readonly version: string;
  readonly engines: { readonly node: string };
  readonly bin: { readonly tracejury: string };
  readonly files: readonly string[];
  readonly scripts: { readonly [name: string]: string };
  readonly dependencies: { readonly [name: string]: string };
  readonly devDependencies: { readonly [name: string]: string };
  readonly optionalDependencies?: { readonly [name: string]: string };
}

const top = join(import.meta.dirname, '../..');
const manifest = JSON.parse(readFileSync(join(top, 'package.json'), 'utf8')) as Manifest;
const launcher = join(top, manifest.bin.tracejury);
const folder = mkdtempSync(join(tmpdir(), 'tracejury-launcher-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** On a Node that gives this version as its own. */
function startedOn(version: string): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const preload = join(folder, `${version}.cjs`);
  writeFileSync(preload, `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } });`);
  return new Promise((resolve) => {
    execFile(process.execPath, ['--require', preload, launcher, '--version'], (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    );
  });
}

test.each(['12.0.0', '20.20.2', '22.18.0', '23.11.1'])(
  'Node %s: one sentence names the version that is there and the one that is needed, and the exit code is 1',
  async (version) => {
    expect(await startedOn(version)).toEqual({
      code: 1,
      out: '',
      err: `tracejury needs Node 24 or newer, and ${process.execPath} is ${version}.\n`,
    });
  },
);

test.each(['24.0.0', '25.1.0', '100.0.0'])('Node %s: the program runs', async (version) => {
  expect(await startedOn(version)).toEqual({ code: 0, out: `${manifest.version}\n`, err: '' });
});

/** Starts the program with a home of the test's own, and gives the folder of its cache. */
async function cacheOf(name: string, { mode, ...env }: NodeJS.ProcessEnv & { readonly mode?: string } = {}): Promise<string> {
  const home = join(folder, name);
  const cache = join(home, '.cache', 'tracejury');
  mkdirSync(mode === undefined ? home : cache, { recursive: true });
  if (mode !== undefined) chmodSync(cache, Number.parseInt(mode, 8));
  await promisify(execFile)(process.execPath, [launcher, '--version'], { env: { PATH: process.env['PATH'], HOME: home, ...env } });
  return cache;
}

const kept = (cache: string): number => (existsSync(cache) ? readdirSync(cache).length : 0);

test('compiled code is kept in a folder that only this user can write to', async () => {
  const cache = await cacheOf('kept');
  expect(kept(cache)).toBe(1);
  expect((statSync(cache).mode & 0o077).toString(8)).toBe('0');
});

test.each(['777', '775'])('a folder with the rights %s, in which others could leave code, is not used', async (mode) => {
  expect(kept(await cacheOf(`open-${mode}`, { mode }))).toBe(0);
});

test('a link in the place of the folder is not used', async () => {
  const [home, elsewhere] = [join(folder, 'linked'), join(folder, 'of-another')];
  mkdirSync(elsewhere);
  mkdirSync(join(home, '.cache'), { recursive: true });
  symlinkSync(elsewhere, join(home, '.cache', 'tracejury'));
  await cacheOf('linked');
  expect(kept(elsewhere)).toBe(0);
});

test('XDG_CACHE_HOME names the folder above it', async () => {
  const caches = join(folder, 'caches');
  expect(kept(await cacheOf('xdg', { XDG_CACHE_HOME: caches }))).toBe(0);
  expect(kept(join(caches, 'tracejury'))).toBe(1);
});

test('NODE_COMPILE_CACHE names another folder for it', async () => {
  const named = join(folder, 'named');
  expect(kept(await cacheOf('elsewhere', { NODE_COMPILE_CACHE: named }))).toBe(0);
  expect(kept(named)).toBe(1);
});

test('NODE_DISABLE_COMPILE_CACHE=1 turns it off', async () => {
  expect(kept(await cacheOf('off', { NODE_DISABLE_COMPILE_CACHE: '1' }))).toBe(0);
});

test('Node 12 can parse it', () => {
  const source = readFileSync(launcher, 'utf8');
  expect(() => parse(source, { ecmaVersion: 2019, allowHashBang: true })).toThrow(/import/);
  expect(() => parse(source.replace('import(', 'load('), { ecmaVersion: 2019, allowHashBang: true })).not.toThrow();
});

test('it asks for the version that the package asks for', () => {
  expect(manifest.engines.node).toBe('>=24');
});

test('no dependency of the package brings a Node', () => {
  const brought = { ...manifest.dependencies, ...manifest.optionalDependencies };
  expect(Object.keys(brought).filter((name) => /^node(-|$)/.test(name) || name === 'tracejury-node')).toEqual([]);
  expect(manifest.devDependencies['tracejury-node']).toBe('file:node');
  expect(manifest.files).toContain('bin');
});

test('a checkout has a script for every command', () => {
  expect(manifest.scripts['tracejury']).toBe(`exec node ${manifest.bin.tracejury}`);
});
