/** The system's figures of a process, without asking it. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';

export function residentMib(pid: number): number {
  const kib = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kib) / 1024;
}

/** How many of each kind: `socket`, `pipe` and the like, or the name of a file with its digits left out. */
export type Descriptors = ReadonlyMap<string, number>;

export function openDescriptors(pid: number): Descriptors {
  const kinds = new Map<string, number>();
  for (const fd of readdirSync(`/proc/${pid}/fd`)) {
    const kind = kindOf(`/proc/${pid}/fd/${fd}`);
    if (kind !== undefined) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  return kinds;
}

/** Undefined: it has been closed meanwhile. */
function kindOf(link: string): string | undefined {
  try {
    const [, kind] = /^(\w+):/.exec(readlinkSync(link)) ?? [];
    return kind ?? basename(readlinkSync(link)).replaceAll(/\d+/g, '#');
  } catch {
    return undefined;
  }
}

export interface Watched {
  readonly samples: readonly { readonly atMs: number; readonly residentMib: number }[];
  stop(): void;
}

/** Samples in regular turns. */
export function watchProcess(pid: number, everyMs: number): Watched {
  const samples: { atMs: number; residentMib: number }[] = [];
  const timer = setInterval(() => samples.push({ atMs: performance.now(), residentMib: residentMib(pid) }), everyMs);
  return { samples, stop: () => clearInterval(timer) };
}
