/** The examples of docs/guides/library.md compile unchanged, and run, against the entries that they import. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
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
});

test('library.md: an example with a wrong option would be found', () => {
  const { code, out } = compiled([`import { toolTrajectory } from 'tracejury/evaluators';\ntoolTrajectory({ mode: 'backwards' });\n`]);
  expect(code).not.toBe(0);
  expect(out).toContain('backwards');
});

/** Examples that a program runs unchanged: matchers need Vitest, and an address may have a server behind it. */
const programs = examples.filter((example) => !/from 'vitest'|http:\/\//.test(example));

/** Runs the examples one after the other in a project that has the package, whose entries are the sources. */
function ran(sources: readonly string[]): { readonly code: number | null; readonly lines: readonly string[]; readonly err: string } {
  const project = mkdtempSync(join(folder, 'project-'));
  const installed = join(project, 'node_modules/tracejury');
  mkdirSync(installed, { recursive: true });
  for (const part of ['src', 'collectors', 'evaluators']) symlinkSync(join(root, part), join(installed, part));
  symlinkSync(join(root, 'node_modules/@opentelemetry'), join(project, 'node_modules/@opentelemetry'));
  const entries = Object.entries(paths).map(([entry, [source = '']]) => [
    `.${entry.slice('tracejury'.length)}`,
    `.${source.slice(root.length)}`,
  ]);
  writeFileSync(
    join(installed, 'package.json'),
    JSON.stringify({ name: 'tracejury', type: 'module', exports: Object.fromEntries(entries) }),
  );
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }');
  sources.forEach((source, at) => writeFileSync(join(project, `example-${at + 1}.ts`), source));
  writeFileSync(join(project, 'all.ts'), sources.map((_, at) => `await import('./example-${at + 1}.ts');\n`).join(''));
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(project, 'all.ts')], { cwd: project });
  return { code: status, lines: stdout.toString().split('\n'), err: stderr.toString() };
}

test('library.md: the examples that need no endpoint run, and the experiment passes', () => {
  expect(programs.length).toBeGreaterThanOrEqual(10);
  const { code, lines, err } = ran(programs);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(lines).toContain('1/1');
  expect(lines).toContainEqual(expect.stringMatching(/^1 0 0 0 /));
});

test('library.md: an example that throws would be found', () => {
  expect(ran([`import { factory } from 'tracejury/evaluators';\nthrow new Error(typeof factory);\n`])).toMatchObject({
    code: 1,
    err: expect.stringContaining('Error: function') as string,
  });
});
