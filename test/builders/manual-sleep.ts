/** A sleep that ends only when the test says so. */
import type { Sleep } from '../../src/model/clock.ts';

export interface ManualSleep {
  readonly sleep: Sleep;
  /** Lengths of all sleeps so far, in order. */
  readonly slept: readonly number[];
  /** How many are asleep. */
  asleep(): number;
  /** Ends every sleep there is, and lets what waited for it run. */
  wakeAll(): Promise<void>;
}

export function manualSleep(): ManualSleep {
  const slept: number[] = [];
  const sleepers = new Set<() => void>();
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
        sleepers.add(wake);
        signal?.addEventListener('abort', wake);
      }),
    async wakeAll() {
      for (const wake of sleepers) wake();
      await settled();
    },
  };
}

/** Everything that waits for nothing but promises has run. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
