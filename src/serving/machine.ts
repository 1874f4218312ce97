/** The machine's own time, for those who serve: everywhere else it comes as an argument. */
import { setTimeout as sleepFor } from 'node:timers/promises';
import type { Clock, Sleep } from '../model/clock.ts';

/** Epoch milliseconds that never run backwards, whatever happens to the machine's clock. */
export const clock: Clock = { nowMs: () => performance.timeOrigin + performance.now() };

export const sleep: Sleep = async (ms, signal) => {
  await sleepFor(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
};
