/**
 * `npm run test:mutants -- --count N --seed S`: takes N single changes at random places of `src`, `collectors` and `evaluators`, and tells for each whether a test
 * notices it. `--from K` begins with the K-th, so that a long run goes in pieces; `--only TEXT` takes places whose path holds the text. Changes are made in a copy of the repository in a
 * temporary folder, never here. Child processes and worker threads see them too, which a transform of the test runner would not reach.
 */
import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { seeded, type Chance } from '../builders/seeded.ts';
import { isCode, isProduct, nodesOf, type SourceFile } from '../tidy/source.ts';
import { repositoryFiles } from '../tidy/tree.ts';
import { equivalents } from './equivalent.ts';
import { mutantsOf, type Mutant } from './mutations.ts';

/** Share of the changes that must be noticed. */
const killedShareMin = 0.95;
/** Test files that run first, and all that run; those that import the changed file over the fewest steps, and among equals those that import least. */
const [nearMax, farMax] = [5, 16];
/** Of one process of the tests: a loop that never ends is noticed by that, on a busy machine too, and when this process is killed. */
const processorSecondsMax = 60;
const testTimeoutMs = 45_000;
/** Of one run of tests. One that takes longer decides nothing. */
const timeoutMs = 420_000;
/** They read text of the repository, start images or measure, and say nothing about one change. */
const leftOut = /^test\/(tidy|docs|docker|bench|mutants|faults|examples)\b/;

const notCopied: ReadonlySet<string> = new Set(['.git', 'node_modules', 'coverage']);

const { values } = parseArgs({ options: { count: { type: 'string', default: '100' }, seed: { type: 'string', default: '1' }, from: { type: 'string', default: '0' }, only: { type: 'string', default: '' } } });
const root = fileURLToPath(new URL('../..', import.meta.url));
const files = repositoryFiles().filter(isCode);
const imports = new Map(files.map((file) => [file.path, importsOf(file)]));
const importers = importersOfAll();
const copy = mkdtempSync(join(tmpdir(), 'tracejury-mutants-'));
const undecided = 'undecided';
const report = join(copy, 'report.json');
let running: number | undefined;
/** Test files that failed once, with whether they pass without a change. */
const greens = new Map<string, boolean>();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => end(signal));
process.once('exit', () => rmSync(copy, { recursive: true, force: true }));
process.exitCode = await everything();

async function everything(): Promise<number> {
  // All of it: tests read the Dockerfile, for one.
  cpSync(root, copy, { recursive: true, filter: (from) => !notCopied.has(relative(root, from)) });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  const chance = seeded(Number(values.seed));
  const wanted = chosen(files.filter((file) => isProduct(file) && file.path.includes(values.only)), Number(values.count), chance).slice(Number(values.from));
  const survivors: Mutant[] = [];
  let [killed, equivalent] = [0, 0];
  for (const mutant of wanted) {
    const reason = equivalents.get(mutant.change);
    if (reason !== undefined) equivalent++;
    const outcome = reason === undefined ? await outcomeOf(mutant) : `equivalent: ${reason}`;
    if (outcome === undefined || outcome === undecided) survivors.push(mutant);
    else if (reason === undefined) killed++;
    say(`${outcome ?? 'survived'}  ${place(mutant)}  ${mutant.change}`);
  }
  for (const mutant of survivors) say(`SURVIVED  ${place(mutant)}  ${mutant.change}`);
  if (equivalent > 0) say(`${equivalent} equivalent, left out of the count`);
  say(`${killed} passed, ${survivors.length} failed`);
  return killed + survivors.length > 0 && killed / (killed + survivors.length) >= killedShareMin ? 0 : 1;
}

/** One of each folder while there are folders, then by chance over all places. */
function chosen(from: readonly SourceFile[], count: number, chance: Chance): readonly Mutant[] {
  const all = from.flatMap(mutantsOf);
  const first = [...Map.groupBy(all, ({ path }) => path.split('/').slice(0, path.startsWith('src/') ? 2 : 1).join('/')).values()].map((folder) => chance.pick(folder));
  return [...new Set([...chance.shuffled(first), ...chance.shuffled(all)])].slice(0, count);
}

/** By what it was killed; undefined: it survived. */
async function outcomeOf(mutant: Mutant): Promise<string | undefined> {
  const original = readFileSync(join(root, mutant.path), 'utf8');
  const changed = original.slice(0, mutant.start) + mutant.replacement + original.slice(mutant.end);
  const write = (text: string): void => writeFileSync(join(copy, mutant.path), text);
  const tests = testsOf(mutant.path).slice(0, farMax);
  try {
    for (const some of [tests.slice(0, nearMax), tests.slice(nearMax)]) {
      for (;;) {
        const left = some.filter((test) => greens.get(test) !== false);
        if (left.length === 0) break;
        write(changed);
        const failure = await failureOf(left);
        if (failure === undefined) break;
        if (failure.kind === 'undecided') return undecided;
        // A test that fails without the change too says nothing about it.
        write(original);
        const suspects = failure.kind === 'test' ? [failure.path] : left;
        for (const test of suspects) if (!greens.has(test)) greens.set(test, await isGreen(test));
        if (suspects.every((test) => greens.get(test) === true)) return `killed by ${failure.kind === 'test' ? failure.path : failure.words}`;
      }
    }
    return undefined;
  } finally {
    write(original);
  }
}

/** Whether it passes without a change. */
async function isGreen(test: string): Promise<boolean> {
  const failure = await failureOf([test]);
  if (failure !== undefined) say(`RED  ${test} fails without a change and decides nothing`);
  return failure === undefined;
}

type Failure = { readonly kind: 'test'; readonly path: string } | { readonly kind: 'process'; readonly words: string } | { readonly kind: 'undecided' };

/** The first one; undefined: all passed. */
async function failureOf(tests: readonly string[]): Promise<Failure | undefined> {
  rmSync(report, { force: true });
  const command = `ulimit -t ${processorSecondsMax}; exec node node_modules/vitest/vitest.mjs run --bail=1 --silent --testTimeout=${testTimeoutMs} --reporter=json --outputFile=${report} "$@"`;
  const child = spawn('sh', ['-c', command, 'sh', ...tests], { cwd: copy, stdio: 'ignore', detached: true, env: { ...process.env, NO_COLOR: '1', CI: '1' } });
  running = child.pid;
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    stop();
  }, timeoutMs);
  const status = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  clearTimeout(timer);
  stop();
  if (status === 0) return undefined;
  // Without a report the tests did not begin.
  if (late || (status !== null && !existsSync(report))) return { kind: 'undecided' };
  if (status === null) return { kind: 'process', words: 'the processor seconds of its process' };
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as { readonly testResults: readonly { readonly name: string; readonly status: string }[] };
  const failed = testResults.find((one) => one.status === 'failed')?.name;
  return failed === undefined ? { kind: 'process', words: 'an error outside the tests' } : { kind: 'test', path: failed.slice(failed.indexOf('/test/') + 1) };
}

/** Ends the run of tests with all its processes. */
function stop(): void {
  const pid = running;
  running = undefined;
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

function end(signal: NodeJS.Signals): void {
  stop();
  process.exit(signal === 'SIGINT' ? 130 : 143);
}

/** Test files that import it, nearest first; its own test, those of the files that import it, and those of its folder come before others. */
function testsOf(path: string): readonly string[] {
  const distances = new Map([[path, 0]]);
  for (const [at, distance] of distances) for (const by of importers.get(at) ?? []) if (!distances.has(by)) distances.set(by, distance + 1);
  const own = dirname(path).replace(/^src\//, '');
  const testOf = (of: string): string => `test/${of.replace(/^src\//, '').replace(/\.ts$/, '.test.ts')}`;
  const users = new Set((importers.get(path) ?? []).map(testOf));
  const rank = (test: string): number => (distances.get(test) ?? 0) + (test === testOf(path) ? -10 : users.has(test) ? -5 : dirname(test).startsWith(`test/${own}`) ? -1 : 0);
  return [...distances.keys()].filter((test) => test.endsWith('.test.ts') && !leftOut.test(test)).sort((a, b) => rank(a) - rank(b) || size(a) - size(b));
}

/** Files that it imports, over any number of steps. */
function size(test: string): number {
  const seen = new Set([test]);
  for (const path of seen) for (const imported of imports.get(path) ?? []) seen.add(imported);
  return seen.size;
}

function importersOfAll(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const [by, all] of imports) for (const imported of all) found.set(imported, [...(found.get(imported) ?? []), by]);
  return found;
}

function importsOf(file: SourceFile): readonly string[] {
  const named = nodesOf(file).flatMap(({ node }) => (/^(Import|ExportNamed|ExportAll)(Declaration|Expression)?$/.test(node.type) ? [(node['source'] as { readonly value?: unknown } | null)?.value] : []));
  return named.flatMap((name) => (typeof name !== 'string' ? [] : name.startsWith('.') ? [relative('', normalize(join(dirname(file.path), name)))] : name.startsWith('tracejury/') ? [`src/library/${name.slice(10)}.ts`] : []));
}

function place({ path, start }: Mutant): string {
  return `${path}:${files.find((file) => file.path === path)?.text.slice(0, start).split('\n').length ?? 0}`;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
