/** The tutorial as a reader follows it: its files are written, its changes made, its commands run, and their output compared. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { commandsOf } from './console-block.ts';

const top = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'tracejury-tutorial-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

interface Block {
  readonly language: string;
  readonly file: string;
  readonly text: string;
}

const blocks: readonly Block[] = [
  ...readFileSync(join(top, 'docs/tutorial/gate-a-pull-request.md'), 'utf8').matchAll(/^```(\w+)(?: (\S+))?\n([\s\S]*?)^```$/gm),
].map(([, language = '', file = '', text = '']) => ({ language, file, text }));

installPackages();
let status = 0;
/** In the order of the page: each step goes on with the files that the step before it left. */
for (const [at, block] of blocks.entries()) {
  test(`tutorial: block ${at + 1}, ${block.file === '' ? (block.text.split('\n')[0] ?? '') : block.file}`, () => {
    if (block.language === 'diff') change(block);
    else if (block.language !== 'console') write(block);
    else
      for (const { command, output } of commandsOf(block.text)) {
        const outcome = run(command, status);
        expect(`$ ${command}\n${outcome.output}`).toMatch(output);
        status = outcome.status;
      }
  });
}

test('tutorial: the page shows commands and their output', () => {
  expect(blocks.flatMap(({ language, text }) => (language === 'console' ? commandsOf(text) : [])).length).toBeGreaterThan(9);
});

test('tutorial: the workflow runs scripts of the package.json that the page shows', () => {
  const text = (file: string): string => blocks.findLast((block) => block.file === file)?.text ?? '';
  const { scripts } = JSON.parse(text('package.json')) as { readonly scripts: object };
  const { jobs } = parse(text('.github/workflows/agent.yml')) as {
    readonly jobs: { readonly eval: { readonly steps: readonly { readonly run?: string }[] } };
  };
  const started = jobs.eval.steps.flatMap((step) => /^npm run (\w+)$/.exec(step.run ?? '')?.[1] ?? []);
  expect(started).toEqual(Object.keys(scripts));
});

/** Everything that `npm install` would bring: the launcher of this checkout, and the packages that it was tested with. */
function installPackages(): void {
  mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true });
  symlinkSync(join(top, 'bin/tracejury.cjs'), join(folder, 'node_modules/.bin/tracejury'));
  symlinkSync(join(top, 'node_modules/@opentelemetry'), join(folder, 'node_modules/@opentelemetry'));
}

function write({ file, text }: Block): void {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), text);
}

function change({ file, text }: Block): void {
  const [before = '', after = ''] = ['-', '+'].map((sign) =>
    text
      .split('\n')
      .flatMap((line) => (line.startsWith(sign) ? [line.slice(1)] : []))
      .join('\n'),
  );
  const whole = readFileSync(join(folder, file), 'utf8');
  expect(whole.split(before)).toHaveLength(2);
  writeFileSync(
    join(folder, file),
    whole.replace(before, () => after),
  );
}

/** `npx` looks for the command for a second each time; here it is on the path, with its variable. */
function run(command: string, lastStatus: number): { readonly status: number; readonly output: string } {
  const path = [join(folder, 'node_modules/.bin'), dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter);
  const { status, stdout } = spawnSync(
    'bash',
    ['-c', `npx() { npm_lifecycle_event=npx "$@"; }; (exit ${lastStatus}); { ${command}; } 2>&1`],
    {
      cwd: folder,
      env: { ...process.env, PATH: path, NO_COLOR: '1' },
      encoding: 'utf8',
    },
  );
  return { status: status ?? -1, output: stdout };
}
