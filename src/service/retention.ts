/** The retention limits of the store and the state of its disk. */
import { dirname } from 'node:path';
import type { Config } from '../config/config.ts';
import { diskFullText } from '../model/errors.ts';
import type { RetentionLimits } from '../stores/run-writer.ts';
import type { Context } from '../telemetry/context.ts';

/** The judge queue ends a pair that is too old within this time; its run must still be in the store. */
const endedWithinMs = 10 * 60_000;

/** Share of `memory_bytes` for a store in memory. */
const memoryShare = 1 / 8;

/** The getters follow the configuration in force: the run writer reads them before each deletion. */
export function retentionOf(config: () => Pick<Config, 'store' | 'sessions' | 'judges' | 'limits'>): RetentionLimits {
  const written = (): Config['store']['keep'] => config().store.keep;
  /** A pair that waits for a batch may wait longer. */
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
    // A turn waits for the end of its session, then for the judge.
    get turnsMs() {
      return config().sessions.latestMs + waitMs();
    },
  };
}

interface StoreRoomOptions extends Pick<Context, 'clock' | 'telemetry'> {
  /** The database file. */
  readonly file: string;
  readonly logger: { error(fields: { readonly [field: string]: unknown }, message: string): void };
}

export interface StoreRoom {
  /** The store refused a write because its disk is full. */
  readonly full: () => void;
  /** The folder of the store while its disk is full. */
  readonly fullFolder: () => string | undefined;
}

/** The run writer retries at least every 30 s, so a disk that stays full is reported again in time. */
const lastsMs = 45_000;

export function storeRoom({ file, clock, telemetry, logger }: StoreRoomOptions): StoreRoom {
  const folder = dirname(file);
  let untilMs = -Infinity;
  const fullFolder = (): string | undefined => (clock.nowMs() < untilMs ? folder : undefined);
  return {
    fullFolder,
    full() {
      telemetry.add('tracejury.store.disk_full', 1);
      if (fullFolder() === undefined) logger.error({ folder }, diskFullText(folder));
      untilMs = clock.nowMs() + lastsMs;
    },
  };
}
