/** The end of a process that a test or a trial has started. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** Signals it, unless it is over already, and waits for it. Gives its exit code; undefined: it was killed. */
export async function ended(child: ChildProcess, signal: 'SIGKILL' | 'SIGTERM' = 'SIGTERM'): Promise<number | undefined> {
  if (child.exitCode === null && child.signalCode === null) {
    const exit = once(child, 'exit');
    child.kill(signal);
    await exit;
  }
  return child.exitCode ?? undefined;
}
