/**
 * The tests, by what is named:
 *
 *   npm test                       a newcomer's: types of the product, lint, format, the short tests, and a look at the console in a browser
 *   npm test -- PATH…              the tests nearest to these files, with the static checks that concern them
 *   npm test -- --project NAME     the tests of one project of vitest.config.ts: short, long, alone
 *   npm test -- --project static   every static check: types of tests too, lint with types, unused code
 *
 * Each static check counts as one test. A machine without a browser leaves the console out, and a line reports it. A line is `N passed, M failed`,
 * and the exit code is 1 when M is not 0.
 */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import type { CliOptions } from 'vitest/node';
import { countOf, type Count } from './count.ts';
import { runnerArguments } from './runner-arguments.ts';

const root = join(import.meta.dirname, '..');
const cache = join(root, 'node_modules/.cache');
// Each store of a test starts a thread, which loads the modules of the store again.
process.env['NODE_COMPILE_CACHE'] = join(cache, 'node');
// Colours would only hide the words in a log.
process.env['NO_COLOR'] = '1';
enableCompileCache(process.env['NODE_COMPILE_CACHE']);

interface Check {
  readonly name: string;
  readonly command: readonly string[];
}

const typesOfConsole: Check = { name: 'types of the console', command: ['tsc', '-p', 'src/console/tsconfig.json'] };
const format: Check = { name: 'format', command: ['oxfmt', '--check'] };
/** The build information is kept, so that a second run only reads what has changed. */
const typesOfProduct: Check = {
  name: 'types',
  command: ['tsc', '-p', 'tsconfig.build.json', '--noEmit', '--incremental', '--tsBuildInfoFile', join(cache, 'types.tsbuildinfo')],
};
const lint: Check = { name: 'lint', command: ['oxlint', '--format=unix'] };
const thorough: readonly Check[] = [
  { name: 'types of product and tests', command: ['tsc', '-p', 'tsconfig.json'] },
  typesOfConsole,
  { name: 'lint with types', command: ['oxlint', '--type-aware', '--format=unix'] },
  format,
  { name: 'unused code', command: ['knip', '--no-progress'] },
];

/** Files of the nearest tests: enough to notice nearly every change of one file, and done in seconds. */
const nearestMax = 8;

const { values, positionals } = runnerArguments({ options: { project: { type: 'string' } }, allowPositionals: true });
const count =
  values.project === undefined ? await (positionals.length === 0 ? newcomers() : near(positionals)) : await projects(values.project);
say(`${count.passed} passed, ${count.failed} failed`);
if (values.project === undefined && positionals.length === 0)
  say(
    'Left to the gate, .ci/run: long tests, types of tests, lint with types, unused code, most of the console in a browser, the package.',
  );
process.exit(count.failed === 0 ? 0 : 1);

async function newcomers(): Promise<Count> {
  // Tests wait for clocks and sockets now and then; the static checks and the browser use the cores meanwhile.
  const rest = async (): Promise<Count> => total([await checked([typesOfProduct, typesOfConsole, lint, format]), await browserTests()]);
  return total(await Promise.all([tests({ project: 'short' }), rest()]));
}

async function projects(name: string): Promise<Count> {
  return name === 'static' ? await checked(thorough) : await tests({ project: name });
}

async function near(named: readonly string[]): Promise<Count> {
  const paths = named.map((path) => relative(root, join(process.cwd(), path)));
  for (const path of paths)
    if (!existsSync(join(root, path))) {
      say(`FAILED  ${path} does not exist`);
      return { passed: 0, failed: 1 };
    }
  const files = await testsNear(paths);
  const code = paths.filter((path) => /\.tsx?$/.test(path) || statSync(join(root, path)).isDirectory());
  const isProduct = code.some((path) => /^(src|collectors|evaluators)\b/.test(path));
  const isConsole = code.some((path) => path.startsWith('src/console'));
  const counts = await Promise.all([
    files.length === 0 ? { passed: 0, failed: 0 } : tests({ project: 'short' }, files),
    checked([
      ...(code.length === 0 ? [] : [{ ...lint, command: [...lint.command, ...code] }]),
      { ...format, command: [...format.command, ...paths] },
      ...(isProduct ? [typesOfProduct] : []),
      ...(isConsole ? [typesOfConsole] : []),
    ]),
  ]);
  return total(counts);
}

/** Named test files and folders of tests, and for each other file those that are nearest to it. */
async function testsNear(paths: readonly string[]): Promise<readonly string[]> {
  const isTest = (path: string): boolean =>
    path.endsWith('.test.ts') || (path.startsWith('test/') && statSync(join(root, path)).isDirectory());
  const others = paths.filter((path) => !isTest(path) && path.endsWith('.ts'));
  const found = new Set(paths.filter(isTest));
  if (paths.some((path) => path.endsWith('.md'))) found.add('test/docs/');
  if (others.length > 0) {
    const [{ repositoryFiles }, { isCode }, { nearestTests }] = await Promise.all([
      import('./tidy/tree.ts'),
      import('./tidy/source.ts'),
      import('./mutants/nearest.ts'),
    ]);
    const nearest = nearestTests(repositoryFiles().filter(isCode));
    for (const path of others)
      for (const test of [...testsOfExports(path), ...nearest(path)]
        .filter((one) => !/\.(long|alone)\.test\.ts$/.test(one))
        .slice(0, nearestMax))
        found.add(test);
  }
  return [...found];
}

/** A test of an evaluator has the name of the evaluator, and one file exports several. */
function testsOfExports(path: string): readonly string[] {
  const folder = join('test', dirname(path).replace(/^src\b/, ''));
  return [...readFileSync(join(root, path), 'utf8').matchAll(/^export (?:const|function) (\w+)/gm)]
    .map(([, name = '']) => join(folder, `${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}.test.ts`))
    .filter((test) => existsSync(join(root, test)));
}

async function tests(options: CliOptions, files: readonly string[] = []): Promise<Count> {
  try {
    const { startVitest } = await import('vitest/node');
    const vitest = await startVitest([...files], { ...options, root, watch: false, reporters: ['default'] });
    const modules = vitest.state.getTestModules();
    const counted = countOf(modules, vitest.state.getUnhandledErrors(), say);
    await vitest.close();
    if (modules.length > 0) return counted;
    say(`FAILED  no test was found${files.length === 0 ? '' : ` in ${files.join(', ')}`}`);
  } catch (error) {
    say(`FAILED  tests: ${String(error)}`);
  }
  return { passed: 0, failed: 1 };
}

async function checked(checks: readonly Check[]): Promise<Count> {
  let passed = 0;
  for (const { name, command } of checks) {
    const status = await run(command);
    say(`${status === 0 ? 'ok    ' : 'FAILED'}  ${name}`);
    if (status === 0) passed += 1;
  }
  return { passed, failed: checks.length - passed };
}

/** Its last line has its counts. */
async function browserTests(): Promise<Count> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'console/browser/run.ts'), '--quick'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let last = '';
  for await (const line of createInterface({ input: child.stdout })) {
    if (last !== '') say(last);
    last = line;
  }
  const [, passed, failed] = /^(\d+) passed, (\d+) failed$/.exec(last) ?? [];
  if (passed !== undefined && failed !== undefined) return { passed: Number(passed), failed: Number(failed) };
  say(`FAILED  the console in a browser: ${last}`);
  return { passed: 0, failed: 1 };
}

function run([command = '', ...args]: readonly string[]): Promise<number> {
  const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  return new Promise((resolve) => {
    child.once('error', (error) => {
      say(String(error));
      resolve(1);
    });
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

function total(counts: readonly Count[]): Count {
  return {
    passed: counts.reduce((sum, one) => sum + one.passed, 0),
    failed: counts.reduce((sum, one) => sum + one.failed, 0),
  };
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
