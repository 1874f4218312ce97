/** Whether the disk of the store is full. Whoever writes tries again by itself, so a disk that stays full is noticed again in time. */
import { dirname } from 'node:path';
import type { Clock } from '../model/clock.ts';
import { diskFullText } from '../model/errors.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';

export interface StoreRoomOptions {
  /** Of the store. */
  readonly file: string;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly logger: { error(fields: { readonly [field: string]: unknown }, message: string): void };
}

export interface StoreRoom {
  /** The store refused a write because its disk is full. */
  readonly full: () => void;
  /** The folder of the store while its disk is full. */
  readonly fullFolder: () => string | undefined;
}

/** The keeper of runs rests 30 s at the most between two attempts. */
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
