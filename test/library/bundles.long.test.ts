/** The part of the library in the bundle of a program that uses a part of it. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { rolldown } from 'rolldown';
import { expect, onTestFinished, test } from 'vitest';
import { parsers } from './parsers.ts';

const root = join(import.meta.dirname, '../..');
const evaluators = JSON.stringify(join(root, 'src/library/evaluators.ts'));
const agentTrace = JSON.stringify(join(root, 'src/library/agent-trace.ts'));

const bundles = [
  { name: 'toolTrajectory', wanted: [] },
  { name: 'toolError', wanted: [] },
  { name: 'codeParseable', wanted: parsers },
];
for (const { name, wanted } of bundles) {
  test(`library: a bundle with only ${name} has ${wanted.length === 0 ? 'no parser' : 'the parsers'} of code in it`, async () => {
    const { files } = await bundled(`import { ${name} } from ${evaluators}; console.log(${name}());`);
    expect(parsers.filter((parser) => files.some((file) => file.includes(`/node_modules/${parser}/`)))).toEqual(wanted);
  });
}

test('library: a bundle has the packages that its evaluators load, and needs no others', async () => {
  const output = ['js', 'ts', 'python', 'php', 'rust', 'sh', 'css', 'xml', 'yaml'].map((fence) => `\`\`\`${fence}\n\n\`\`\``).join('\n');
  const { code } = await bundled(
    `import { evaluate, codeParseable } from ${evaluators};
     import { agentTrace } from ${agentTrace};
     const trace = agentTrace({ input: 'x', toolCalls: [], finalResponse: ${JSON.stringify(output)} });
     const [verdict] = await evaluate(trace, {}, [codeParseable()]);
     console.log(verdict.kind);`,
  );
  const folder = mkdtempSync(join(tmpdir(), 'tracejury-bundle-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'program.mjs'), code);
  const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'program.mjs')]);
  expect(stdout).toBe('scored\n');
});

/** A bundle with all packages in it. */
async function bundled(program: string): Promise<{ readonly files: readonly string[]; readonly code: string }> {
  const bundle = await rolldown({
    input: 'program.js',
    cwd: root,
    platform: 'node',
    plugins: [
      {
        name: 'program',
        resolveId: (id) => (id === 'program.js' ? id : undefined),
        load: (id) => (id === 'program.js' ? program : undefined),
      },
    ],
  });
  const { output } = await bundle.generate({ format: 'esm', codeSplitting: false });
  await bundle.close();
  const chunks = output.flatMap((chunk) => (chunk.type === 'chunk' ? [chunk] : []));
  return { files: chunks.flatMap(({ moduleIds }) => moduleIds), code: chunks.map(({ code }) => code).join('') };
}
