/** Makes what waits in memory smaller while the service has time for it. */
import { zstdDecompressSync } from 'node:zlib';
import type { Sleep } from '../model/clock.ts';
import type { Pipeline } from '../pipeline/pipeline.ts';
import { slabs, type SlabAllocator } from '../pipeline/gathering/slab-allocator.ts';
import { compressed } from '../stores/compression.ts';
import { periodicTask, type PeriodicTask } from '../runtime/periodic-task.ts';

/** A trace of a dozen spans takes about a tenth of a millisecond, so this is an eighth of the time at most, and more traces than are scored in it. */
const everyMs = 25;
const tracesPerTurn = 32;

/** A dozen traces share so many bytes. Should one of them stay for days, it holds no more than the bytes on the wire that it is counted with. */
const compactedSlabBytes = 32 * 1024;

/** Squeezed. */
export function slabCompaction(): SlabAllocator {
  const { keep } = slabs(compactedSlabBytes);
  return { keep: (lent) => keep(compressed(lent)), bytes: (kept) => zstdDecompressSync(kept) };
}

export interface IdleCompactor {
  start(): void;
  /** May be called twice, and without `start`. */
  stop(): Promise<void>;
}

/** `mayWork`: false while there is more urgent work. */
export function idleCompactorOf({
  flow,
  sleep,
  mayWork,
}: {
  readonly flow: Pick<Pipeline, 'packIdle'>;
  readonly sleep: Sleep;
  readonly mayWork: () => boolean;
}): IdleCompactor {
  let working: PeriodicTask | undefined;

  function work(): void {
    if (mayWork()) flow.packIdle(tracesPerTurn);
  }

  return {
    start() {
      working ??= periodicTask({ everyMs, sleep, work, onFault: () => undefined, restsFirst: true });
    },
    async stop() {
      await working?.stop();
    },
  };
}
