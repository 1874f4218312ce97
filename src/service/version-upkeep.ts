/** Keeps the sums over runs up to date: step by step, and before a look at them. */
import type { Store } from '../model/store/store.ts';
import { periodicTask, type PeriodicTask } from '../runtime/periodic-task.ts';
import type { TaskContext } from '../telemetry/context.ts';

interface VersionUpkeepOptions extends Omit<TaskContext, 'telemetry'> {
  readonly store: Pick<Store, 'versions'>;
  /** Time for which runs are kept. */
  readonly keepMs: () => number;
  /** False while the service has more urgent work than a backlog. */
  readonly mayWork?: () => boolean;
  /** False while another process on the same store takes the steps between looks. Default: this process does. */
  readonly isOwn?: () => boolean;
}

export interface VersionUpkeep {
  /** Sums what has changed, for a look. Resolves with `false` when some is left for later. */
  refresh(): Promise<boolean>;
  start(): PeriodicTask;
}

const everyMs = 60_000;
/** Changed times of one look, of five minutes each. One that is older than six hours changes its hour as well, which is a step more. */
const timesOfLook = 24;
const stepsOfLook = 2 * timesOfLook;
/** When more times changed, a look sums those that began within this time. The rest come with the next round, which begins at once while the service is calm. */
const lateMs = 2 * 3_600_000;
const stepsOfRound = 120;
/** Writes have their turn between two steps. */
const restBetweenStepsMs = 20;
/** The rest after a step is this many times as long as the step at least. */
const restsPerStep = 3;
/** A look that took longer makes the next looks wait: they use the sums that are there, for this many times as long. */
const cheapLookMs = 100;
const restsPerLook = 4;

export function versionUpkeep(options: VersionUpkeepOptions): VersionUpkeep {
  const { keepMs, mayWork = () => true, isOwn = () => true, clock, sleep, onFault } = options;
  const { versions } = options.store;
  let lastLook = { endedMs: 0, tookMs: 0 };
  let running: Promise<unknown> = Promise.resolve();
  let waiting: Promise<boolean> | undefined;
  let rounds: PeriodicTask | undefined;

  const step = (of: { readonly endedOnly?: boolean; readonly changedFromMs?: number }): Promise<boolean> => {
    const [nowMs, { endedOnly = false, changedFromMs }] = [clock.nowMs(), of];
    return versions.refresh({
      now: Math.floor(nowMs * 1_000),
      keepFrom: Math.floor((nowMs - keepMs()) * 1_000),
      endedOnly,
      ...(changedFromMs === undefined ? {} : { changedFrom: Math.floor(changedFromMs * 1_000) }),
    });
  };

  async function look(): Promise<boolean> {
    waiting = undefined;
    const startMs = clock.nowMs();
    const changed = await versions.changedTimes(timesOfLook + 1);
    if (changed === 0) return true;
    const { tookMs, endedMs } = lastLook;
    if (tookMs > cheapLookMs && startMs < endedMs + restsPerLook * tookMs) return false;
    const changedFromMs = changed > timesOfLook ? startMs - lateMs : undefined;
    for (let steps = 0; steps < stepsOfLook; steps++) if (!(await step(changedFromMs === undefined ? {} : { changedFromMs }))) break;
    lastLook = { endedMs: clock.nowMs(), tookMs: clock.nowMs() - startMs };
    const isWhole = (await versions.changedTimes(1)) === 0;
    // The caller shows sums that lack the rest of the changed runs.
    if (changedFromMs !== undefined && !isWhole && mayWork()) rounds?.wake();
    return isWhole;
  }

  return {
    // Looks at the same time share the next one that begins: the one under way may have missed a run of theirs.
    refresh() {
      if (waiting !== undefined) return waiting;
      const next = running.then(look);
      waiting = next;
      running = next.catch(() => (waiting = undefined));
      return next;
    },
    start: () =>
      (rounds = periodicTask({
        everyMs,
        sleep,
        async work(shutdown) {
          // After the last change, further steps make old sums wider.
          for (let [steps, idle] = [0, 0]; !shutdown.aborted && isOwn() && idle < 2 && (steps < stepsOfRound || mayWork()); steps++) {
            const startMs = clock.nowMs();
            idle = (await step({ endedOnly: true })) ? 0 : idle + 1;
            if (idle < 2) await sleep(Math.max(restBetweenStepsMs, restsPerStep * (clock.nowMs() - startMs)), shutdown);
          }
        },
        onFault,
        restsFirst: true,
      })),
  };
}
