/**
 * Keeps the process within `limits.memory_bytes` as the system counts it. The parts of the service bound bytes on the wire. How much memory
 * those bytes take depends on the spans and on garbage, so the guard measures the process and adapts the bound.
 */
import type { Clock } from '../model/clock.ts';

export interface MemoryGuard {
  /** Measures and acts; called at an interval. Gives the resident bytes as a share of the bound. */
  measure(): number;
  /** Bytes on the wire that closed traces may hold while they wait for late spans. */
  readonly spareBytesMax: () => number;
}

export interface Memory {
  /** Resident bytes of the process, as the system counts them. */
  readonly residentBytes: () => number;
  /** Collects garbage at once: the process pauses for 0.1 s or more. */
  readonly collect: () => void;
  /** Begins a collection that runs in steps beside other work and takes about 0.5 s. */
  readonly collectInSteps: () => void;
  /** `true`: the collector runs after every few bytes outside its heap. `false`: it runs after growth by a share, which costs less. */
  readonly collectOften: (often: boolean) => void;
}

export interface MemoryGuardOptions {
  readonly clock: Clock;
  readonly memory: Memory;
  readonly residentBytesMax: number;
  /** Bytes on the wire of all traces while memory is free. */
  readonly heldBytesMax: number;
  readonly heldBytes: () => number;
  /** Evicts traces beyond `spareBytesMax`. */
  readonly relieve: () => void;
}

/**
 * Shares of the bound. Below `easyShare` the guard keeps more traces again. Above `spareShare` it evicts traces and collects their memory
 * beside other work. Above `scarceShare` it collects at once while everything waits. Free memory lets the collector run rarely, which is
 * worth more than a few more traces that wait for late spans.
 */
const easyShare = 0.62;
const spareShare = 0.72;
const scarceShare = 0.92;
/** From `oftenShare` on the collector runs often, until `rarelyShare` is reached again. A bearable load must not reach `scarceShare`. */
const oftenShare = 0.86;
const rarelyShare = 0.78;
/** Evicted bytes stay resident until the collector runs; an eviction before that would be one too many. */
const compactEveryMs = 2_500;
const lessPerCompaction = 0.85;
const easeEveryMs = 500;
const morePerEase = 1.05;
/** From this share on the guard eases slowly: a quick return to the bound would cause eviction after eviction. */
const nearShare = 0.5;
const easeNearEveryMs = 15_000;
/** Share of `heldBytesMax` that stays: evicting the last few traces makes no process smaller. */
const leastShare = 1 / 16;
/** Share of the bound, in bytes on the wire. When the guard evicted less, other parts hold the memory, and a collection frees little. */
const worthCollectingShare = 1 / 128;
/**
 * A collection costs 0.1 s or more of the processor. One that frees less than `littleShare` doubles the rest before the next, unless the process
 * has grown by `grownShare`.
 */
const collectEveryMs = 3_000;
const collectEveryMsMax = 60_000;
const littleShare = 0.03;
const grownShare = 0.05;
/** Duration of a collection in steps. */
const stepsMs = 500;

export function memoryGuard(options: MemoryGuardOptions): MemoryGuard {
  const { clock, memory, residentBytesMax, heldBytesMax, heldBytes, relieve } = options;
  let spare = heldBytesMax;
  let often: boolean | undefined;
  let changedMs = -Infinity;
  /** Bytes on the wire that were evicted since the last collection. */
  let evicted = 0;
  let collectAgainMs = -Infinity;
  let collectedMs = -Infinity;
  /** Share of the bound after the last collection. */
  let leftShare = 0;
  /** A collection in steps that runs, with the share at its start. */
  let inSteps: { readonly share: number; readonly sinceMs: number } | undefined;
  let restMs = collectEveryMs;

  function compact(nowMs: number): void {
    changedMs = nowMs;
    const before = heldBytes();
    spare = Math.max(heldBytesMax * leastShare, Math.min(spare, before) * lessPerCompaction);
    relieve();
    evicted += Math.max(0, before - heldBytes());
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

  /** Gives the share after the collection. */
  function collected(share: number): number {
    memory.collect();
    evicted = 0;
    inSteps = undefined;
    const left = memory.residentBytes() / residentBytesMax;
    rest(share, left);
    return left;
  }

  function collectInSteps(share: number, nowMs: number): void {
    memory.collectInSteps();
    evicted = 0;
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
        if (evicted >= residentBytesMax * worthCollectingShare && mayCollect(share, nowMs)) collectInSteps(share, nowMs);
        else compact(nowMs);
      }
      if (share < easyShare && nowMs - changedMs >= (share >= nearShare ? easeNearEveryMs : easeEveryMs)) ease(nowMs);
      return share;
    },
    spareBytesMax: () => spare,
  };
}
