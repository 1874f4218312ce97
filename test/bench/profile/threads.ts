/** CPU time of a process by its threads. Only Linux has it; elsewhere the list is empty. */
import { readdirSync, readFileSync } from 'node:fs';

/** Tick of /proc/PID/stat: a hundredth of a second on every Linux that Node runs on. */
const tickMicros = 10_000;

/** By the threads' names; threads of one name are one row. */
export function cpuByThread(pid: number): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const thread of threadsOf(pid)) {
    const text = stat(pid, thread);
    const name = /\((.*)\)/s.exec(text)?.[1];
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    if (name !== undefined) sums.set(name, (sums.get(name) ?? 0) + (Number(fields[11]) + Number(fields[12])) * tickMicros);
  }
  return sums;
}

function threadsOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/** Empty: the thread has ended. */
function stat(pid: number, thread: string): string {
  try {
    return readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8');
  } catch {
    return '';
  }
}
