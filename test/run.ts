/**
 * `npm test`: types, lint, unused code, the short tests and the quick part of the console in a browser; each static check counts as one test.
 * A machine without a browser leaves the last part out, and a line says so. `npm run test:long`: the long tests.
 * The last line is `N passed, M failed`; the exit code is 1 when M is not 0.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

interface Count {
  readonly passed: number;
  readonly failed: number;
}

/** The part of the JSON reporter's file that is counted. */
interface VitestReport {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly { readonly status: string }[];
  }[];
}

const countsLine = /^(\d+) passed, (\d+) failed$/;
const project = process.argv[2] === 'long' ? 'long' : 'short';
const checks: readonly { readonly name: string; readonly command: readonly string[] }[] = [
  { name: 'types', command: ['tsc', '-p', 'tsconfig.json'] },
  { name: 'types of the console', command: ['tsc', '-p', 'src/console/tsconfig.json'] },
  { name: 'lint', command: ['oxlint', '--format=unix'] },
  { name: 'format', command: ['oxfmt', '--check'] },
  { name: 'unused code', command: ['knip', '--no-progress'] },
];

// Tests wait for clocks and sockets now and then; the static checks use the cores meanwhile.
const counts = await Promise.all([tests(), project === 'short' ? staticChecks() : { passed: 0, failed: 0 }]);
// A browser measures what people wait for, so it has the machine to itself.
if (project === 'short') counts.push(await browserTests());
const passed = total(counts.map((count) => count.passed));
const failed = total(counts.map((count) => count.failed));
say(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

async function staticChecks(): Promise<Count> {
  let passed = 0;
  for (const { name, command } of checks) {
    const status = await run(command);
    say(`${status === 0 ? 'ok    ' : 'FAILED'}  ${name}`);
    if (status === 0) passed += 1;
  }
  return { passed, failed: checks.length - passed };
}

async function tests(): Promise<Count> {
  const folder = mkdtempSync(join(tmpdir(), 'tracejury-test-'));
  const report = join(folder, 'report.json');
  try {
    const status = await run([
      'vitest',
      'run',
      `--project=${project}`,
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${report}`,
    ]);
    return countOf(JSON.parse(readFileSync(report, 'utf8')) as VitestReport, status);
  } catch (error) {
    say(`FAILED  tests: ${String(error)}`);
    return { passed: 0, failed: 1 };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Its last line has its counts. */
async function browserTests(): Promise<Count> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'console/browser/run.ts'), '--quick'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let last = '';
  for await (const line of createInterface({ input: child.stdout })) {
    last = line;
    if (!countsLine.test(line)) say(line);
  }
  const [, passed, failed] = countsLine.exec(last) ?? [];
  if (passed !== undefined && failed !== undefined) return { passed: Number(passed), failed: Number(failed) };
  say('FAILED  the console in a browser');
  return { passed: 0, failed: 1 };
}

/** A skipped test is a failed one: nothing here may be left out in silence. So is a file that could not be loaded. */
function countOf(report: VitestReport, status: number): Count {
  const skipped = report.numPendingTests + report.numTodoTests;
  const broken = report.testResults.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
  );
  for (const file of broken) say(`FAILED  ${file.name}`);
  if (skipped > 0) say(`FAILED  ${skipped} tests were skipped`);
  const failedTests = report.numFailedTests + skipped + broken.length;
  // Vitest also fails on an error outside every test, which the report does not count.
  return { passed: report.numPassedTests, failed: failedTests === 0 && status !== 0 ? 1 : failedTests };
}

function run([command = '', ...args]: readonly string[]): Promise<number> {
  const env = {
    ...process.env,
    // Colours would only hide the words in a log.
    NO_COLOR: '1',
    // Each store of a test starts a thread, which loads the modules of the store again.
    NODE_COMPILE_CACHE: join(import.meta.dirname, '../node_modules/.cache/node'),
  };
  const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'], env });
  return new Promise((resolve) => {
    child.once('error', (error) => {
      say(String(error));
      resolve(1);
    });
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
