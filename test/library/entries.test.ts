/** The modules that the library entries import, and the package's exports that lead to them. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { evaluators } from '../../evaluators/index.ts';
import * as library from '../../src/library/evaluators.ts';
import { parsers } from './parsers.ts';

const root = join(import.meta.dirname, '../..');
const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly exports: { readonly [entry: string]: { readonly types: string; readonly default: string } | string };
};
const entries = Object.entries(exports).flatMap(([entry, target]) => (typeof target === 'string' ? [] : [{ entry, ...target }]));

test('library: these are the public entries', () => {
  expect(entries.map(({ entry }) => entry)).toEqual([
    './evaluators',
    './agent-trace',
    './experiment',
    './vitest',
    './judges',
    './store',
    './scripted-judge',
    './span-processor',
  ]);
});

/** Entries that do more than read and score, and what that takes. */
const hosts: { readonly [entry: string]: { readonly what: string; readonly packages: readonly RegExp[]; readonly files: RegExp } } = {
  './experiment': {
    what: 'the estimates of a pairwise judge',
    packages: [],
    files: /^src\/(judges\/scripted\.ts|(analytics|statistics)\/)/,
  },
  './judges': { what: 'its judges', packages: [/^node:(stream|zlib|timers\/promises)$/], files: /^src\/(judges|http)\// },
  './store': { what: 'the store', packages: [/^kysely(\/migration)?$/, /^node:/], files: /^src\/(stores|otlp|analytics|statistics)\// },
  './span-processor': {
    what: 'the spans of verdicts, and the exporters of the SDK',
    packages: [/^@opentelemetry\/(api|core|resources|exporter-trace-otlp-(http|proto))$/],
    files: /^src\/(span-processor|otlp|exporters\/(otlp|delivery))\//,
  },
};

for (const { entry, types, default: code } of entries) {
  const source = code.replace('./dist/', '').replace(/\.js$/, '.ts');

  test(`library: ${entry} leads to ${source}, with its types beside it`, () => {
    expect(existsSync(join(root, source))).toBe(true);
    expect(types).toBe(code.replace(/\.js$/, '.d.ts'));
  });

  test(`library: ${entry} pulls in nothing of the server${hosts[entry] === undefined ? '' : ` but ${hosts[entry].what}`}`, () => {
    const reached = reachedFrom(join(root, source));
    const outside = [...reached].filter((target) => !target.startsWith('/'));
    const network = [...(hosts[entry]?.packages ?? [])];
    expect(
      outside.filter(
        (target) =>
          ![...parsers, 'ajv', 'ajv/dist/2020.js', 're2js', 'node:buffer', 'node:crypto'].includes(target) &&
          !network.some((known) => known.test(target)),
      ),
    ).toEqual([]);
    const files = [...reached].filter((target) => target.startsWith('/')).map((path) => relative(root, path));
    const own = hosts[entry]?.files ?? /^src\/judges\/scripted\.ts$/;
    expect(
      files.filter(
        (path) => !own.test(path) && !/^(src\/(library|model|runtime|pipeline|telemetry)\/|collectors\/|evaluators\/)/.test(path),
      ),
    ).toEqual([]);
  });
}

test('library: every evaluator has a factory of its name', () => {
  const missing = evaluators
    .map(({ id }) => id.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()))
    .filter((name) => !Object.hasOwn(library, name));
  expect(missing, 'add an import and a line to src/library/evaluators.ts').toEqual([]);
});

/** Files and packages that are imported when a program runs; types are gone by then. */
function reachedFrom(entry: string): ReadonlySet<string> {
  const reached = new Set([entry]);
  for (const path of reached) {
    if (!path.startsWith('/')) continue;
    for (const [, target = ''] of readFileSync(path, 'utf8').matchAll(/^(?:import|export) (?!type )(?:[^;]*? from )?'([^']+)';/gm))
      reached.add(target.startsWith('.') ? join(dirname(path), target) : target);
  }
  return reached;
}
