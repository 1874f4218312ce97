/** What the library entries pull in when they are imported, and that the package leads to them. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { evaluators } from '../../evaluators/index.ts';
import * as library from '../../src/library/evaluators.ts';

const root = join(import.meta.dirname, '../..');
const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly exports: { readonly [entry: string]: { readonly types: string; readonly default: string } | string } };
const entries = Object.entries(exports).flatMap(([entry, target]) => (typeof target === 'string' ? [] : [{ entry, ...target }]));

test('library: these are the public entries', () => {
  expect(entries.map(({ entry }) => entry)).toEqual(['./evaluators', './agent-trace', './experiment', './vitest', './scripted-judge']);
});

for (const { entry, types, default: code } of entries) {
  const source = code.replace('./dist/', '').replace(/\.js$/, '.ts');

  test(`library: ${entry} leads to ${source}, with its types beside it`, () => {
    expect(existsSync(join(root, source))).toBe(true);
    expect(types).toBe(code.replace(/\.js$/, '.d.ts'));
  });

  test(`library: ${entry} pulls in nothing of the server`, () => {
    const reached = reachedFrom(join(root, source));
    const outside = [...reached].filter((target) => !target.startsWith('/'));
    expect(outside.filter((target) => !['acorn', 'ajv', 'ajv/dist/2020.js', 're2js', 'node:crypto'].includes(target))).toEqual([]);
    const files = [...reached].filter((target) => target.startsWith('/')).map((path) => relative(root, path));
    expect(files.filter((path) => !/^(src\/(library|model|pipeline|telemetry)\/|src\/judges\/scripted\.ts$|collectors\/|evaluators\/)/.test(path))).toEqual([]);
  });
}

test('library: every evaluator has a factory of its name', () => {
  const missing = evaluators.map(({ id }) => id.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())).filter((name) => !Object.hasOwn(library, name));
  expect(missing, 'add an import and a line to src/library/evaluators.ts').toEqual([]);
});

/** Files and packages that are imported when a program runs; types are gone by then. */
function reachedFrom(entry: string): ReadonlySet<string> {
  const reached = new Set([entry]);
  for (const path of reached) {
    if (!path.startsWith('/')) continue;
    for (const [, target = ''] of readFileSync(path, 'utf8').matchAll(/^(?:import|export) (?!type )(?:[^;]*? from )?'([^']+)';/gm)) reached.add(target.startsWith('.') ? join(dirname(path), target) : target);
  }
  return reached;
}
