/** Clock, memory, threads and descriptors of the machine. All other code gets them as arguments. */
import { readdirSync, readFileSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';
import { setTimeout as sleepFor } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import type { Clock, Sleep } from '../model/clock.ts';
import { garbageCollector } from '../stores/garbage.ts';
import type { Memory } from './memory-guard.ts';

/** Read once: the property is as slow as `performance.now()`. */
const originMs = performance.timeOrigin;

/** Epoch milliseconds that never run backwards, even when the machine's clock does. */
export const clock: Clock = { nowMs: () => originMs + performance.now() };

export const sleep: Sleep = async (ms, signal) => {
  await sleepFor(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
};

/** Other versions of V8 warn about unknown flags. */
const knowsFlags = process.versions.v8.startsWith('13.');

/** More than V8 accepts outside its heap between two collections. */
const pressingBytes = 80 * 1024 * 1024;

/** Growth of the heap between two collections while memory is scarce. 0: as V8 decides. */
const growthPercentOften = 40;

export function machineMemory(): Memory {
  const collect = garbageCollector();
  let isOften = true;
  let residentBytes = 0;
  return {
    residentBytes() {
      try {
        residentBytes = process.memoryUsage.rss();
      } catch {
        // Node reads a file for it: without a free descriptor the last value holds.
      }
      return residentBytes;
    },
    collect,
    collectInSteps() {
      if (!knowsFlags) return collect();
      // An allocation of this size outside the heap makes V8 begin an incremental collection. No code writes to it, so it takes no memory.
      setFlagsFromString('--no-external-memory-accounted-in-global-limit');
      new ArrayBuffer(pressingBytes).transfer(0);
      if (!isOften) setFlagsFromString('--external-memory-accounted-in-global-limit');
    },
    collectOften(often) {
      isOften = often;
      // Bodies and packed spans are outside the heap. V8 by default collects the whole heap for every 64 MiB of them: every second under load.
      // Under this flag it collects when both together have grown by a share.
      if (!knowsFlags) return;
      setFlagsFromString(`--${often ? 'no-' : ''}external-memory-accounted-in-global-limit`);
      // By default a small heap grows to several times what is alive in it. V8 reads the flag after each collection.
      setFlagsFromString(`--heap-growing-percent=${often ? growthPercentOften : 0}`);
    },
  };
}

/** Node's name for threads of the garbage collector and the compiler. The thread of the store keeps its priority: the service refuses requests when it is behind. */
const backgroundThread = 'V8Worker';
/** Gives a thread a third of the processor time of a thread with the usual priority. */
const nicer = 5;
/** Only Linux has a priority for each thread. */
const tasks = '/proc/self/task';

/** Lets the present threads of the collector and the compiler give way to requests. Does nothing where the system does not support or permit it. */
export function lowerThreadPriorities(): void {
  if (process.platform !== 'linux') return;
  try {
    const priority = Math.min(constants.priority.PRIORITY_LOW, getPriority() + nicer);
    for (const id of readdirSync(tasks))
      if (readFileSync(`${tasks}/${id}/comm`, 'utf8').trim() === backgroundThread) setPriority(Number(id), priority);
  } catch {
    // The other threads keep their priority.
  }
}

/** The file descriptors of the process; each connection takes one. */
export interface Descriptors {
  /** The soft limit. */
  readonly max: number;
  /** Open now. */
  readonly open: number;
}

/** A common limit of POSIX systems, for systems without `/proc`. */
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

/** The memory for sockets allows no more. */
const most = { http: 4_096, grpc: 1_024, console: 256 } as const;
const parts = { http: 0.6, grpc: 0.25, console: 0.15 } as const;
/** A listener with fewer connections is of no use. When the descriptors run out, accepting fails and the process lives on. */
const least = 2;
const reservedShare = 0.25;
const reservedMost = 1_024;

/** `wanted`: the configured maximum of all listeners together. */
export function connectionShares({ max, open }: Descriptors, wanted = Infinity): ConnectionShares {
  const reserved = Math.ceil(Math.min(reservedMost, max * reservedShare));
  const room = Math.max(0, Math.min(wanted, max - open - reserved));
  const share = (listener: keyof typeof parts): number =>
    Math.max(least, Math.min(wanted === Infinity ? most[listener] : Infinity, Math.floor(room * parts[listener])));
  return { http: share('http'), grpc: share('grpc'), console: share('console'), reserved };
}

/** Paths of package.json from src/service and from dist/src/service. */
const packageFiles = ['../../package.json', '../../../package.json'] as const;

/** The version of the package; `unknown` when its package.json cannot be read. */
export function packageVersion(): string {
  for (const file of packageFiles) {
    try {
      const { version } = JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8')) as { readonly version?: string };
      if (version !== undefined) return version;
    } catch {
      continue;
    }
  }
  return 'unknown';
}
