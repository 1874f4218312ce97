/** The descriptors that the system lets the process have, and what the listeners take of them: each connection is one. */
import { readdirSync, readFileSync } from 'node:fs';

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
