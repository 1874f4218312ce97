/** How long everything is kept, by the configuration in force. */
import type { Config } from '../config/config.ts';
import type { RetentionLimits } from '../stores/run-writer.ts';

/** The queue of judges ends a pair for its age within this, and its run is still there. */
const endedWithinMs = 10 * 60_000;

/** Of `memory_bytes`, for a store that lies in memory. */
const memoryShare = 1 / 8;

/** Read again whenever old runs are let go. */
export function retentionOf(config: () => Pick<Config, 'store' | 'sessions' | 'judges' | 'limits'>): RetentionLimits {
  const written = (): Config['store']['keep'] => config().store.keep;
  /** Whoever waits for a batch may wait longer. */
  const waitMs = (): number =>
    config().store.judgeJobs.ageMs + Math.max(0, ...config().judges.map(({ batch }) => batch?.withinMs ?? 0)) + endedWithinMs;
  return {
    get runsMs() {
      return written().runsMs;
    },
    get contentMs() {
      return written().contentMs;
    },
    get bytes() {
      const { store, limits } = config();
      return store.address.scheme === 'memory'
        ? Math.min(store.keep.bytes, Math.floor(limits.memoryBytes * memoryShare))
        : store.keep.bytes;
    },
    get exportsMs() {
      return written().exportsMs;
    },
    get exports() {
      return written().exports;
    },
    get jobsMs() {
      return waitMs();
    },
    // First for its session to be over, then for the judge.
    get turnsMs() {
      return config().sessions.latestMs + waitMs();
    },
  };
}
