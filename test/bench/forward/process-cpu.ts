/** CPU time of a process, all threads, from Linux. */
import { readFileSync } from 'node:fs';

/** Ticks of a second; the same on every Linux that people run. */
const ticksPerSecond = 100;
/** Counted from the state, which follows the name in brackets: utime and stime are the 14th and 15th field of the line. */
const [userAt, systemAt] = [11, 12];

export function cpuMicrosOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return ((Number(fields[userAt]) + Number(fields[systemAt])) * 1e6) / ticksPerSecond;
}
