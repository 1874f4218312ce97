import { expect, test } from 'vitest';
import { manualClock } from '../../src/model/clock.ts';
import { breaker, circuitBreaker } from '../../src/runtime/circuit-breaker.ts';
import { manualSleep } from '../builders/manual-sleep.ts';

const options = { random: () => 1, failuresMax: 3, firstRestMs: 100, longestRestMs: 300 };

test('breaker: failures in a row open it, a success in between does not let them add up', () => {
  const one = breaker(options);
  expect([one.failed(), one.failed()]).toEqual([undefined, undefined]);
  one.succeeded();
  expect([one.failed(), one.failed(), one.circuit()]).toEqual([undefined, undefined, 'closed']);
  expect([one.failed(), one.circuit()]).toEqual([100, 'open']);
});

test('breaker: a probe that fails rests twice as long, up to the longest rest; one that succeeds closes it', () => {
  const one = breaker(options);
  for (let at = 0; at < 3; at++) one.failed();
  const rests: (number | undefined)[] = [];
  for (let at = 0; at < 3; at++) {
    one.rested();
    expect(one.circuit()).toBe('half_open');
    rests.push(one.failed());
  }
  expect(rests).toEqual([200, 300, 300]);
  one.rested();
  one.succeeded();
  expect(one.circuit()).toBe('closed');
  for (let at = 0; at < 2; at++) one.failed();
  expect(one.failed()).toBe(100);
});

test('breaker: an item that was on its way when it opened has no effect, unless it succeeds', () => {
  const one = breaker(options);
  for (let at = 0; at < 3; at++) one.failed();
  expect([one.failed(), one.failed()]).toEqual([undefined, undefined]);
  one.succeeded();
  expect(one.circuit()).toBe('closed');
  one.rested();
  expect(one.circuit()).toBe('closed');
});

test('breaker: a backend that asks for a rest gets it, at once, for as long as it asks, and an hour at most', () => {
  expect(breaker(options).failed(50)).toBe(100);
  expect(breaker(options).failed(7_000)).toBe(7_000);
  expect(breaker(options).failed(86_400_000)).toBe(3_600_000);
});

function timed() {
  const sleep = manualSleep();
  const clock = manualClock(0);
  let halfOpened = 0;
  const own = circuitBreaker({ ...options, clock, sleep: sleep.sleep, onHalfOpen: () => halfOpened++ });
  return { own, sleep, clock, halfOpened: () => halfOpened };
}

test('timed breaker: the circuit opens for the backoff, reports its end, and turns half open by itself', async () => {
  const { own, sleep, clock, halfOpened } = timed();
  clock.advance(1_000);
  expect([own.failed(), own.failed(), own.retryAtMs()]).toEqual([false, false, undefined]);
  expect([own.failed(), own.circuit(), own.retryAtMs(), sleep.slept]).toEqual([true, 'open', 1_100, [100]]);
  await sleep.wakeAll();
  expect([own.circuit(), own.retryAtMs(), halfOpened()]).toEqual(['half_open', undefined, 1]);
});

test('timed breaker: wake ends the open state at once', async () => {
  const { own, sleep, halfOpened } = timed();
  own.failed(7_000);
  own.wake();
  await sleep.wakeAll();
  expect([own.circuit(), halfOpened(), sleep.asleep()]).toEqual(['half_open', 1, 0]);
});

test('timed breaker: the timer of an earlier opening does not end a later one', async () => {
  const { own, sleep, halfOpened } = timed();
  own.failed(7_000);
  own.succeeded();
  own.failed(9_000);
  await sleep.wakeOf(7_000);
  expect([own.circuit(), halfOpened()]).toEqual(['open', 0]);
  await sleep.wakeOf(9_000);
  expect([own.circuit(), halfOpened()]).toEqual(['half_open', 1]);
});

test('timed breaker: after a stop no timer runs', async () => {
  const { own, sleep, halfOpened } = timed();
  own.failed(7_000);
  own.stop();
  await sleep.wakeAll();
  expect([own.circuit(), halfOpened(), own.failed(), sleep.asleep()]).toEqual(['open', 0, false, 0]);
});
