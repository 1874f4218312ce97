/** Keeps the index of stored texts up to date, behind the writes of the store. */
import type { Store } from '../model/store/store.ts';
import { periodicTask, type PeriodicTask } from '../runtime/periodic-task.ts';
import type { RestingContext } from '../telemetry/context.ts';

interface TextIndexerOptions extends Omit<RestingContext, 'clock'> {
  readonly store: Pick<Store, 'indexTexts'>;
  readonly search: () => { readonly isOn: boolean; readonly charsMax: number };
  /** False while another process on the same store indexes. Default: this process does. */
  readonly isOwn?: () => boolean;
  /** False while the store or the service has too much to do. */
  readonly mayWork: () => boolean;
}

const everyMs = 1_000;
/** After a fault, such as a full disk, which is in the log once each time. */
const restAfterFaultMs = 30_000;
/** Runs with content of one step, which is one transaction. */
const runsPerStep = 50;
/** A hundred runs a second take about a twentieth of a core. The rest follows in the next round. */
const stepsPerRound = 2;
/** Writes have their turn between two steps. */
const restBetweenStepsMs = 20;

export function textIndexer({
  store,
  search,
  isOwn = () => true,
  mayWork,
  telemetry,
  sleep,
  rest,
  onFault,
}: TextIndexerOptions): PeriodicTask {
  let isFailing = false;
  let isMore = false;
  return periodicTask({
    everyMs: () => (isFailing ? restAfterFaultMs : everyMs),
    sleep,
    rest,
    hasWork: () => isMore || isFailing,
    async work(shutdown) {
      for (let steps = 0; steps < stepsPerRound && !shutdown.aborted; steps++) {
        const { isOn, charsMax } = search();
        if (!isOn || !isOwn()) {
          isMore = false;
          return;
        }
        isMore = !mayWork();
        if (isMore) return;
        const { runs, cut, more } = await store.indexTexts({ runsMax: runsPerStep, charsMax });
        if (runs > 0) telemetry.add('tracejury.store.indexed', runs);
        if (cut > 0) telemetry.add('tracejury.store.indexed.cut', cut);
        isFailing = false;
        isMore = more;
        if (!more) return;
        await sleep(restBetweenStepsMs, shutdown);
      }
    },
    onFault(error) {
      isFailing = true;
      onFault(error);
    },
    restsFirst: true,
  });
}
