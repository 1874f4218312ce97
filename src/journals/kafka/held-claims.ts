/**
 * Claims of traces, which the next owner of a partition has to know as well: each stays needed for a while, in which its trace may come. The
 * newest ones stay when there are too many.
 */
import type { PartitionLog } from './partition-log.ts';

export interface HeldClaims {
  /** `sentMs`: when its gatherer sent it. */
  hold(log: PartitionLog, offset: number, sentMs: number): void;
  /** Releases those whose time is over. Called regularly. */
  expire(): void;
}

interface HeldClaim {
  readonly log: PartitionLog;
  readonly offset: number;
  readonly untilMs: number;
}

/** A claim is needed for this long after it was sent. */
export const claimMs = 10 * 60_000;
/** Each may be a gap in the progress of a partition, which has 1,000. */
const claimsMax = 500;

/** `released`: called with the partition of a claim that is not needed any more. */
export function heldClaims(nowMs: () => number, released: (log: PartitionLog) => void): HeldClaims {
  const held: HeldClaim[] = [];

  function expire(): void {
    for (let [first] = held; first !== undefined && (first.untilMs <= nowMs() || held.length > claimsMax); [first] = held) {
      held.shift();
      first.log.release(first.offset);
      released(first.log);
    }
  }

  return {
    hold(log, offset, sentMs) {
      const untilMs = Math.min(sentMs, nowMs()) + claimMs;
      if (untilMs <= nowMs()) return;
      log.hold(offset);
      held.push({ log, offset, untilMs });
      expire();
    },
    expire,
  };
}
