/** Admission while the service is pressed, with a simulated service: it does a fixed amount a second, and shows late that it had too much. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { manualClock } from '../../../src/model/clock.ts';
import { intakePace } from '../../../src/pipeline/overload/admission-rate.ts';

const lookMs = 100;
const requestBytes = 10_000;

interface Traffic {
  /** Bytes a second. */
  readonly capacity: number;
  readonly offered: number;
  readonly seconds: number;
  /** After how long what was taken is due to be done. */
  readonly settleMs?: number;
  /** Waiting work when the pace hears that it is too much, in milliseconds. */
  readonly pressedMs?: number;
  readonly burstBytes?: number;
}

/** Bytes that were taken in each second, and the most that ever waited. */
function simulated({ capacity, offered, seconds, settleMs = 500, pressedMs = 100, burstBytes = 0 }: Traffic): {
  readonly taken: readonly number[];
  readonly waitingMax: number;
} {
  const clock = manualClock();
  const pace = intakePace({ clock, burstBytes });
  /** Work accepted at each look, oldest first, until it is due. */
  const young: number[] = [];
  const taken: number[] = [];
  let [due, waitingMax] = [0, 0];
  for (let look = 0; look < (seconds * 1_000) / lookMs; look++) {
    let now = 0;
    for (let offer = requestBytes; offer <= (offered * lookMs) / 1_000; offer += requestBytes) {
      if (!pace.admits()) continue;
      pace.took(requestBytes);
      now += requestBytes;
    }
    young.push(now);
    if (young.length > settleMs / lookMs) due += young.shift() ?? 0;
    due = Math.max(0, due - (capacity * lookMs) / 1_000);
    waitingMax = Math.max(waitingMax, due);
    const second = Math.floor((look * lookMs) / 1_000);
    taken[second] = (taken[second] ?? 0) + now;
    clock.advance(lookMs);
    pace.observe({
      openBytes: due + young.reduce((sum, one) => sum + one, 0),
      isPressed: due > (capacity * pressedMs) / 1_000,
      fitsBurst: true,
    });
  }
  return { taken, waitingMax };
}

const sum = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0);

describe('intake pace', () => {
  test('intake pace: what can be done is let in whole', () => {
    fc.assert(
      fc.property(fc.integer({ min: 200, max: 5_000 }), fc.double({ min: 0.1, max: 0.95, noNaN: true }), (kilobytes, share) => {
        const capacity = kilobytes * 1_000;
        const offered = Math.floor((capacity * share) / 100_000) * 100_000;
        expect(sum(simulated({ capacity, offered, seconds: 20 }).taken)).toBe(offered * 20);
      }),
    );
  });

  test('intake pace: of many times too much about what can be done is let in, in every ten seconds, and what waits stays bounded', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1_000, max: 10_000 }),
        fc.integer({ min: 2, max: 20 }),
        fc.constantFrom(200, 500, 1_000),
        fc.constantFrom(0, 1, 3),
        (kilobytes, times, settleMs, burstSeconds) => {
          const capacity = kilobytes * 1_000;
          const burstBytes = capacity * burstSeconds;
          const { taken, waitingMax } = simulated({ capacity, offered: capacity * times, seconds: 60, settleMs, burstBytes });
          for (let from = 10; from + 10 <= 60; from++) {
            const share = sum(taken.slice(from, from + 10)) / (capacity * 10);
            expect(share).toBeGreaterThan(0.8);
            expect(share).toBeLessThan(1.2);
          }
          // The work before it showed: a second at most, or two.
          expect(waitingMax).toBeLessThan(capacity * times * ((settleMs + 1_500) / 1_000) + burstBytes);
        },
      ),
      { numRuns: 30 },
    );
  });

  test('intake pace: a burst after a calm time is let in whole while it fits, after any load and under any strain', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 0, max: 600 }), (requests, restSeconds) => {
        const clock = manualClock();
        const pace = intakePace({ clock, burstBytes: requests * requestBytes });
        const look = (openBytes: number, isPressed: boolean): void => {
          clock.advance(lookMs);
          pace.observe({ openBytes, isPressed, fitsBurst: true });
        };
        for (let at = 0; at < restSeconds; at++) look(0, false);
        let taken = 0;
        for (let asked = 0; asked < requests * 2; asked++) {
          look(taken * requestBytes, true);
          // At the least rate a look makes room for more than one request, so each look asks once.
          if (!pace.admits()) break;
          pace.took(requestBytes);
          taken++;
        }
        expect(taken).toBeGreaterThanOrEqual(requests);
      }),
    );
  });

  test('intake pace: a burst may be worked off later only when closing was in time for a second before it', () => {
    const clock = manualClock();
    const pace = intakePace({ clock, burstBytes: 10 * requestBytes });
    for (let at = 0; at < 10; at++) pace.took(requestBytes);
    const seen = [true, true, false, true, ...Array.from({ length: 11 }, () => false)].map((isBehind) => {
      clock.advance(lookMs);
      pace.observe({ openBytes: 0, isPressed: false, fitsBurst: true, isBehind });
      return pace.hasBurst();
    });
    expect(seen).toEqual([...Array.from({ length: 13 }, () => false), true, true]);
  });

  test('intake pace: what is held counts in the next burst, and only a calm time makes room for one', () => {
    const clock = manualClock();
    const pace = intakePace({ clock, burstBytes: 100 * requestBytes });
    const look = (openBytes: number, isPressed: boolean): void => {
      clock.advance(lookMs);
      pace.observe({ openBytes, isPressed, fitsBurst: true });
    };
    const admitted = (): number => {
      let taken = 0;
      for (; taken < 1_000 && pace.admits(); taken++) pace.took(requestBytes);
      return taken;
    };
    look(60 * requestBytes, false);
    look(60 * requestBytes, true);
    // The rate itself has room for a few more.
    expect(admitted()).toBeLessThan(40 + 10);
    for (let at = 0; at < 20; at++) look(0, true);
    expect(admitted()).toBeLessThan(50);
    for (let at = 0; at < 600; at++) look(0, false);
    look(0, true);
    expect(admitted()).toBeGreaterThanOrEqual(100);
  });

  test('intake pace: it is free again when less is offered', () => {
    const clock = manualClock();
    const pace = intakePace({ clock, burstBytes: 0 });
    const look = (openBytes: number, isPressed: boolean): void => {
      clock.advance(lookMs);
      pace.observe({ openBytes, isPressed, fitsBurst: true });
    };
    const admitted = (): number => Array.from({ length: 1_000 }, () => pace.admits()).filter(Boolean).length;
    pace.took(100 * requestBytes);
    for (let at = 0; at < 10; at++) look((100 - at * 10) * requestBytes, true);
    expect(admitted()).toBeLessThan(50);
    for (let at = 0; at < 600; at++) look(0, false);
    expect(admitted()).toBe(1_000);
  });
});
