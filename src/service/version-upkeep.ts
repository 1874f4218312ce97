/** Keeps the sums by version up to date: step by step, and before a look at them. */
import type { Clock, Sleep } from '../model/clock.ts';
import type { Store } from '../model/store/store.ts';
import { periodicTask, type PeriodicTask } from '../runtime/periodic-task.ts';

interface VersionUpkeepOptions {
  readonly store: Pick<Store, 'versions'>;
  /** How long runs are kept. */
  readonly keepMs: () => number;
  readonly clock: Clock;
  readonly sleep: Sleep;
  readonly onFault: (error: unknown) => void;
}

export interface VersionUpkeep {
  /** Sums what has changed, for a look. Resolves with `false` when some is left for later. */
  refresh(): Promise<boolean>;
  start(): PeriodicTask;
}

const everyMs = 60_000;
/** Steps of one look: the last two hours. What is left comes with the next rounds. */
const stepsOfLook = 24;
const stepsOfRound = 120;
/** Writes have their turn between two steps. */
const restBetweenStepsMs = 20;

export function versionUpkeep({ store: { versions }, keepMs, clock, sleep, onFault }: VersionUpkeepOptions): VersionUpkeep {
  const step = (endedOnly: boolean): Promise<boolean> => {
    const nowMs = clock.nowMs();
    return versions.refresh({ now: Math.floor(nowMs * 1_000), keepFrom: Math.floor((nowMs - keepMs()) * 1_000), endedOnly });
  };

  return {
    async refresh() {
      for (let steps = 0; steps < stepsOfLook; steps++) if (!(await step(false))) return true;
      return false;
    },
    start: () =>
      periodicTask({
        everyMs,
        sleep,
        async work(shutdown) {
          for (let steps = 0; steps < stepsOfRound && !shutdown.aborted; steps++) {
            if (!(await step(true))) break;
            await sleep(restBetweenStepsMs, shutdown);
          }
          // The step after the last change makes old sums wider.
          if (!shutdown.aborted) await step(true);
        },
        onFault,
        restsFirst: true,
      }),
  };
}
