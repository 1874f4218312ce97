/** What is left of the library in the bundle of a program that uses a part of it. */
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { expect, test } from 'vitest';
import { parsers } from './parsers.ts';

const root = join(import.meta.dirname, '../..');

const bundles = [
  { name: 'toolTrajectory', wanted: [] },
  { name: 'toolError', wanted: [] },
  { name: 'codeParseable', wanted: parsers },
];
for (const { name, wanted } of bundles) {
  test(`library: a bundle with ${name} alone has ${wanted.length === 0 ? 'no parser' : 'the parsers'} of code in it`, async () => {
    const { imports } = await bundled(
      `import { ${name} } from ${JSON.stringify(join(root, 'src/library/evaluators.ts'))}; console.log(${name}());`,
    );
    expect(imports.filter((target) => parsers.includes(target)).sort()).toEqual(wanted);
  });
}

/** The packages that are left in a bundle of this program. */
async function bundled(program: string): Promise<{ readonly imports: readonly string[] }> {
  const bundle = await rolldown({
    input: 'program.js',
    cwd: root,
    external: /^[^./]/,
    platform: 'node',
    plugins: [
      {
        name: 'program',
        resolveId: (id) => (id === 'program.js' ? id : undefined),
        load: (id) => (id === 'program.js' ? program : undefined),
      },
    ],
  });
  const { output } = await bundle.generate({ format: 'esm' });
  await bundle.close();
  return { imports: output.flatMap((chunk) => (chunk.type === 'chunk' ? chunk.imports : [])) };
}
