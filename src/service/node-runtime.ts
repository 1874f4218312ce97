/** The machine's own time and memory, for those who serve: everywhere else they come as arguments. */
import { setTimeout as sleepFor } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
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
