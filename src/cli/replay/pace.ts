/** Paces a replay, so that live traffic comes first: a rate of runs, and a rest after each write that grows while the file is contended. */
import type { Context } from '../../telemetry/context.ts';

interface PaceOptions extends Pick<Context, 'clock' | 'sleep'> {
  /** Runs per second; `undefined` for no limit. */
  readonly rate: number | undefined;
}

export interface Pace {
  /** Waits until this many further runs are due. */
  runs(count: number): Promise<void>;
  /** Times a write, then rests: at least as long as the write took, so the file is free half of the time. */
  write<Result>(work: () => Promise<Result>): Promise<Result>;
}

/** A write that takes longer waits for another process, or for a busy disk. */
const pressedMs = 100;
const restLongestMs = 5_000;
/** A shorter wait costs more than it saves. */
const waitShortestMs = 5;

export function replayPace({ rate, clock, sleep }: PaceOptions): Pace {
  const startMs = clock.nowMs();
  let done = 0;
  let pressedRestMs = 0;
  return {
    async runs(count) {
      if (rate === undefined) return;
      const waitMs = startMs + (done / rate) * 1_000 - clock.nowMs();
      done += count;
      if (waitMs >= waitShortestMs) await sleep(waitMs);
    },
    async write(work) {
      const beganMs = clock.nowMs();
      const result = await work();
      const tookMs = clock.nowMs() - beganMs;
      pressedRestMs = tookMs > pressedMs ? Math.min(restLongestMs, Math.max(tookMs, pressedRestMs * 2)) : 0;
      await sleep(Math.max(tookMs, pressedRestMs));
      return result;
    },
  };
}
