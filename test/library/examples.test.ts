/** The examples of docs/guides/library.md compile as they stand, against the entries that they import. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'tracejury-examples-'));
afterAll(() => rmSync(folder, { recursive: true }));
symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));

const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly exports: { readonly [entry: string]: { readonly default: string } | string };
};
const paths = Object.fromEntries(
  Object.entries(exports).flatMap(([entry, target]) =>
    typeof target === 'string'
      ? []
      : [[`tracejury${entry.slice(1)}`, [join(root, target.default.replace('./dist/', '').replace(/\.js$/, '.ts'))]]],
  ),
);
const { compilerOptions } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8')) as { readonly compilerOptions: object };

function compiled(examples: readonly string[]): { readonly code: number | null; readonly out: string } {
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  examples.forEach((example, at) => writeFileSync(join(folder, `example-${at + 1}.ts`), example));
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: { ...compilerOptions, paths, typeRoots: [join(root, 'node_modules/@types')] },
      files: examples.map((_, at) => `example-${at + 1}.ts`),
    }),
  );
  const { status, stdout } = spawnSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder], { cwd: folder });
  return { code: status, out: stdout.toString() };
}

const examples = [...readFileSync(join(root, 'docs/guides/library.md'), 'utf8').matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(
  ([, text = '']) => text,
);

test('library.md: every example compiles', () => {
  expect(examples.length).toBeGreaterThanOrEqual(7);
  expect(compiled(examples).out).toBe('');
}, 60_000);

test('library.md: an example with a wrong option would be found', () => {
  const { code, out } = compiled([`import { toolTrajectory } from 'tracejury/evaluators';\ntoolTrajectory({ mode: 'backwards' });\n`]);
  expect(code).not.toBe(0);
  expect(out).toContain('backwards');
}, 60_000);
