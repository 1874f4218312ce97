/**
 * The package as a user gets it: packed, installed in an empty project, started on this Node and on every older one of the PATH.
 * Packages come from npm's cache where it has them. The last line is `N passed, M failed`.
 */
import { execFile, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, relative } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../builders/free-port.ts';
import { ended } from '../ended-process.ts';

interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

interface Packed {
  readonly filename: string;
  readonly version: string;
  readonly files: readonly { readonly path: string }[];
}

const top = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'tracejury-package-'));
const project = join(folder, 'project');
const notCopied: ReadonlySet<string> = new Set(['.git', 'node_modules', 'dist', 'coverage', 'tracejury-data']);
const majorLeast = 24;
/** Each file that a start reads costs CPU time and memory. */
const codeFilesMax = 200;
const startWithinMs = 30_000;
const lookEveryMs = 100;
let passed = 0;
let failed = 0;

try {
  await everything();
} finally {
  rmSync(folder, { recursive: true });
}
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;

async function everything(): Promise<void> {
  const packing = await ran('npm', ['pack', '--json', '--pack-destination', folder], { cwd: checkout() });
  const packed = packing.code === 0 ? packedOf(packing.out) : undefined;
  probe('npm pack makes the package', packed !== undefined, packing);
  if (packed === undefined) return;
  const paths = packed.files.map(({ path }) => path);
  probe(
    'it holds the launcher, the program, the library and the console',
    ['bin/tracejury.cjs', 'dist/src/cli/main.js', 'dist/src/library/evaluators.js', 'dist/console/index.html'].every((path) =>
      paths.includes(path),
    ),
  );
  const code = paths.filter((path) => /^dist\/(src|collectors|evaluators)\/.*\.c?js$/.test(path));
  probe(`it bundles its code: at most ${codeFilesMax} files`, code.length <= codeFilesMax, { code: code.length, out: '', err: '' });
  probe('it holds no source and no Node', !paths.some((path) => /^(src|test|node|node_modules)\//.test(path)));

  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{ "name": "empty", "version": "1.0.0", "private": true, "type": "module" }\n');
  const installing = await ran('npm', ['install', join(folder, packed.filename), '--prefer-offline', '--no-audit', '--no-fund']);
  probe('it can be installed in an empty project', installing.code === 0, installing);
  probe(
    "it does not touch the project's Node",
    !existsSync(join(project, 'node_modules/.bin/node')) &&
      readdirSync(join(project, 'node_modules')).every((name) => !/^node(-|$)/.test(name)),
  );
  await onThisNode(packed.version);
  await onOlderNodes();
}

/** Packing builds anew. Other suites read what is built here meanwhile, so it happens in a copy. */
function checkout(): string {
  const copy = join(folder, 'checkout');
  cpSync(top, copy, { recursive: true, filter: (from) => !notCopied.has(relative(top, from)) });
  symlinkSync(join(top, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

async function onThisNode(version: string): Promise<void> {
  const path = `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}`;
  const versions = await ran('npx', ['tracejury', '--version'], { path });
  probe(`on ${process.version} npx tracejury prints its version`, versions.code === 0 && versions.out.trim() === version, versions);
  const catalogue = await ran('npx', ['tracejury', 'evaluators'], { path });
  probe('its catalogue of evaluators is there', catalogue.code === 0 && catalogue.out.includes('tool_error'), catalogue);
  const source =
    "import { evaluate, toolError } from 'tracejury/evaluators'; import { agentTrace } from 'tracejury/agent-trace'; import { openAiCompatibleJudge } from 'tracejury/judges'; openAiCompatibleJudge({ model: 'm' }); const [verdict] = await evaluate(agentTrace({ input: 'x', toolCalls: [], finalResponse: 'y' }), {}, [toolError()]); process.stdout.write(verdict.kind);";
  const library = await ran(process.execPath, ['--input-type=module', '-e', source]);
  probe('its library can be imported', library.code === 0 && library.out === 'skipped', library);
  writeFileSync(join(project, 'agent.ts'), readFileSync(join(top, 'examples/span-processor/agent.ts')));
  const agent = await ran(process.execPath, ['agent.ts']);
  probe(
    'an agent with its span processor prints an evaluation span',
    agent.code === 0 && agent.out.includes("'tracejury.verdict': 'fail'") && agent.out.includes('"sent":1'),
    agent,
  );
  probe('the service starts, shows the console and ends in order', await serves());
}

async function onOlderNodes(): Promise<void> {
  const launcher = join(project, 'node_modules/tracejury/bin/tracejury.cjs');
  let older = 0;
  const nodes = (process.env['PATH'] ?? '').split(delimiter).map((place) => join(place, 'node'));
  for (const node of new Set(nodes.filter((file) => existsSync(file)).map((file) => realpathSync(file)))) {
    const version = (await ran(node, ['-v'])).out.trim();
    if (parseInt(version.slice(1), 10) >= majorLeast) continue;
    older++;
    const outcome = await ran(node, [launcher, '--version']);
    probe(
      `on ${version} it prints one sentence and ends with 1`,
      outcome.code === 1 && outcome.out === '' && /^tracejury needs Node 24 or newer[^\n]*\n$/.test(outcome.err),
      outcome,
    );
  }
  if (older === 0) process.stdout.write('no older Node is on the PATH: test/cli/launcher.long.test.ts holds what one would see\n');
}

async function serves(): Promise<boolean> {
  const [http, grpc, page] = [await freePort(), await freePort(), await freePort()];
  writeFileSync(
    join(project, 'tracejury.yaml'),
    `listen: { otlp_http: "127.0.0.1:${http}", otlp_grpc: "127.0.0.1:${grpc}", console: "127.0.0.1:${page}" }\nstore: { url: "memory:" }\njournal: { url: "memory:" }\n`,
  );
  const child = spawn(process.execPath, [join(project, 'node_modules/.bin/tracejury'), 'serve', '-c', 'tracejury.yaml'], {
    cwd: project,
    stdio: 'ignore',
  });
  const endMs = performance.now() + startWithinMs;
  let isReady = false;
  let hasConsole = false;
  while (!isReady && child.exitCode === null && performance.now() < endMs) {
    isReady = (await fetch(`http://127.0.0.1:${page}/readyz`).catch(() => undefined))?.ok === true;
    await pause(lookEveryMs);
  }
  if (isReady) hasConsole = (await (await fetch(`http://127.0.0.1:${page}/`)).text()).includes('/assets/');
  return (await ended(child)) === 0 && isReady && hasConsole;
}

/** The list in npm's output; versions differ in whether it is one. */
function packedOf(text: string): Packed | undefined {
  const found = JSON.parse(text.slice(text.search(/^[[{]/m))) as readonly Packed[] | { readonly [name: string]: Packed };
  return Object.values(found)[0];
}

function ran(
  command: string,
  args: readonly string[],
  { cwd = project, path = process.env['PATH'] }: { readonly cwd?: string; readonly path?: string | undefined } = {},
): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(
      command,
      [...args],
      { cwd: existsSync(cwd) ? cwd : top, env: { ...process.env, PATH: path }, maxBuffer: 1 << 26 },
      (error, out, err) => {
        resolve({ code: error === null ? 0 : Number(error.code), out, err });
      },
    );
  });
}

function probe(name: string, holds: boolean, outcome?: Outcome): void {
  if (holds) passed++;
  else failed++;
  process.stdout.write(`${holds ? 'ok    ' : 'FAILED'}  ${name}\n`);
  if (!holds && outcome !== undefined) process.stdout.write(`${outcome.code}\n${outcome.out}${outcome.err}\n`);
}
