/** Runs the command of an agent once: input, time, output and processes within limits. */
import { spawn, type ChildProcess } from 'node:child_process';
import type { Environment } from '../../config/document.ts';
import type { Sleep } from '../../model/clock.ts';
import { codeOf } from '../command.ts';
import type { ProcessGuard } from '../record/process-guard.ts';

interface ProcessRun {
  readonly command: readonly string[];
  readonly env: Environment;
  /** Written to standard input. */
  readonly input: string;
  readonly timeoutMs: number;
  readonly sleep: Sleep;
  /** Aborted: the processes are killed. */
  readonly signal: AbortSignal;
  /** Kills the processes when this one is killed. */
  readonly guard?: Pick<ProcessGuard, 'add' | 'remove'> | undefined;
}

/** `tail`: the end of standard error, or else of standard output. */
export type ProcessEnd =
  | { readonly kind: 'exited'; readonly code: number; readonly tail: string }
  | { readonly kind: 'killed_by'; readonly signal: string; readonly tail: string }
  | { readonly kind: 'timed_out'; readonly tail: string }
  | { readonly kind: 'too_much_output'; readonly tail: string }
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'not_started'; readonly code: string };

interface AgentProcess {
  readonly end: Promise<ProcessEnd>;
  /** True while the command, or a process that it has started, is running. */
  groupExists(): boolean;
  /** Ends what the command has left running. May be called twice. */
  killGroup(): void;
}

/** Bound of standard output and standard error together. */
export const outputBytesMax = 16 * 1024 * 1024;
const tailCharsMax = 2_000;
/** Between the polite signal and the other one: an agent may send its spans. */
const graceMs = 2_000;
/** After the exit, for output that is still in the pipe; a process that the agent has left running may hold it open for ever. */
const drainMs = 200;

/** Starts the command in its own process group, so that all its processes end with it. */
export function agentProcess({ command: [program = '', ...args], env, input, timeoutMs, sleep, signal, guard }: ProcessRun): AgentProcess {
  const child = started(program, args, env);
  if (typeof child === 'string')
    return { end: Promise.resolve({ kind: 'not_started', code: child }), groupExists: () => false, killGroup: () => undefined };
  const signalled = (how: NodeJS.Signals | 0): boolean => {
    if (child.pid === undefined) return false;
    try {
      return process.kill(-child.pid, how);
    } catch {
      // The group is gone.
      return false;
    }
  };
  const kill = (how: NodeJS.Signals): void => void signalled(how);
  const group = child.pid === undefined ? undefined : -child.pid;
  if (group !== undefined) guard?.add(group);
  /** The number may be that of another group soon. */
  const forget = (): void => {
    if (group !== undefined) guard?.remove(group);
  };
  return {
    end: ended(child, { input, timeoutMs, sleep, signal, kill }).then((end) => {
      if (!signalled(0)) forget();
      return end;
    }),
    groupExists: () => signalled(0),
    killGroup() {
      kill('SIGKILL');
      forget();
    },
  };
}

/** The code of the fault when Node refuses at once, as for an environment that is too large. */
function started(program: string, args: readonly string[], env: Environment): ChildProcess | string {
  try {
    return spawn(program, args, { detached: true, stdio: ['pipe', 'pipe', 'pipe'], env: { ...env } });
  } catch (error) {
    return codeOf(error);
  }
}

interface Ending extends Pick<ProcessRun, 'input' | 'timeoutMs' | 'sleep' | 'signal'> {
  readonly kill: (how: NodeJS.Signals) => void;
}

async function ended(child: ChildProcess, { input, timeoutMs, sleep, signal, kill }: Ending): Promise<ProcessEnd> {
  const over = new AbortController();
  let because: 'timed_out' | 'too_much_output' | 'interrupted' | undefined;
  const stop = (why: NonNullable<typeof because>): void => {
    if (because !== undefined || over.signal.aborted) return;
    because = why;
    kill(why === 'timed_out' ? 'SIGTERM' : 'SIGKILL');
    void sleep(graceMs, over.signal).then(() => kill('SIGKILL'));
  };
  const tails = { out: '', err: '' };
  let bytes = 0;
  const read = (of: 'out' | 'err') => (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > outputBytesMax) return stop('too_much_output');
    tails[of] = `${tails[of]}${chunk.toString('utf8')}`.slice(-tailCharsMax);
  };
  child.stdout?.on('data', read('out'));
  child.stderr?.on('data', read('err'));
  // An agent need not read its input.
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(input);
  const interrupt = (): void => stop('interrupted');
  signal.addEventListener('abort', interrupt, { once: true });
  if (signal.aborted) interrupt();
  try {
    const closed = new Promise<void>((resolve) => void child.once('close', () => resolve()));
    const exit = exitOf(child);
    void sleep(timeoutMs, over.signal).then(() => over.signal.aborted || stop('timed_out'));
    const how = await exit;
    if (how.kind === 'not_started') return how;
    await Promise.race([closed, sleep(drainMs, over.signal)]);
    const tail = (tails.err.trim() === '' ? tails.out : tails.err).trim();
    if (because === 'interrupted') return { kind: because };
    return because === undefined ? { ...how, tail } : { kind: because, tail };
  } finally {
    over.abort();
    signal.removeEventListener('abort', interrupt);
    child.stdout?.destroy();
    child.stderr?.destroy();
  }
}

type Exit =
  | { readonly kind: 'exited'; readonly code: number }
  | { readonly kind: 'killed_by'; readonly signal: string }
  | { readonly kind: 'not_started'; readonly code: string };

function exitOf(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ kind: 'not_started', code: codeOf(error) }));
    child.once('exit', (code, signal) => resolve(signal === null ? { kind: 'exited', code: code ?? 0 } : { kind: 'killed_by', signal }));
  });
}
