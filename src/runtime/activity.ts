/**
 * Lengthens the rests of periodic work while nothing comes and nothing is done, so that a service at rest costs next to nothing. A minute is
 * the longest rest, because another process may write to the same store or make room on the same disk, and no event reports that.
 */
import type { Clock, Sleep } from '../model/clock.ts';

export type LongRest = (ms: number, signal?: AbortSignal, longestMs?: number) => Promise<void>;

export interface Activity {
  /** Called when work comes or is done. Ends the long rests; each work then rests for its usual time first. */
  noted(): void;
  /** `true` when nothing was noted for a while that is at least as long as this rest. */
  isQuiet(restMs: number): boolean;
  /** As `sleep`, and up to `longestMs` while it is quiet. Default: a minute. */
  readonly rest: LongRest;
}

/** Most runs close and are stored within it. */
const quietAfterMs = 3_000;
const longRestMsDefault = 60_000;

interface ActivityOptions {
  readonly clock: Clock;
  readonly sleep: Sleep;
  /** The longest rest while it is quiet. Default: a minute. */
  readonly longRestMs?: number;
}

export function activityWatch({ clock, sleep, longRestMs = longRestMsDefault }: ActivityOptions): Activity {
  let notedMs = clock.nowMs();
  let resting = 0;
  let longRests = new AbortController();

  // A round follows after the last note in any case: a rest that begins right after the note is a usual one.
  const isQuiet = (restMs: number): boolean => clock.nowMs() - notedMs >= Math.max(quietAfterMs, restMs);

  return {
    noted() {
      notedMs = clock.nowMs();
      if (resting === 0) return;
      longRests.abort();
      longRests = new AbortController();
    },
    isQuiet,
    async rest(ms, signal, longestMs = longRestMs) {
      if (ms >= longestMs || !isQuiet(ms)) return await sleep(ms, signal);
      const long = longRests.signal;
      resting++;
      await sleep(longestMs, signal === undefined ? long : AbortSignal.any([long, signal]));
      resting--;
      return long.aborted && signal?.aborted !== true ? await sleep(ms, signal) : undefined;
    },
  };
}
