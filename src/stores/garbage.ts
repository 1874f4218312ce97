/** Collects the garbage of one thread. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Returns a function that collects the garbage of the calling thread at once. */
export function garbageCollector(): () => void {
  // The flag takes effect in every context that is made after it is set.
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}

interface GrowthOptions {
  /** Bytes outside the heap that the thread has now. */
  readonly bytes: () => number;
  /** Growth of these bytes between two collections. */
  readonly growthMax: number;
  readonly collect: () => void;
}

/** Returns a function that collects once the bytes have grown by `growthMax` since they were fewest. */
export function collectOnGrowth({ bytes, growthMax, collect }: GrowthOptions): () => void {
  let least = bytes();
  return () => {
    const now = bytes();
    least = Math.min(least, now);
    if (now - least < growthMax) return;
    collect();
    least = bytes();
  };
}
