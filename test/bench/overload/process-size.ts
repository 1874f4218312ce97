/** What the system says of a process, without asking it. */
import { readdirSync, readFileSync } from 'node:fs';

export function residentMib(pid: number): number {
  const kib = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kib) / 1024;
}

export function openDescriptors(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

export interface Watched {
  readonly samples: readonly { readonly atMs: number; readonly residentMib: number; readonly descriptors: number }[];
  stop(): void;
}

/** Samples in regular turns. */
export function watchProcess(pid: number, everyMs: number): Watched {
  const samples: { atMs: number; residentMib: number; descriptors: number }[] = [];
  const timer = setInterval(() => samples.push({ atMs: performance.now(), residentMib: residentMib(pid), descriptors: openDescriptors(pid) }), everyMs);
  return { samples, stop: () => clearInterval(timer) };
}
