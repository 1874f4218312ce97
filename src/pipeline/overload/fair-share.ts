/** A sender of little is not refused because another sends too much. Pure under its clock. */
import type { Clock } from '../../model/clock.ts';
import { trimOldest } from '../../runtime/lru.ts';

export interface FairShare {
  /** Bytes of a sender that were taken. */
  took(sender: string, bytes: number): void;
  /** True when less than half of an equal share of the recent traffic came from this sender. */
  isModest(sender: string): boolean;
}

export interface FairShareOptions {
  readonly clock: Clock;
  /** Number of senders that are remembered. Beyond it the one that has sent nothing for longest is forgotten, and counts as new. */
  readonly sendersMax?: number;
}

/** Bytes that were taken this long ago count half. */
const halfLifeMs = 10_000;
/** Fraction of an equal share. */
const modestShare = 0.5;

interface Use {
  readonly bytes: number;
  readonly atMs: number;
}

export function fairShare({ clock, sendersMax = 1_000 }: FairShareOptions): FairShare {
  /** The sender that has sent nothing for longest comes first. */
  const senders = new Map<string, Use>();
  let total: Use = { bytes: 0, atMs: clock.nowMs() };

  function faded({ bytes, atMs }: Use): number {
    return bytes * 0.5 ** ((clock.nowMs() - atMs) / halfLifeMs);
  }

  function more(use: Use | undefined, bytes: number): Use {
    return { bytes: (use === undefined ? 0 : faded(use)) + bytes, atMs: clock.nowMs() };
  }

  return {
    took(sender, bytes) {
      const use = more(senders.get(sender), bytes);
      senders.delete(sender);
      senders.set(sender, use);
      total = more(total, bytes);
      trimOldest(senders, sendersMax);
    },
    isModest(sender) {
      const own = senders.get(sender);
      const count = senders.size + (own === undefined ? 1 : 0);
      // A single sender has all there is.
      return count > 1 && (own === undefined ? 0 : faded(own)) < (faded(total) / count) * modestShare;
    },
  };
}
