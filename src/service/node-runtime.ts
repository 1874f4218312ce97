/** The machine's own time and memory, for those who serve: everywhere else they come as arguments. */
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { constants, getPriority, setPriority } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleepFor } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { JournalAddress } from '../journals/index.ts';
import type { Clock, Sleep } from '../model/clock.ts';
import type { Memory } from './memory-guard.ts';

/** Asking for it takes as long as asking for the time. */
const originMs = performance.timeOrigin;

/** Epoch milliseconds that never run backwards, whatever happens to the machine's clock. */
export const clock: Clock = { nowMs: () => originMs + performance.now() };

export const sleep: Sleep = async (ms, signal) => {
  await sleepFor(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
};

/** Of the machine that runs the code: what another one would not know it complains about. */
const knowsFlags = process.versions.v8.startsWith('13.');

/** More than the collector lets come from outside of its heap between two of its visits. */
const pressingBytes = 80 * 1024 * 1024;

export function machineMemory(): Memory {
  // The flag may be set at any time; a context that is made afterwards has the function.
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  let isOften = true;
  let residentBytes = 0;
  return {
    residentBytes() {
      try {
        residentBytes = process.memoryUsage.rss();
      } catch {
        // It is read from a file: without a descriptor left the last value holds.
      }
      return residentBytes;
    },
    collect,
    collectInSteps() {
      if (!knowsFlags) return collect();
      // So much that comes from outside of the heap at once is what the collector begins its steps for. Nobody writes to it: it takes no memory.
      setFlagsFromString('--no-external-memory-accounted-in-global-limit');
      new ArrayBuffer(pressingBytes).transfer(0);
      if (!isOften) setFlagsFromString('--external-memory-accounted-in-global-limit');
    },
    collectOften(often) {
      isOften = often;
      // Bodies and packed spans lie outside of the heap. By default the collector walks over the whole heap whenever 64 MiB of these have come, every second
      // under load; with this flag it comes by when both together have grown by a share.
      if (knowsFlags) setFlagsFromString(`--${often ? 'no-' : ''}external-memory-accounted-in-global-limit`);
    },
  };
}

// Threads that work for later give way to the one that answers requests, and to those that write down what it answers for.

/** As Node names those of the garbage collector and the compiler. The store's is none: what it is behind with is refused. */
const forLater = 'V8Worker';
/** A third of what a thread gets that does not give way, as long as both want the same processor. */
const less = 5;
/** Linux alone has a priority for each thread, and tells which there are. */
const tasks = '/proc/self/task';

/** Of the threads that there are now. Does nothing where the system knows no such thing, or does not let us. */
export function lowerThreadPriorities(): void {
  if (process.platform !== 'linux') return;
  try {
    const priority = Math.min(constants.priority.PRIORITY_LOW, getPriority() + less);
    for (const id of readdirSync(tasks))
      if (readFileSync(`${tasks}/${id}/comm`, 'utf8').trim() === forLater) setPriority(Number(id), priority);
  } catch {
    // Those that were not reached stay as they were, and work.
  }
}

// As whom this process takes what waits for judges. Whoever has a journal's folder has it alone, so its successor there has the same name, and goes on at once with what the one before had
// under way; a process without a folder is somebody else each time.

/** As everything in the folder. */
const fileMode = 0o600;
const OWNER = /^[0-9a-f]{32}$/;

/** Once the folder is this process's. Never rejects: with another name it only has to wait until the leases of the one before are over. */
export async function jobOwner({ scheme, rest }: JournalAddress): Promise<string> {
  const fresh = randomBytes(16).toString('hex');
  if (scheme === 'memory') return fresh;
  const file = join(rest, 'asker');
  const known = (await readFile(file, 'utf8').catch(() => '')).trim();
  if (OWNER.test(known)) return known;
  await writeFile(file, `${fresh}\n`, { mode: fileMode }).catch(() => undefined);
  return fresh;
}

// The descriptors that the system lets the process have, and what the listeners take of them: each connection is one.

export interface Descriptors {
  /** The soft limit. */
  readonly max: number;
  /** Open now. */
  readonly open: number;
}

/** What POSIX systems commonly start with, where nothing tells the limit. */
const commonMax = 1_024;
const commonOpen = 64;

export function machineDescriptors(): Descriptors {
  return { max: softLimit() ?? commonMax, open: openNow() ?? commonOpen };
}

function softLimit(): number | undefined {
  try {
    // Max open files            1024                 524288               files
    const soft = /^Max open files\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return soft === 'unlimited' ? Infinity : soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}

function openNow(): number | undefined {
  try {
    return readdirSync('/proc/self/fd').length;
  } catch {
    return undefined;
  }
}

export interface ConnectionShares {
  readonly http: number;
  readonly grpc: number;
  readonly console: number;
  /** Descriptors left to files, the store, exporters and judges. */
  readonly reserved: number;
}

/** The most that memory for sockets is meant for. */
const most = { http: 4_096, grpc: 1_024, console: 256 } as const;
const parts = { http: 0.6, grpc: 0.25, console: 0.15 } as const;
/** Below it nobody could use a listener; then accepting fails, and the process lives on. */
const least = 2;
const reservedShare = 0.25;
const reservedMost = 1_024;

/** `wanted`: of all listeners together, as configured. */
export function connectionShares({ max, open }: Descriptors, wanted = Infinity): ConnectionShares {
  const reserved = Math.ceil(Math.min(reservedMost, max * reservedShare));
  const room = Math.max(0, Math.min(wanted, max - open - reserved));
  const share = (listener: keyof typeof parts): number =>
    Math.max(least, Math.min(wanted === Infinity ? most[listener] : Infinity, Math.floor(room * parts[listener])));
  return { http: share('http'), grpc: share('grpc'), console: share('console'), reserved };
}
