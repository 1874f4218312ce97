/** A clock and timers that move only on command. */
import { manualClock } from '../../src/model/clock.ts';
import type { ProcessTimers } from '../../src/span-processor/span-sender.ts';

export interface ManualTimers {
  readonly clock: ReturnType<typeof manualClock>;
  readonly timers: ProcessTimers;
  /** Runs what is due, and what that plans for now, and lets promises settle. */
  advance(ms: number): Promise<void>;
}

export function manualTimers(): ManualTimers {
  const clock = manualClock();
  const planned = new Map<() => void, number>();
  const after = (ms: number, callback: () => void): (() => void) => {
    const own = (): void => callback();
    planned.set(own, clock.nowMs() + ms);
    return () => void planned.delete(own);
  };
  return {
    clock,
    timers: { after, soon: (callback) => void after(0, callback) },
    async advance(ms) {
      const untilMs = clock.nowMs() + ms;
      for (;;) {
        await new Promise((resolve) => setImmediate(resolve));
        const next = [...planned].toSorted(([, one], [, other]) => one - other)[0];
        if (next === undefined || next[1] > untilMs) break;
        const [callback, dueMs] = next;
        planned.delete(callback);
        if (dueMs > clock.nowMs()) clock.advance(dueMs - clock.nowMs());
        callback();
      }
      clock.advance(untilMs - clock.nowMs());
    },
  };
}
