/**
 * Keeps the process within `limits.memory_bytes` as the system counts it. Bytes on the wire are what the parts of the service bound themselves by;
 * what these take in memory depends on the spans, on what was read of them and on garbage, so it is measured and the bounds follow.
 */
import type { Clock } from '../model/clock.ts';

export interface MemoryGuard {
  /** Called regularly. Gives the resident bytes as a share of what they may be. */
  measure(): number;
  /** Up to how many bytes on the wire may be spared for traces that are not needed at once. */
  readonly spareBytesMax: () => number;
}

export interface Memory {
  /** Of the process, as the system counts them. */
  readonly residentBytes: () => number;
  /** Collects garbage: what is let go stays resident until then. All else waits meanwhile, a tenth of a second or more. */
  readonly collect: () => void;
  /** Begins to: it goes on in steps beside other work, and is over within half a second or so. */
  readonly collectInSteps: () => void;
  /** Whether the collector comes by for every few bytes that come from outside its heap, or, at less cost, when all has grown by a share. */
  readonly collectOften: (often: boolean) => void;
}

export interface MemoryGuardOptions {
  readonly clock: Clock;
  readonly memory: Memory;
  /** Of the process. */
  readonly residentBytesMax: number;
  /** Bytes on the wire of all traces, when memory is no question. */
  readonly heldBytesMax: number;
  readonly heldBytes: () => number;
  /** Lets traces go that are beyond `spareBytesMax`. */
  readonly relieve: () => void;
}

/**
 * Shares of the bound: below the first more traces are spared again; from the second on fewer are, and what they left is collected beside other work; from the third on
 * garbage is collected at once, and everything else waits for it. What is left free is what lets the collector come by rarely, which is worth more than a few more traces that wait for stragglers.
 */
const easyShare = 0.62;
const spareShare = 0.72;
const scarceShare = 0.92;
/** From the one on the collector comes by often, beginning now, until the other is reached again: a load that memory bears must not come to where everything waits. */
const oftenShare = 0.86;
const rarelyShare = 0.78;
/** What is let go stays resident until the collector comes by; letting go of more before that would be too much. */
const compactEveryMs = 2_500;
const lessPerCompaction = 0.85;
const easeEveryMs = 500;
const morePerEase = 1.05;
/** From this share on, once something had to go, the bound is near: who goes up to it quickly is pressed again and again. */
const nearShare = 0.5;
const easeNearEveryMs = 15_000;
/** Of `heldBytesMax`: so that sparing begins again from somewhere, and because letting go of the last few makes no process smaller. */
const leastShare = 1 / 16;
/** Of the bound, in bytes on the wire: when less was let go, what the process takes is something else, and collecting would not bring it down. */
const worthCollectingShare = 1 / 128;
/** Collecting costs a tenth of a second or more of the processor. Where it brings little it is tried ever more rarely, until the process has grown by as much as may be garbage. */
const collectEveryMs = 3_000;
const collectEveryMsMax = 60_000;
const littleShare = 0.03;
const grownShare = 0.05;
/** Collecting in steps is over by then. */
const stepsMs = 500;

export function memoryGuard(options: MemoryGuardOptions): MemoryGuard {
  const { clock, memory, residentBytesMax, heldBytesMax, heldBytes, relieve } = options;
  let spare = heldBytesMax;
  let often: boolean | undefined;
  let changedMs = -Infinity;
  /** Bytes on the wire that were let go since the collector was asked. */
  let letGo = 0;
  let collectAgainMs = -Infinity;
  let collectedMs = -Infinity;
  /** Of the bound, when it was collected last. */
  let leftShare = 0;
  /** What is being collected in steps, and the share that was taken then. */
  let inSteps: { readonly share: number; readonly sinceMs: number } | undefined;
  let restMs = collectEveryMs;

  function compact(nowMs: number): void {
    changedMs = nowMs;
    const before = heldBytes();
    spare = Math.max(heldBytesMax * leastShare, Math.min(spare, before) * lessPerCompaction);
    relieve();
    letGo += Math.max(0, before - heldBytes());
  }

  function ease(nowMs: number): void {
    changedMs = nowMs;
    spare = Math.min(heldBytesMax, spare * morePerEase);
  }

  function rest(before: number, left: number): void {
    restMs = before - left < littleShare ? Math.min(collectEveryMsMax, restMs * 2) : collectEveryMs;
    collectedMs = clock.nowMs();
    collectAgainMs = collectedMs + restMs;
    leftShare = left;
  }

  function mayCollect(share: number, nowMs: number): boolean {
    return nowMs >= collectAgainMs || (share - leftShare >= grownShare && nowMs - collectedMs >= collectEveryMs);
  }

  /** Gives the share that is left. */
  function collected(share: number): number {
    memory.collect();
    letGo = 0;
    inSteps = undefined;
    const left = memory.residentBytes() / residentBytesMax;
    rest(share, left);
    return left;
  }

  function collectInSteps(share: number, nowMs: number): void {
    memory.collectInSteps();
    letGo = 0;
    inSteps = { share, sinceMs: nowMs };
  }

  function pace(share: number): void {
    const wanted = share >= (often === true ? rarelyShare : oftenShare);
    if (wanted === often) return;
    often = wanted;
    memory.collectOften(wanted);
  }

  return {
    measure() {
      const nowMs = clock.nowMs();
      const share = memory.residentBytes() / residentBytesMax;
      pace(share);
      if (share >= scarceShare && mayCollect(share, nowMs)) {
        const left = collected(share);
        if (left >= spareShare) compact(nowMs);
        return left;
      }
      if (inSteps !== undefined) {
        if (nowMs - inSteps.sinceMs < stepsMs) return share;
        rest(inSteps.share, share);
        inSteps = undefined;
        if (share >= spareShare) compact(nowMs);
        return share;
      }
      if (share >= oftenShare && mayCollect(share, nowMs)) {
        collectInSteps(share, nowMs);
        return share;
      }
      if (share >= spareShare && nowMs - changedMs >= compactEveryMs) {
        if (letGo >= residentBytesMax * worthCollectingShare && mayCollect(share, nowMs)) collectInSteps(share, nowMs);
        else compact(nowMs);
      }
      if (share < easyShare && nowMs - changedMs >= (share >= nearShare ? easeNearEveryMs : easeEveryMs)) ease(nowMs);
      return share;
    },
    spareBytesMax: () => spare,
  };
}
