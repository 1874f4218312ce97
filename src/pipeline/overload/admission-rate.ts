/**
 * The rate at which requests may be taken under pressure: about what the service completes. An excess shows only when runs close, a second or more
 * after their spans were taken; a service that takes everything until then and nothing afterwards alternates between ten times too much and nothing.
 * Pure under its clock.
 */
import type { Clock } from '../../model/clock.ts';

interface IntakePace {
  /** A request of this many bytes was taken. */
  took(bytes: number): void;
  /** Called regularly. `openBytes`: of what was taken, what is not done. `fitsBurst`: memory has room for a burst. `isBehind`: closing is late. */
  observe(now: { readonly openBytes: number; readonly isPressed: boolean; readonly fitsBurst: boolean; readonly isBehind?: boolean }): void;
  /** False when another request is more than the pace bears. True counts as a request that comes. */
  admits(): boolean;
  /** The result that `admits` would have, without counting a request. */
  hasRoom(): boolean;
  /** `true` while what comes counts as a burst that may be worked off later. A lasting load does not: closing has to be in time for `restedMs` before. */
  hasBurst(): boolean;
  /** `true` while `admits` may refuse a request. */
  isLimited(): boolean;
  /** Seconds until a request that was just refused fits in, behind those that were refused before it. */
  waitSeconds(): number;
}

/** For how long what was done counts: a batch of the store and a collection of garbage lie within it. */
const halfLifeMs = 500;
/** Share of the completed work that is admitted: the backlog shrinks. */
const pressedShare = 0.9;
/** Between two steps down, so that the one before shows. */
const stepEveryMs = 300;
/** While nothing presses: a tenth more every second. */
const morePerSecond = 1.1;
/** A limit of this many times the completed work no longer restricts anyone. */
const freeTimes = 4;
/** Bytes that may come at once, as a share of those that may come in a second. */
const burstShare = 0.25;
/** Share of the highest recent rate: a quiet moment is not a measure, nor is one in which little was admitted. */
const leastShare = 0.5;
const bestHalfLifeMs = 30_000;
/** Refused requests that have a place in the line; a flood would make it endless. */
const lineSecondsMax = 2;
/** Bytes a second that are let in however little got done: runs may stay open for long. */
const leastRate = 256 * 1024;

/** So long closing has to be in time before a burst may be worked off later again. */
const restedMs = 1_000;

interface IntakePaceOptions {
  readonly clock: Clock;
  /** Bytes that are admitted after a calm time before the rate counts: a service that has finished little has shown no rate yet. */
  readonly burstBytes: number;
}

export function intakePace({ clock, burstBytes }: IntakePaceOptions): IntakePace {
  let seenMs = clock.nowMs();
  let steppedMs = -Infinity;
  let open = 0;
  let taken = 0;
  let requestBytes = 0;
  /** Bytes a second. */
  let doneRate = 0;
  let bestRate = 0;
  /** Bytes a second; infinite while everything is admitted. */
  let limit = Infinity;
  let room = 0;
  /** Bytes of a burst that may still come; full again when nothing presses and nothing is held. */
  let burst = burstBytes;
  /** Bytes that may still be worked off later. */
  let deferrable = burstBytes;
  let behindMs = -Infinity;
  /** Bytes of refused requests, which come again. */
  let line = 0;

  /** A backlog below the capacity teaches nothing. */
  function measure(openBytes: number, isPressed: boolean, ms: number): void {
    const rate = (Math.max(0, taken - (openBytes - open)) * 1_000) / ms;
    const kept = isPressed || limit === Infinity ? 0.5 ** (ms / halfLifeMs) : 1;
    doneRate = doneRate * kept + rate * (1 - kept);
    const isBusy = isPressed || limit !== Infinity;
    bestRate = Math.max(doneRate, isBusy ? bestRate * 0.5 ** (ms / bestHalfLifeMs) : bestRate);
    if (!isBusy) burst = Math.max(0, burstBytes - openBytes);
    if (!isBusy && seenMs - behindMs >= restedMs) deferrable = burst;
    taken = 0;
    open = openBytes;
  }

  function bind(isPressed: boolean, ms: number, nowMs: number): void {
    if (isPressed && nowMs - steppedMs >= stepEveryMs) {
      steppedMs = nowMs;
      limit = Math.max(doneRate * pressedShare, bestRate * leastShare, leastRate);
    } else if (!isPressed) {
      limit *= morePerSecond ** (ms / 1_000);
      if (limit > bestRate * freeTimes) limit = Infinity;
    }
  }

  return {
    took(bytes) {
      taken += bytes;
      burst = Math.max(0, burst - bytes);
      deferrable = Math.max(0, deferrable - bytes);
      requestBytes = requestBytes === 0 ? bytes : requestBytes * 0.9 + bytes * 0.1;
    },
    observe({ openBytes, isPressed, fitsBurst, isBehind = false }) {
      const nowMs = clock.nowMs();
      const ms = nowMs - seenMs;
      if (ms <= 0) return;
      seenMs = nowMs;
      if (isBehind) behindMs = nowMs;
      measure(openBytes, isPressed, ms);
      if (!fitsBurst) burst = deferrable = 0;
      bind(isPressed, ms, nowMs);
      line = limit === Infinity ? 0 : Math.max(0, line - (limit * ms) / 1_000);
      room = limit === Infinity ? 0 : Math.min(limit * burstShare, room + (limit * ms) / 1_000);
    },
    admits() {
      if (limit === Infinity || burst > 0) return true;
      if (room <= 0) {
        line = Math.min(limit * lineSecondsMax, line + requestBytes);
        return false;
      }
      room -= requestBytes;
      return true;
    },
    hasRoom: () => limit === Infinity || burst > 0 || room > 0,
    hasBurst: () => deferrable > 0,
    isLimited: () => limit !== Infinity,
    waitSeconds: () => (limit === Infinity ? 0 : (line - room) / limit),
  };
}

/** The time that a refused client is asked to stay away. */
interface RetryAfter {
  /** Whole seconds, from 1 to the bound. */
  seconds(backlog: Backlog): number;
}

interface Backlog {
  /** Seconds of work that is accepted and not done. */
  readonly lateSeconds: number;
  /** The strain that refuses, in parts of what it takes to refuse: 1 and more. */
  readonly burden: number;
  /** For how long requests have been refused without a pause. */
  readonly refusingSeconds: number;
}

interface RetryAfterOptions {
  readonly maxSeconds: number;
  /** 0..1, excluding 1. */
  readonly random: () => number;
}

/** A strain that is half as large again as what refuses adds five seconds. */
const secondsPerBurden = 10;
/** Ten seconds of refusing add one: who comes back meanwhile comes on top of who sends anyway. */
const secondsPerRefusing = 0.1;

/**
 * Grows with the backlog, up to a bound. Clients that were refused together must not come back together: the answer is random between half of the
 * time and one and a half of it.
 */
export function retryAfter({ maxSeconds, random }: RetryAfterOptions): RetryAfter {
  return {
    seconds({ lateSeconds, burden, refusingSeconds }) {
      const mean =
        1 + Math.max(0, lateSeconds) + Math.max(0, burden - 1) * secondsPerBurden + Math.max(0, refusingSeconds) * secondsPerRefusing;
      return Math.max(1, Math.min(maxSeconds, Math.round(mean * (0.5 + random()))));
    },
  };
}
