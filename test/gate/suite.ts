/** One suite of the gate as a process: what it prints, what it counts, and an end in time. */
import { spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Suite {
  readonly name: string;
  readonly command: readonly [program: string, ...words: string[]];
  readonly env?: { readonly [name: string]: string };
  /** Passes or fails as a whole, by its exit code. Otherwise it ends with `N passed, M failed`. */
  readonly isOneCheck?: boolean;
  /** `waits` runs beside others. `works` uses every core, one such suite at a time. `alone` measures, with nothing beside it, after all others. */
  readonly load: 'waits' | 'works' | 'alone';
  /** Names of the suites that make what it uses. When one of them fails, it fails without a start. */
  readonly needs?: readonly string[];
  /** It is killed after this time, and has failed. */
  readonly minutesMax: number;
}

export interface Outcome {
  readonly passed: number;
  readonly failed: number;
  readonly seconds: number;
  /** Why it failed, unless its own checks show it. */
  readonly fault: string | undefined;
  /** Its output, without the line that counts. */
  readonly output: string;
}

export interface RunningSuite {
  readonly outcome: Promise<Outcome>;
  /** Kills it. It has failed for this reason. */
  stop(reason: string): void;
}

const countsLine = /^(\d+) passed, (\d+) failed$/gm;

export function startSuite({ command: [program, ...words], env, isOneCheck = false, minutesMax }: Suite): RunningSuite {
  const startMs = performance.now();
  const folder = mkdtempSync(join(tmpdir(), 'tracejury-gate-'));
  const path = join(folder, 'output');
  // A file, because a pipe stays open as long as any process that the suite left behind.
  const file = openSync(path, 'w');
  const child = spawn(program, words, { stdio: ['ignore', file, file], detached: true, env: { ...process.env, ...env } });
  closeSync(file);
  let fault: string | undefined;
  const stop = (reason: string): void => {
    fault ??= reason;
    if (child.pid !== undefined) killTree(child.pid);
  };
  const timer = setTimeout(() => stop(`killed after ${minutesMax} minutes`), minutesMax * 60_000);
  const exit = new Promise<number | undefined>((resolve) => {
    child.once('error', (error) => {
      fault ??= error.message;
      resolve(undefined);
    });
    child.once('exit', (code) => resolve(code ?? undefined));
  });
  return {
    stop,
    outcome: exit.then((code) => {
      clearTimeout(timer);
      // Ends what the suite left running in its group.
      if (child.pid !== undefined) killTree(child.pid);
      const output = readFileSync(path, 'utf8');
      rmSync(folder, { recursive: true });
      const seconds = (performance.now() - startMs) / 1_000;
      return {
        ...(isOneCheck ? asOneCheck(code, fault) : counted(output, code, fault)),
        seconds,
        output: output.replaceAll(countsLine, '').trimEnd(),
      };
    }),
  };
}

type Counts = Pick<Outcome, 'passed' | 'failed' | 'fault'>;

function asOneCheck(code: number | undefined, before: string | undefined): Counts {
  const fault = before ?? (code === 0 ? undefined : `exit code ${code ?? 'none'}`);
  return { passed: fault === undefined ? 1 : 0, failed: fault === undefined ? 0 : 1, fault };
}

/** A failure that the suite did not count is one failure. */
function counted(output: string, code: number | undefined, before: string | undefined): Counts {
  const last = [...output.matchAll(countsLine)].at(-1);
  const [passed, failed] = [Number(last?.[1] ?? 0), Number(last?.[2] ?? 0)];
  const fault = before ?? uncounted({ isCounted: last !== undefined, passed, failed, code });
  return { passed, failed: failed + (fault === undefined ? 0 : 1), fault };
}

function uncounted({
  isCounted,
  passed,
  failed,
  code,
}: {
  readonly isCounted: boolean;
  readonly passed: number;
  readonly failed: number;
  readonly code: number | undefined;
}): string | undefined {
  if (!isCounted) return 'it printed no line `N passed, M failed`';
  if (passed + failed === 0) return 'it checked nothing';
  return code !== 0 && failed === 0 ? `exit code ${code ?? 'none'}, although no check failed` : undefined;
}

/** Kills the group of a process and, on Linux, each descendant that made a separate group. */
function killTree(pid: number): void {
  for (const one of [-pid, ...descendants(pid)])
    try {
      process.kill(one, 'SIGKILL');
    } catch {
      // It has ended.
    }
}

function descendants(pid: number): readonly number[] {
  const children = new Map<number, number[]>();
  for (const entry of process.platform === 'linux' ? readdirSync('/proc') : []) {
    const parent = /^\d+$/.test(entry) ? parentOf(entry) : undefined;
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), Number(entry)]);
  }
  const found = [...(children.get(pid) ?? [])];
  for (const one of found) found.push(...(children.get(one) ?? []));
  return found;
}

/** Undefined: the process has ended meanwhile. */
function parentOf(pid: string): number | undefined {
  try {
    // The name of the program, in brackets, may hold anything. The state and the parent follow.
    return Number(/.*\) \S (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, 'latin1'))?.[1]);
  } catch {
    return undefined;
  }
}
