/** A sleep that ends only when the test lets it. */
import type { Sleep } from '../../src/model/clock.ts';

export interface ManualSleep {
  readonly sleep: Sleep;
  /** Lengths of all sleeps so far, in order. */
  readonly slept: readonly number[];
  /** The number of sleepers. */
  asleep(): number;
  /** Ends only the sleeps of this length. */
  wakeOf(ms: number): Promise<void>;
  /** Ends every sleep there is, and lets what waited for it run. */
  wakeAll(): Promise<void>;
}

export function manualSleep(): ManualSleep {
  const slept: number[] = [];
  const sleepers = new Map<() => void, number>();
  return {
    slept,
    asleep: () => sleepers.size,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        slept.push(ms);
        const wake = () => {
          sleepers.delete(wake);
          resolve();
        };
        if (signal?.aborted === true) return wake();
        sleepers.set(wake, ms);
        signal?.addEventListener('abort', wake);
      }),
    async wakeOf(ms) {
      for (const [wake, length] of sleepers) if (length === ms) wake();
      await settled();
    },
    async wakeAll() {
      for (const wake of sleepers.keys()) wake();
      await settled();
    },
  };
}

/** Everything that waits for nothing but promises has run. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
