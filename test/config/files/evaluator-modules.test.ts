/** The version of a module that is at work, and the bound on their number. */
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { evaluatorModules, TooManyVersions } from '../../../src/config/files/evaluator-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'tracejury-modules-'));
afterAll(() => rmSync(folder, { recursive: true }));

function written(name: string, value: number | string): string {
  const path = join(folder, name);
  writeFileSync(path, `export const value = ${value};`);
  return path;
}

test('evaluator modules: a file is loaded anew when its text changes, and an earlier text is not loaded twice', async () => {
  const modules = evaluatorModules({ versionsMax: 2 });
  const path = written('one.mjs', '{ n: 1 }');
  const first = await modules.load(path);
  expect((await modules.load(path)).exports).toBe(first.exports);
  written('one.mjs', '{ n: 2 }');
  const second = await modules.load(path);
  expect([first.exports['value'], second.exports['value']]).toEqual([{ n: 1 }, { n: 2 }]);
  expect(second.print).not.toBe(first.print);
  written('one.mjs', '{ n: 1 }');
  expect(await modules.load(path)).toEqual(first);
  written('one.mjs', '{ n: 3 }');
  await expect(modules.load(path)).rejects.toThrow(TooManyVersions);
});

test('evaluator modules: a file that did not load is tried again, and one that is reached by two ways is one', async () => {
  const modules = evaluatorModules();
  const path = written('two.mjs', '(() => { throw new Error("no"); })()');
  await expect(modules.load(path)).rejects.toThrow('no');
  written('two.mjs', 2);
  const { exports } = await modules.load(path);
  expect(exports['value']).toBe(2);
  symlinkSync(path, join(folder, 'linked.mjs'));
  expect((await modules.load(join(folder, 'linked.mjs'))).exports).toBe(exports);
});
