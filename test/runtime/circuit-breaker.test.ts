import { expect, test } from 'vitest';
import { breaker, restMs } from '../../src/runtime/circuit-breaker.ts';

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

test('breaker: what was on its way when it opened says nothing new, unless it succeeds', () => {
  const one = breaker(options);
  for (let at = 0; at < 3; at++) one.failed();
  expect([one.failed(), one.failed()]).toEqual([undefined, undefined]);
  one.succeeded();
  expect(one.circuit()).toBe('closed');
  one.rested();
  expect(one.circuit()).toBe('closed');
});

test('breaker: a backend that asks to be left alone is, at once, for as long as it asks, and an hour at most', () => {
  expect(breaker(options).failed(50)).toBe(100);
  expect(breaker(options).failed(7_000)).toBe(7_000);
  expect(breaker(options).failed(86_400_000)).toBe(3_600_000);
});

test('breaker: chance shortens a rest by half at most', () => {
  expect([1, 2, 40].map((attempts) => restMs(attempts, { ...options, random: () => 0 }))).toEqual([50, 100, 150]);
});
