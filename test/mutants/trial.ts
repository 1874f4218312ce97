/** Runs tests in a copy of the repository that holds one change. */
import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import type { Mutant } from './mutations.ts';

/** Test files of one run each: most changes are noticed by the nearest test, and what outlives all of these counts as unnoticed. */
const groupEnds = [1, 4, 10, 20];
/** Limit of one process of the tests: it notices a loop that never ends, on a busy machine too. */
const processorSecondsMax = 60;
const testTimeoutMs = 45_000;
/** Limit of one run of tests. One that takes longer decides nothing. */
const timeoutMs = 300_000;
const notCopied: ReadonlySet<string> = new Set(['.git', 'node_modules', 'coverage']);

export type Outcome = { readonly kind: 'killed'; readonly by: string } | { readonly kind: 'survived' | 'undecided' };

export interface Trials {
  /** `tests` come nearest first. A change that one of them cannot decide, and no other notices, is undecided. */
  outcomeOf(mutant: Mutant, tests: readonly string[]): Promise<Outcome>;
  /** Ends what runs and removes the copy. */
  end(): void;
}

/** `passed`: all of them. `undecided`: the run took too long, or the tests did not begin. */
type Result = 'passed' | 'failed' | 'undecided';

/** `noted`: receives a line about each test that decides nothing. */
export function trials(root: string, noted: (line: string) => void): Trials {
  const copy = mkdtempSync(join(tmpdir(), 'tracejury-mutants-'));
  const report = join(copy, 'report.json');
  // All of it: tests read the Dockerfile, for one.
  cpSync(root, copy, { recursive: true, filter: (from) => !notCopied.has(relative(root, from)) });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  let running: number | undefined;
  /** Results of single test files without a change. */
  const baselines = new Map<string, Result>();

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

  async function run(tests: readonly string[]): Promise<Result> {
    rmSync(report, { force: true });
    // Files share their modules, which hold no state: loading them again for each file is most of the time.
    const command = `ulimit -t ${processorSecondsMax}; exec node node_modules/vitest/vitest.mjs run --bail=1 --silent --no-isolate --testTimeout=${testTimeoutMs} --hookTimeout=${testTimeoutMs} --reporter=json --outputFile=${report} "$@"`;
    const child = spawn('sh', ['-c', command, 'sh', ...tests], {
      cwd: copy,
      stdio: 'ignore',
      detached: true,
      env: { ...process.env, NO_COLOR: '1', CI: '1' },
    });
    running = child.pid;
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      stop();
    }, timeoutMs);
    const status = await new Promise<number | null>((resolve) => child.once('exit', resolve));
    clearTimeout(timer);
    stop();
    if (status === 0) return 'passed';
    return late || (status !== null && !existsSync(report)) ? 'undecided' : 'failed';
  }

  /** A failure counts when the test fails by itself with the change, and passes by itself without it. */
  async function noticed(test: string, change: Change): Promise<Result> {
    change.make();
    const result = await run([test]);
    if (result !== 'failed') return result;
    change.undo();
    const baseline = baselines.get(test) ?? (await run([test]));
    if (baseline !== 'undecided') baselines.set(test, baseline);
    if (baseline === 'passed') return 'failed';
    noted(`${baseline === 'failed' ? 'fails' : 'undecided'} without a change: ${test}`);
    return 'undecided';
  }

  return {
    async outcomeOf(mutant, tests) {
      const change = changeOf(mutant, root, copy);
      let isDecided = true;
      let start = 0;
      try {
        for (const end of groupEnds) {
          const near = tests.slice(start, end);
          start = end;
          const group = near.filter((test) => baselines.get(test) !== 'failed');
          isDecided &&= group.length === near.length;
          if (group.length === 0) continue;
          change.make();
          if ((await run(group)) === 'passed') continue;
          for (const test of group) {
            const result = await noticed(test, change);
            if (result === 'failed') return { kind: 'killed', by: test };
            isDecided &&= result === 'passed';
          }
        }
        return { kind: isDecided ? 'survived' : 'undecided' };
      } finally {
        change.undo();
      }
    },
    end() {
      stop();
      rmSync(copy, { recursive: true, force: true });
    },
  };
}

interface Change {
  make(): void;
  undo(): void;
}

function changeOf({ path, start, end, replacement }: Mutant, root: string, copy: string): Change {
  const original = readFileSync(join(root, path), 'utf8');
  const write = (text: string): void => writeFileSync(join(copy, path), text);
  return { make: () => write(original.slice(0, start) + replacement + original.slice(end)), undo: () => write(original) };
}
