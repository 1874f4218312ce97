/** How long everything is kept, by the configuration in force. */
import type { Config } from '../config/config.ts';
import type { Keep } from '../stores/run-writer.ts';

/** The queue of judges ends a pair for its age within this, and its run is still there. */
const endedWithinMs = 10 * 60_000;

/** Read again whenever old runs are let go. */
export function keepOf(config: () => Pick<Config, 'store' | 'sessions' | 'judges'>): Keep {
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
      return written().bytes;
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
